"""`app::scale` for PyTorch."""

import torch

_LIBRARY = torch.library.Library("app", "FRAGMENT")
_LIBRARY.define("scale(Tensor x, float factor) -> Tensor")
_LIBRARY.define("scale.out(Tensor x, float factor, *, Tensor(a!) out) -> Tensor(a!)")


@torch.library.impl(_LIBRARY, "scale", "CompositeExplicitAutograd")
def scale(x: torch.Tensor, factor: float) -> torch.Tensor:
    """x * factor."""
    return x * factor


@torch.library.impl(_LIBRARY, "scale.out", "CompositeExplicitAutograd")
def scale_out(x: torch.Tensor, factor: float, *, out: torch.Tensor) -> torch.Tensor:
    """x * factor, into `out`."""
    return out.copy_(x * factor)
