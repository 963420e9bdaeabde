"""Models of one operator each."""

from collections.abc import Callable

import torch
from torch import nn

_ROWS, _COLUMNS = 4096, 1024  # 16 MB of float32.

Model = tuple[nn.Module, tuple[torch.Tensor, ...]]


class _Function(nn.Module):
    """A function as a module."""

    def __init__(self, function: Callable[..., torch.Tensor]) -> None:
        super().__init__()
        self._function = function

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        return self._function(*inputs)


def _random(*sizes: int) -> torch.Tensor:
    return torch.randn(sizes, generator=torch.Generator().manual_seed(len(sizes)))


def get_mm() -> Model:
    return _Function(torch.mm), (_random(512, 512), _random(512, 512))


def get_linear() -> Model:
    return nn.Linear(384, 1536), (_random(32, 384),)


def get_conv() -> Model:
    return nn.Conv2d(64, 64, 3, padding=1), (_random(1, 64, 56, 56),)


def get_conv1d() -> Model:
    """The second layer of wav2vec2-base, for a second of sound."""
    return nn.Conv1d(512, 512, 3, stride=2, bias=False), (_random(1, 512, 3199),)


def get_conv3d() -> Model:
    return nn.Conv3d(64, 64, 3, padding=1), (_random(1, 64, 8, 28, 28),)


def get_conv3d_slices() -> Model:
    """The first layer of R(2+1)D-18's first block, which convolves the slices of a volume."""
    return nn.Conv3d(64, 144, (1, 3, 3), padding=(0, 1, 1)), (_random(1, 64, 8, 56, 56),)


def get_conv3d_depth() -> Model:
    """The second layer of the same block, which convolves the same pixels of neighboring slices."""
    return nn.Conv3d(144, 64, (3, 1, 1), padding=(1, 0, 0)), (_random(1, 144, 8, 56, 56),)


def get_grouped_convs() -> Model:
    """The convolutions of RegNetY-400MF's second stage, eight in a row."""
    return nn.Sequential(*(nn.Conv2d(104, 104, 3, padding=1, groups=13) for _ in range(8))), (_random(1, 104, 28, 28),)


def get_add() -> Model:
    return _Function(torch.add), (_random(_ROWS, _COLUMNS), _random(_ROWS, _COLUMNS))


def get_exp() -> Model:
    return _Function(torch.exp), (_random(_ROWS, _COLUMNS),)


def get_softmax() -> Model:
    return nn.Softmax(dim=-1), (_random(_ROWS, _COLUMNS),)
