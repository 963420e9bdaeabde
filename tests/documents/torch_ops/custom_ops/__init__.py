"""Loads the library that registers custom_ops::matmul."""

from pathlib import Path

import torch

_ROOT = Path(__file__).parents[4]
torch.ops.load_library((_ROOT / "examples/torch_matmul/libmatmul_ops.so").resolve())
