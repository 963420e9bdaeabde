"""The image network and the one with a padding, quantized."""

from __future__ import annotations

import torch
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)

from profiles.tests import numbers_models


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    return numbers_models.get_images()


def get_padded() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    return numbers_models.get_padded()


def get_quantizer() -> XNNPACKQuantizer:
    return XNNPACKQuantizer().set_global(get_symmetric_quantization_config(is_per_channel=True))
