"""MobileNetV3-Large, with random weights: inverted bottlenecks with squeeze-and-excitation and hard swish."""

from typing import NamedTuple

import torch
from torch import nn


class Shape(NamedTuple):
    """The numbers of a block: a row of table 1 of Howard et al., "Searching for MobileNetV3" (2019).

    Attributes:
        kernel: the size of the depthwise kernel.
        between: the channels of the depthwise convolution.
        out: the channels of the output.
        has_gate: whether the block has squeeze-and-excitation.
        has_swish: whether the activation is hard swish. Otherwise, the activation is ReLU.
        stride: the stride.
    """

    kernel: int
    between: int
    out: int
    has_gate: bool
    has_swish: bool
    stride: int


_BLOCKS = (
    Shape(3, 16, 16, False, False, 1),
    Shape(3, 64, 24, False, False, 2),
    Shape(3, 72, 24, False, False, 1),
    Shape(5, 72, 40, True, False, 2),
    Shape(5, 120, 40, True, False, 1),
    Shape(5, 120, 40, True, False, 1),
    Shape(3, 240, 80, False, True, 2),
    Shape(3, 200, 80, False, True, 1),
    Shape(3, 184, 80, False, True, 1),
    Shape(3, 184, 80, False, True, 1),
    Shape(3, 480, 112, True, True, 1),
    Shape(3, 672, 112, True, True, 1),
    Shape(5, 672, 160, True, True, 2),
    Shape(5, 960, 160, True, True, 1),
    Shape(5, 960, 160, True, True, 1),
)
_STEM, _LAST, _HEAD, _CLASSES = 16, 960, 1280, 1000


def _layer(channels: int, out: int, kernel: int = 1, stride: int = 1, groups: int = 1) -> nn.Sequential:
    convolution = nn.Conv2d(channels, out, kernel, stride, kernel // 2, groups=groups, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(out))


class Gate(nn.Module):
    """float32 [1, channels, H, W] -> the same shape, with a factor for each channel."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        squeezed = (channels // 4 + 4) // 8 * 8
        self.squeeze = nn.Conv2d(channels, squeezed, 1)
        self.excite = nn.Conv2d(squeezed, channels, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        mean = nn.functional.adaptive_avg_pool2d(x, 1)
        return x * nn.functional.hardsigmoid(self.excite(torch.relu(self.squeeze(mean))))


class Block(nn.Module):
    """float32 [1, channels, H, W] -> float32 [1, out, H / stride, W / stride]."""

    def __init__(self, channels: int, shape: Shape) -> None:
        super().__init__()
        between = shape.between
        activation = nn.Hardswish if shape.has_swish else nn.ReLU
        layers: list[nn.Module] = []
        if between != channels:
            layers += [_layer(channels, between), activation()]
        layers += [_layer(between, between, shape.kernel, shape.stride, groups=between), activation()]
        if shape.has_gate:
            layers.append(Gate(between))
        self.layers = nn.Sequential(*layers, _layer(between, shape.out))
        self.has_residual = shape.stride == 1 and channels == shape.out

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.layers(x)
        return x + y if self.has_residual else y


class MobileNetV3(nn.Module):
    """float32 [1, 3, 224, 224] image -> float32 [1, 1000] logits."""

    def __init__(self) -> None:
        super().__init__()
        layers: list[nn.Module] = [_layer(3, _STEM, 3, 2), nn.Hardswish()]
        channels = _STEM
        for shape in _BLOCKS:
            layers.append(Block(channels, shape))
            channels = shape.out
        self.features = nn.Sequential(*layers, _layer(channels, _LAST), nn.Hardswish())
        self.classifier = nn.Sequential(nn.Linear(_LAST, _HEAD), nn.Hardswish(), nn.Linear(_HEAD, _CLASSES))

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.classifier(self.features(image).mean((2, 3)))
        return logits


def get_model() -> tuple[nn.Module, tuple[torch.Tensor]]:
    return MobileNetV3(), (torch.randn(1, 3, 224, 224, generator=torch.Generator().manual_seed(1)),)
