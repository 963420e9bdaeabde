"""A model that calls signal::power_spectrum beside an operator of PyTorch."""

import torch

from examples.aten_mode import spectrum_op  # noqa: F401  (registers signal::power_spectrum)


class Spectrum(torch.nn.Module):
    """float32 [2, 4] -> float32 [2, 3], twice."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        power = torch.ops.signal.power_spectrum
        return torch.log1p(power(x)), power(x, [0.5, 1.0, 1.0, 0.5])


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    return Spectrum(), (torch.randn(2, 4),)
