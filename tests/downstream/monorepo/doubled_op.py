"""An operator in Python."""

import torch


@torch.library.custom_op("monorepo::doubled", mutates_args=())
def doubled(x: torch.Tensor) -> torch.Tensor:
    """Twice the input."""
    return x * 2


@doubled.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)
