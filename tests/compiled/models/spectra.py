"""A model that computes with complex numbers: a filter of the spectrum, and rotary positions."""

from __future__ import annotations

import torch


class Spectra(torch.nn.Module):
    turns: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.gain = torch.nn.Parameter(torch.randn(4, 9, dtype=torch.cfloat))
        self.register_buffer("turns", torch.polar(torch.ones(8), torch.arange(8) * 0.3))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        bins = torch.fft.rfft(x) * self.gain
        pairs = torch.view_as_complex(x.reshape(4, 8, 2)) * self.turns
        turned = torch.view_as_real(pairs).flatten(-2) + bins.abs().sum(-1, keepdim=True)
        return torch.fft.irfft(bins, n=16), turned, torch.view_as_real(pairs.T.contiguous())


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    torch.manual_seed(0)
    return Spectra(), (torch.randn(4, 16),)
