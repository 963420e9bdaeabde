"""Two inputs with one dynamic size: the second input has twice as many rows as the first."""

from __future__ import annotations

import torch
from torch import nn
from torch.export import Dim


class Pair(nn.Module):
    """No kernel of this module sees both inputs, so that no kernel refuses different sizes."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x * 2, y + 1


def get_model() -> tuple[nn.Module, tuple[torch.Tensor, torch.Tensor]]:
    return Pair(), (torch.ones(3, 4), torch.ones(6, 4))


def get_dynamic_shapes() -> tuple[dict[int, object], dict[int, object]]:
    rows = Dim("rows", min=2, max=5)
    return {0: rows}, {0: 2 * rows}


def get_sample_inputs() -> list[tuple[torch.Tensor, torch.Tensor]]:
    generator = torch.Generator().manual_seed(0)
    return [
        (torch.randn(rows, 4, generator=generator), torch.randn(2 * rows, 4, generator=generator)) for rows in (3, 2, 5)
    ]
