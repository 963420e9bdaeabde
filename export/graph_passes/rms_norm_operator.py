"""The operator that RMS norms become in programs, for PyTorch.

PyTorch's own has no out variant, so no program can have it. Importing this module registers the operator;
kernels/optimized has its kernel.
"""

from __future__ import annotations

import torch

from export.graph_passes import own_operators


def _rms_norm(input: torch.Tensor, weight: torch.Tensor | None, dims: int, eps: float) -> torch.Tensor:
    exact = torch.promote_types(input.dtype, torch.float32)
    factors = None if weight is None else weight.to(exact)
    return torch.nn.functional.rms_norm(input.to(exact), input.shape[-dims:], factors, eps).to(input.dtype)


def _fake_rms_norm(input: torch.Tensor, *_: object) -> torch.Tensor:
    return torch.empty_like(input, memory_format=torch.contiguous_format)


# The last `dims` dimensions are normalized; the weight has their shape, and the input's dtype or the one to calculate
# in: float32 where the input has fewer bits.
own_operators.register("rms_norm", "Tensor input, Tensor? weight, int dims, float eps", _rms_norm, _fake_rms_norm)

RMS_NORM = torch.ops.rules_executorch.rms_norm.default
