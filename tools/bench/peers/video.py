"""R(2+1)D-18, with random weights: a clip; each convolution is one of slices and one along the time."""

import torch
from torch import nn

_WIDTHS = (64, 128, 256, 512)
_CLASSES = 400


class Factorized(nn.Sequential):
    """A convolution of 3x3x3 as one of 1x3x3 and one of 3x1x1 with as many parameters (Tran et al., "A Closer Look at
    Spatiotemporal Convolutions for Action Recognition", 2018).

    float32 [1, channels, D, H, W] -> float32 [1, out, D / stride, H / stride, W / stride].
    """

    def __init__(self, channels: int, out: int, stride: int) -> None:
        between = channels * out * 27 // (channels * 9 + 3 * out)
        super().__init__(
            nn.Conv3d(channels, between, (1, 3, 3), (1, stride, stride), (0, 1, 1), bias=False),
            nn.BatchNorm3d(between),
            nn.ReLU(),
            nn.Conv3d(between, out, (3, 1, 1), (stride, 1, 1), (1, 0, 0), bias=False),
            nn.BatchNorm3d(out),
        )


class Block(nn.Module):
    """A residual block of two factorized convolutions. The shapes are those of Factorized."""

    def __init__(self, channels: int, out: int, stride: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(Factorized(channels, out, stride), nn.ReLU(), Factorized(out, out, 1))
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1 or channels != out:
            self.shortcut = nn.Sequential(nn.Conv3d(channels, out, 1, stride, bias=False), nn.BatchNorm3d(out))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.layers(x) + self.shortcut(x))


class Classifier(nn.Module):
    """float32 [1, 3, 8, 112, 112] clip of 8 frames -> float32 [1, 400] logits."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv3d(3, 45, (1, 7, 7), (1, 2, 2), (0, 3, 3), bias=False),
            nn.BatchNorm3d(45),
            nn.ReLU(),
            nn.Conv3d(45, 64, (3, 1, 1), 1, (1, 0, 0), bias=False),
            nn.BatchNorm3d(64),
            nn.ReLU(),
        )
        blocks = []
        channels = _WIDTHS[0]
        for width in _WIDTHS:
            blocks += [Block(channels, width, 1 if width == channels else 2), Block(width, width, 1)]
            channels = width
        self.blocks = nn.Sequential(*blocks)
        self.head = nn.Linear(channels, _CLASSES)

    def forward(self, clip: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.head(self.blocks(self.stem(clip)).mean((2, 3, 4)))
        return logits


def get_model() -> tuple[nn.Module, tuple[torch.Tensor]]:
    return Classifier(), (torch.randn(1, 3, 8, 112, 112, generator=torch.Generator().manual_seed(1)),)
