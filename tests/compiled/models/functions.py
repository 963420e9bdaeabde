"""The operators that compiled programs for size have as loops: elementwise functions, copies, reductions, lines."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional


class Elementwise(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor, row: torch.Tensor) -> list[torch.Tensor]:
        positive = y.abs() + 0.5
        return [
            x.ceil(),
            x.floor(),
            x.cos(),
            x.sin(),
            x.exp(),
            positive.log(),
            positive.sqrt(),
            positive.rsqrt(),
            positive.reciprocal(),
            -x,
            x.relu(),
            x.sigmoid(),
            x.tanh(),
            functional.gelu(x),
            functional.gelu(x, approximate="tanh"),
            functional.leaky_relu(x, 0.2),
            functional.hardtanh(x, -0.3, 0.4),
            x.clamp(min=-0.25),
            x.clamp(max=0.25),
            torch.add(x, y, alpha=0.5),
            torch.sub(x, row, alpha=2),
            x + 1.5,
            x - 0.1,
            x * y,
            x * row,
            x * 0.3,
            x / positive,
            x / 3,
            torch.maximum(x, y),
            torch.minimum(x, row),
        ]


class Activations(nn.Module):
    def forward(self, x: torch.Tensor) -> list[torch.Tensor]:
        x = x * 4
        return [
            functional.celu(x, 1.5),
            functional.elu(x, 0.5),
            functional.selu(x),
            functional.hardsigmoid(x),
            functional.hardswish(x),
            functional.logsigmoid(x),
            functional.mish(x),
            functional.silu(x),
            functional.softplus(x),
            functional.softplus(x, 2, 3),
            functional.softsign(x),
            functional.hardshrink(x),
            functional.softshrink(x, 0.75),
            functional.tanhshrink(x),
            functional.threshold(x, 1.5, -2.5),
            x * torch.sigmoid(1.702 * x),
        ]


class Copies(nn.Module):
    def forward(self, x: torch.Tensor, i: torch.Tensor) -> list[torch.Tensor]:
        return [
            x.permute(0, 2, 3, 1).contiguous(),
            x.transpose(1, 3).contiguous(),
            x.to(memory_format=torch.channels_last),
            x[:, :1].expand(2, 3, 4, 5).clone(),
            x[:, 1:, ::2, -3:-1].clone(),
            x.select(1, -1).clone(),
            torch.cat([x, x[:, :, :2], x], dim=2),
            functional.pad(x, (1, 2, 0, 1), value=0.5),
            x.reshape(2, 60).clone(),
            functional.pad(i, (1, 0)),
            i.to(torch.float32),
        ]


class Reductions(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(5))
        self.bias = nn.Parameter(torch.randn(5))

    def forward(self, x: torch.Tensor) -> list[torch.Tensor]:
        return [
            x.mean(dim=(2, 3)),
            x.mean(dim=1, keepdim=True),
            x.sum(dim=(0, 2)),
            x.sum(),
            x.amax(dim=-1),
            x.softmax(dim=1),
            x.softmax(dim=-1),
            x.log_softmax(dim=2),
            functional.layer_norm(x, (4, 5)),
            functional.layer_norm(x, (5,), self.weight, self.bias),
            functional.max_pool2d(x, 3, stride=2, padding=1),
            functional.max_pool2d(x, 2, stride=1, dilation=2),
            functional.avg_pool2d(x, 3, stride=2, padding=1),
            functional.avg_pool2d(x, 3, stride=2, padding=1, count_include_pad=False, ceil_mode=True),
            functional.avg_pool2d(x, 2, divisor_override=3),
        ]


class Layers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(5, 7)
        self.without_bias = nn.Linear(5, 4, bias=False)
        self.convolution = nn.Conv2d(4, 6, (3, 2), stride=(1, 2), padding=(1, 0), dilation=(2, 1), groups=2)

    def forward(self, x: torch.Tensor) -> list[torch.Tensor]:
        return [
            self.linear(x),
            self.without_bias(x),
            self.convolution(torch.cat([x, x[:, :1]], dim=1)),
            x[0, 0] @ x[1, 1].T.contiguous(),
            x[0].bmm(x[1].transpose(1, 2).contiguous()),
        ]


def get_model() -> dict[str, tuple[nn.Module, tuple[torch.Tensor, ...]]]:
    torch.manual_seed(0)
    x, y, row = torch.randn(2, 3, 4, 5), torch.randn(2, 3, 4, 5), torch.randn(5)
    return {
        "elementwise": (Elementwise(), (x, y, row)),
        "activations": (Activations(), (x,)),
        "copies": (Copies(), (x, torch.arange(6).reshape(2, 3))),
        "reductions": (Reductions(), (x,)),
        "layers": (Layers(), (x,)),
    }
