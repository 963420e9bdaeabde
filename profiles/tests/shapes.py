"""A network with tensors of several dtypes, with lists of tensors, with dynamic and with channels-last shapes."""

from __future__ import annotations

import torch


class Shapes(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(6, 5)

    def forward(self, x: torch.Tensor, image: torch.Tensor) -> tuple[torch.Tensor, ...]:
        largest, places = torch.topk(x, 2)
        first, second = torch.split(self.linear(x), [2, 3], dim=1)
        return largest, places, torch.cat([second, first], dim=1), image + 1


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor, ...]]:
    image = torch.ones(1, 2, 3, 4).to(memory_format=torch.channels_last)
    return Shapes(), (torch.ones(4, 6), image)


def get_dynamic_shapes() -> tuple[object, ...]:
    return ({0: torch.export.Dim("batch", max=8)}, None)
