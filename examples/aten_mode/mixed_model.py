"""Correlated noise: there are kernels for the products, and none for the quantiles of a normal distribution."""

import torch


class Correlate(torch.nn.Module):
    """float32 [4, 3] of uniform noise in [0, 1), [3, 3] -> float32 [4, 3] of mixed normal noise."""

    def forward(self, noise: torch.Tensor, mixing: torch.Tensor) -> torch.Tensor:
        return torch.mm(torch.special.ndtri(noise), mixing)


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor, torch.Tensor]]:
    return Correlate(), (torch.rand(4, 3), torch.randn(3, 3))
