"""Operators that take numbers, dtypes, strings and lists of numbers."""

import torch
from torch.nn import functional

_Tensors = tuple[torch.Tensor, ...]


class Numbers(torch.nn.Module):
    def forward(self, x: torch.Tensor, count: torch.Tensor, flags: torch.Tensor) -> _Tensors:
        return (
            torch.add(x, x, alpha=2),
            x * 1.5,
            count + 2,
            torch.logical_and(flags, x > 0),
            torch.clamp(x, min=-0.5),
            torch.clamp(x, max=0.5),
            functional.gelu(x, approximate="tanh"),
            torch.div(x, 0.3, rounding_mode="floor"),
            x.permute(2, 0, 1),
            x.sum(dim=(0, 2), keepdim=True),
            count.sum(dtype=torch.float64),
            x.mean(dim=1),
            torch.full((2, 2), 7, dtype=torch.int32),
            torch.arange(1, 9, 3),
            x.to(torch.float16) * 3,
            x.to(torch.bfloat16) + x.to(torch.bfloat16),
            x.to(torch.float64).exp(),
            (x * 10).to(torch.uint8),
            x.any(),
            functional.interpolate(x.unsqueeze(0), scale_factor=(2.0, 1.5), mode="bilinear", align_corners=False),
        )


def get_model() -> tuple[torch.nn.Module, _Tensors]:
    return Numbers(), (torch.randn(2, 3, 4), torch.tensor([3, 4]), torch.rand(2, 3, 4) > 0.5)
