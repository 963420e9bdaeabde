"""`signal::power_spectrum` for PyTorch: functional and out variant."""

import torch

_LIBRARY = torch.library.Library("signal", "FRAGMENT")
_LIBRARY.define("power_spectrum(Tensor x, float[]? weights=None) -> Tensor")
_LIBRARY.define("power_spectrum.out(Tensor x, float[]? weights=None, *, Tensor(a!) out) -> Tensor(a!)")


@torch.library.impl(_LIBRARY, "power_spectrum", "CompositeExplicitAutograd")
def power_spectrum(x: torch.Tensor, weights: list[float] | None = None) -> torch.Tensor:
    """The squared magnitude of the last dimension's frequencies; `weights` multiplies x first."""
    weighted = x if weights is None else x * torch.tensor(weights, dtype=x.dtype, device=x.device)
    return torch.fft.rfft(weighted).abs() ** 2


@torch.library.impl(_LIBRARY, "power_spectrum.out", "CompositeExplicitAutograd")
def power_spectrum_out(x: torch.Tensor, weights: list[float] | None = None, *, out: torch.Tensor) -> torch.Tensor:
    """The same, into `out`."""
    return out.copy_(power_spectrum(x, weights))
