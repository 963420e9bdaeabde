"""`my_ops::mul3` for PyTorch, registered from Python: functional and out variant."""

import torch

_LIBRARY = torch.library.Library("my_ops", "FRAGMENT")
_LIBRARY.define("mul3(Tensor input) -> Tensor")
_LIBRARY.define("mul3.out(Tensor input, *, Tensor(a!) output) -> Tensor(a!)")


@torch.library.impl(_LIBRARY, "mul3", "CompositeExplicitAutograd")
def mul3(input: torch.Tensor) -> torch.Tensor:
    """input * 3, of any shape and dtype."""
    return input * 3


@torch.library.impl(_LIBRARY, "mul3.out", "CompositeExplicitAutograd")
def mul3_out(input: torch.Tensor, *, output: torch.Tensor) -> torch.Tensor:
    """The same, into `output`."""
    return output.copy_(input * 3)
