"""A model that is one aten::add."""

import torch


class Add(torch.nn.Module):
    """Two float32 [2, 3] -> float32 [2, 3]."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.add(x, y, alpha=2)


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor, torch.Tensor]]:
    """The entry point of executorch_program."""
    torch.manual_seed(0)
    return Add(), (torch.randn(2, 3), torch.randn(2, 3))
