"""Methods for the tests of Python libraries."""

from __future__ import annotations

import torch


class Affine(torch.nn.Module):
    """Two results of one input: twice the rows plus 1, and the index of the largest element of each row."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x * 2 + 1, x.argmax(dim=1)


class Count(torch.nn.Module):
    """The sum of all inputs until now."""

    total: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.total.add_(x)
        return self.total.clone()


class Mixed(torch.nn.Module):
    """Inputs of several dtypes, and one that is no tensor."""

    def forward(self, x: torch.Tensor, times: int, mask: torch.Tensor) -> tuple[torch.Tensor, int]:
        return torch.where(mask, x * times, x), times


class Image(torch.nn.Module):
    """A convolution in channels-last, the layout of the input and the output."""

    def __init__(self) -> None:
        super().__init__()
        self.convolution = torch.nn.Conv2d(3, 4, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.convolution(x)
        return result


class Write(torch.nn.Module):
    """Writes to the input."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x.add_(1)
        return x * 2


class Pick(torch.nn.Module):
    """Elements at indices, which the kernel checks."""

    def forward(self, x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        return torch.index_select(x, 0, index)


class Slow(torch.nn.Module):
    """Some tenths of a second of products."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(24):
            x = torch.softmax(x @ x, dim=-1)
        return x


def get_model() -> dict[str, tuple[torch.nn.Module, tuple[object, ...]]]:
    """The entry point of executorch_program."""
    torch.manual_seed(0)
    image = torch.rand(1, 3, 6, 5).contiguous(memory_format=torch.channels_last)
    return {
        "affine": (Affine(), (torch.rand(2, 4),)),
        "count": (Count(), (torch.ones(3),)),
        "mixed": (Mixed(), (torch.arange(6), 3, torch.tensor([True, False] * 3))),
        "image": (Image().to(memory_format=torch.channels_last), (image,)),  # type: ignore[call-overload]
        "write": (Write(), (torch.rand(3),)),
        "pick": (Pick(), (torch.rand(4, 2), torch.tensor([3, 0]))),
        "slow": (Slow(), (torch.rand(512, 512) - 0.5,)),
    }


def get_dynamic_shapes() -> dict[str, object]:
    """The sizes that may differ."""
    return {"affine": ({0: torch.export.Dim("rows", max=16)},)}
