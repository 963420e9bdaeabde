"""`my_ops::squareplus` for PyTorch: the activation (x + sqrt(x * x + b)) / 2, smooth like softplus but without exp."""

import torch

_LIBRARY = torch.library.Library("my_ops", "FRAGMENT")
_LIBRARY.define("squareplus(Tensor x, float b) -> Tensor")
# An exported program calls the out variant; ExecuTorch's exporter looks for it by name.
_LIBRARY.define("squareplus.out(Tensor x, float b, *, Tensor(a!) out) -> Tensor(a!)")


@torch.library.impl(_LIBRARY, "squareplus", "CompositeExplicitAutograd")
def squareplus(x: torch.Tensor, b: float) -> torch.Tensor:
    """Elementwise (x + sqrt(x * x + b)) / 2; any shape, any floating dtype, the result has both of x."""
    return (x + torch.sqrt(x * x + b)) / 2


@torch.library.impl(_LIBRARY, "squareplus.out", "CompositeExplicitAutograd")
def squareplus_out(x: torch.Tensor, b: float, *, out: torch.Tensor) -> torch.Tensor:
    """The same, into `out`."""
    return out.copy_(squareplus(x, b))
