"""A model whose program has all kinds of values and instructions that an export without a delegate writes."""

from __future__ import annotations

import torch
from torch._higher_order_ops.map import map as map_rows


class Everything(torch.nn.Module):
    total: torch.Tensor
    table: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.tensor([[5.0, 7.0, 1.0, 2.0]]))  # the initial state is not zero
        self.register_buffer("table", torch.arange(24.0).reshape(6, 4))

    def forward(
        self, x: torch.Tensor, image: torch.Tensor, indices: tuple[torch.Tensor, torch.Tensor], scale: float, times: int
    ) -> tuple[torch.Tensor | int, ...]:
        index, flag = indices
        self.total.add_(x.mean(dim=0, keepdim=True))
        loop = map_rows(lambda row, y: row + y, self.table, self.total)  # type: ignore[arg-type]  # a backward jump
        rows = torch.cat([self.table[index], self.total * scale])  # lists of tensors, optional tensors and ints
        chosen = torch.cond(flag, lambda y: y * 2, lambda y: y - 1, (rows,))
        flat = x.reshape(1, -1) * times  # the size of an input
        return chosen, loop, flat, image.to(memory_format=torch.channels_last) + 1, times


def get_model() -> tuple[torch.nn.Module, tuple[object, ...]]:
    return Everything(), _inputs(3, flag=True)


def get_dynamic_shapes() -> tuple[object, ...]:
    return ({0: torch.export.Dim("n", max=8)}, None, (None, None), None, None)


def get_sample_inputs() -> list[tuple[object, ...]]:
    return [_inputs(2, flag=True), _inputs(8, flag=False)]


def _inputs(rows: int, *, flag: bool) -> tuple[object, ...]:
    x = torch.arange(float(rows * 4)).reshape(rows, 4)
    return x, torch.arange(12.0).reshape(1, 3, 2, 2), (torch.tensor([5, 0]), torch.tensor(flag)), 0.5, 3
