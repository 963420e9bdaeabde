"""Operators that drop repeated items. The sizes of their results depend on the data."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


class Unique(torch.nn.Module):
    def forward(self, x: Tensor, words: Tensor) -> tuple[Tensor, ...]:
        consecutive, counts = torch.unique_consecutive(words, return_counts=True)
        return (
            *torch.unique(words, return_inverse=True, return_counts=True),
            *(torch.unique(x), consecutive, counts),
            *torch.unique(words, dim=0, return_inverse=True, return_counts=True),
            *torch.unique_consecutive(words[0], dim=0, return_inverse=True),
            *torch.unique_consecutive(words, dim=0, return_counts=True),
        )


def _words(most: int, rows: int = 8) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(most)
    words = torch.randint(0, most, (rows, 3), generator=generator)
    return (words / 2).flatten(), words


def get_model() -> tuple[torch.nn.Module, tuple[Tensor, Tensor]]:
    return Unique(), _words(3)


def get_dynamic_shapes() -> dict[str, Any]:
    return {"x": {0: torch.export.Dim("numbers", min=2, max=30)}, "words": {0: torch.export.Dim("rows", min=2, max=10)}}


def get_sample_inputs() -> list[tuple[Tensor, Tensor]]:
    # One item, and as many as the largest input has elements.
    return [_words(3), _words(1), (torch.arange(30.0), torch.arange(30).reshape(10, 3)), _words(2, rows=4)]
