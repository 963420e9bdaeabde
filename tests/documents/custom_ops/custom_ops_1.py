"""The first option: my_ops::mul3 in PyTorch by torch.library, in both variants."""

import torch
from torch.library import Library, impl

_LIBRARY = Library("my_ops", "DEF")
_LIBRARY.define("mul3(Tensor input) -> Tensor")
_LIBRARY.define("mul3.out(Tensor input, *, Tensor(a!) output) -> Tensor(a!)")


@impl(_LIBRARY, "mul3", "CompositeExplicitAutograd")
def mul3(input: torch.Tensor) -> torch.Tensor:
    return input * 3


@impl(_LIBRARY, "mul3.out", "CompositeExplicitAutograd")
def mul3_out(input: torch.Tensor, *, output: torch.Tensor) -> torch.Tensor:
    return output.copy_(input * 3)


class Model(torch.nn.Module):
    def forward(self, a: torch.Tensor) -> torch.Tensor:
        return torch.ops.my_ops.mul3.default(a)


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    return Model(), (torch.randn(2, 3),)
