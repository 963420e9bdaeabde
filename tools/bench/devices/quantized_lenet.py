"""LeNet-5 that PyTorch's own quantizer made 8-bit."""

from __future__ import annotations

from typing import Any

import torch
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)
from torch import nn

from tests.compiled.models import lenet


def get_model() -> tuple[nn.Module, tuple[torch.Tensor]]:
    return lenet.get_model()


def get_quantizer() -> Any:
    return XNNPACKQuantizer().set_global(get_symmetric_quantization_config(is_per_channel=True))
