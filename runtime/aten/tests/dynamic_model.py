"""Outputs whose sizes follow the inputs and, for nonzero, their elements."""

import torch

_Tensors = tuple[torch.Tensor, ...]


class Dynamic(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> _Tensors:
        return (
            x + 1,
            torch.cat([x, x], dim=1),
            x.mT @ x,
            x.sum(dim=0),
            torch.nonzero(x > 0),
            x.unsqueeze(0).to(memory_format=torch.channels_last) * 2,
        )


def _input(rows: int) -> tuple[torch.Tensor]:
    return (torch.randn(2, rows, 3, generator=torch.Generator().manual_seed(rows)),)


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    return Dynamic(), _input(5)


def get_dynamic_shapes() -> tuple[dict[int, torch.export.Dim]]:
    return ({1: torch.export.Dim("rows", min=2, max=9)},)


def get_sample_inputs() -> list[tuple[torch.Tensor]]:
    return [_input(rows) for rows in (5, 2, 9, 4, 9)]
