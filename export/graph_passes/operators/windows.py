"""The padding and the sizes of convolutions, for the implementations of operators.

Padding has the widths before each spatial dimension, and then the widths after each.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.nn import functional


def padded(image: torch.Tensor, widths: Sequence[int], value: float = 0) -> torch.Tensor:
    """Pads the spatial dimensions of an image. A negative width removes elements."""
    before, after = _ends(widths)
    # PyTorch takes the widths from the last dimension to the first.
    ends = zip(reversed(before), reversed(after), strict=True)
    return functional.pad(image, [width for both in ends for width in both], value=value)


def sizes(
    image: Sequence[Any],
    widths: Sequence[int],
    kernel_size: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
) -> list[Any]:
    """Returns the spatial sizes of a convolution's result, given those of the image."""
    places = zip(image, *_ends(widths), kernel_size, stride, dilation, strict=True)
    return [
        (size + first + last - (kernel - 1) * far - 1) // step + 1 for size, first, last, kernel, step, far in places
    ]


def _ends(widths: Sequence[int]) -> tuple[Sequence[int], Sequence[int]]:
    return widths[: len(widths) // 2], widths[len(widths) // 2 :]
