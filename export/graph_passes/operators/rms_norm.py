"""The operator that RMS norms become in programs, for PyTorch.

PyTorch's own has no out variant, so no program can have it. The last `dims` dimensions are normalized; the weight has
their shape, and the input's dtype or the one to calculate in: float32 where the input has fewer bits.
"""

from __future__ import annotations

import torch

from export.graph_passes.calls import RmsNorm
from export.graph_passes.operators.registration import fakes, implements


@implements(RmsNorm)
def rms_norm(call: RmsNorm[torch.Tensor]) -> torch.Tensor:
    exact = torch.promote_types(call.input.dtype, torch.float32)
    weight = None if call.weight is None else call.weight.to(exact)
    sizes = call.input.shape[-call.dims :]
    return torch.nn.functional.rms_norm(call.input.to(exact), sizes, weight, call.eps).to(call.input.dtype)


@fakes(RmsNorm)
def fake_rms_norm(call: RmsNorm[torch.Tensor]) -> torch.Tensor:
    return torch.empty_like(call.input, memory_format=torch.contiguous_format)
