"""A U-Net that segments images, with random weights: down by pooling, up by transposed convolutions."""

import itertools

import torch
from torch import nn

from examples.mobilenet_v2.model import images, settle_statistics


def _block(channels: int, out_channels: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(channels, out_channels, 3, padding=1, bias=False),
        nn.BatchNorm2d(out_channels),
        nn.ReLU(),
        nn.Conv2d(out_channels, out_channels, 3, padding=1, bias=False),
        nn.BatchNorm2d(out_channels),
        nn.ReLU(),
    )


class UNet(nn.Module):
    """float32 [1, 3, size, size] image -> float32 [1, 4, size, size] probabilities of 4 classes."""

    def __init__(self, widths: list[int]) -> None:
        super().__init__()
        self.first = _block(3, widths[0])
        self.pool = nn.MaxPool2d(2)
        pairs = list(itertools.pairwise(widths))
        self.down = nn.ModuleList(_block(narrow, wide) for narrow, wide in pairs)
        self.up = nn.ModuleList(nn.ConvTranspose2d(wide, narrow, 2, stride=2) for narrow, wide in reversed(pairs))
        self.merge = nn.ModuleList(_block(2 * narrow, narrow) for narrow, _ in reversed(pairs))
        self.last = nn.Conv2d(widths[0], 4, 1)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        x = self.first(image)
        skipped = []
        for down in self.down:
            skipped.append(x)
            x = down(self.pool(x))
        for up, merge in zip(self.up, self.merge, strict=True):
            x = merge(torch.cat([skipped.pop(), up(x)], dim=1))
        return torch.softmax(self.last(x), dim=1)


def _model(widths: list[int], size: int) -> tuple[nn.Module, tuple[torch.Tensor]]:
    network = UNet(widths)
    settle_statistics(network, images(2, size=size, seed=0))
    return network, (images(1, size=size, seed=1),)


def get_model() -> tuple[nn.Module, tuple[torch.Tensor]]:
    return _model([32, 64, 128, 256], size=64)


def get_full_size_model() -> tuple[nn.Module, tuple[torch.Tensor]]:
    return _model([64, 128, 256, 512, 1024], size=256)
