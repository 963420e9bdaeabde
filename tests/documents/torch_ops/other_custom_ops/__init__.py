"""Loads the library that registers other_custom_ops::matmul."""

from pathlib import Path

import torch

_ROOT = Path(__file__).parents[4]
torch.ops.load_library((_ROOT / "examples/torch_matmul/libother_matmul_ops.so").resolve())
