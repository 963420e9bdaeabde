"""Models whose programs are compared with eager PyTorch: an image network, a recurrent one, and some with an operator
of which the kernel is wrong."""

from __future__ import annotations

from typing import Any

import torch
from torch._higher_order_ops.scan import scan
from torch.nn import functional

_LIBRARY = torch.library.Library("numbers_test", "FRAGMENT")
_LIBRARY.define("twice(Tensor input) -> Tensor")
_LIBRARY.define("twice.out(Tensor input, *, Tensor(a!) out) -> Tensor(a!)")


@torch.library.impl(_LIBRARY, "twice", "CompositeExplicitAutograd")
def twice(input: torch.Tensor) -> torch.Tensor:
    return input * 2


@torch.library.impl(_LIBRARY, "twice.out", "CompositeExplicitAutograd")
def twice_out(input: torch.Tensor, *, out: torch.Tensor) -> torch.Tensor:
    return out.copy_(input * 2)


class Wrong(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Linear(8, 16)
        self.norm = torch.nn.LayerNorm(16)
        self.last = torch.nn.Linear(16, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.tanh(self.norm(self.first(x)))
        x = torch.ops.numbers_test.twice(x)
        return torch.softmax(self.last(x), dim=-1)


class WrongBranch(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Linear(8, 16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        def doubled(values: torch.Tensor) -> torch.Tensor:
            values = values.tanh()
            values = torch.ops.numbers_test.twice(values)
            return values.sigmoid()

        def turned(values: torch.Tensor) -> torch.Tensor:
            return values.sin()

        x = self.first(x)
        x = torch.cond(x.sum() < 100, doubled, turned, (x,))
        return x.cos()


class WrongLoop(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        def step(sums: torch.Tensor, row: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            sums = torch.ops.numbers_test.twice(sums)
            sums = sums * 0.25 + row
            return sums, sums.tanh()

        last: Any
        rows: Any
        last, rows = scan(step, torch.zeros_like(x[0]), x)
        return last.sigmoid(), rows.cos()


class DeepLoop(torch.nn.Module):
    """A loop whose branch the first iteration does not take."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        def step(sums: torch.Tensor, row: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            def doubled(values: torch.Tensor) -> torch.Tensor:
                result: torch.Tensor = torch.ops.numbers_test.twice(values)
                return result.clone()

            def turned(values: torch.Tensor) -> torch.Tensor:
                return values.sin()

            sums = torch.cond(sums.sum() > 0, doubled, turned, (sums,)) * 0.25 + row
            return sums, sums.tanh()

        rows: Any
        _, rows = scan(step, torch.zeros_like(x[0]), x)
        result: torch.Tensor = rows.cos()
        return result


class Images(torch.nn.Module):
    """The layers of MobileNetV2: convolutions with batch norms, by channel too, an addition, and the mean of images."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = torch.nn.Conv2d(3, 16, 3, 2, 1, bias=False)
        self.stem_norm = torch.nn.BatchNorm2d(16)
        self.depthwise = torch.nn.Conv2d(16, 16, 3, 1, 1, groups=16, bias=False)
        self.depthwise_norm = torch.nn.BatchNorm2d(16)
        self.project = torch.nn.Conv2d(16, 24, 1, bias=False)
        self.project_norm = torch.nn.BatchNorm2d(24)
        self.expand = torch.nn.Conv2d(24, 24, 1)
        self.classify = torch.nn.Linear(24, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = functional.relu6(self.stem_norm(self.stem(x)))
        x = functional.relu6(self.depthwise_norm(self.depthwise(x)))
        x = self.project_norm(self.project(x))
        x = x + self.expand(x)
        logits: torch.Tensor = self.classify(x.mean((2, 3)))
        return logits


class Padded(torch.nn.Module):
    """The padding of TensorFlow's models, which is an operator of its own between two convolutions."""

    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Conv2d(3, 16, 3)
        self.second = torch.nn.Conv2d(16, 8, 3, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = functional.relu6(self.first(x))
        x = functional.pad(x, (0, 1, 0, 1))
        result: torch.Tensor = self.second(x)
        return result


class Recurrent(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = torch.nn.LSTM(8, 16, batch_first=True)
        self.last = torch.nn.Linear(16, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        every, (hidden, _) = self.lstm(x)
        result: torch.Tensor = self.last(every[:, -1]) + hidden.sum()
        return result


def get_wrong() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    torch.manual_seed(0)
    return Wrong(), (torch.randn(2, 8),)


def get_wrong_branch() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    torch.manual_seed(0)
    return WrongBranch(), (torch.randn(2, 8),)


def get_wrong_loop() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    torch.manual_seed(0)
    return WrongLoop(), (torch.randn(4, 8),)


def get_deep_loop() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    torch.manual_seed(0)
    return DeepLoop(), (torch.rand(4, 8),)


def get_images() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    torch.manual_seed(0)
    images = Images().eval()
    for norm in (images.stem_norm, images.depthwise_norm, images.project_norm):
        torch.nn.init.uniform_(norm.weight, 0.5, 1.5)
        torch.nn.init.normal_(norm.bias)
    return images, (torch.randn(1, 3, 32, 32),)


def get_padded() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    torch.manual_seed(0)
    return Padded().eval(), (torch.randn(1, 3, 32, 32),)


def get_recurrent() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    torch.manual_seed(0)
    return Recurrent(), (torch.randn(1, 5, 8),)
