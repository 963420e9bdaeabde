"""Fourier transforms and complex numbers as models call them, a method each."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

_RATE = 16000
_WINDOW = 400
_HOP = 160


class _Function(nn.Module):
    """A function of tensors."""

    def __init__(self, function: Callable[..., object]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: Tensor) -> object:
        return self.function(*inputs)


class _MelSpectrogram(nn.Module):
    """float32 [batch, samples] sound -> float32 [batch, bands, frames] logarithms of energies, as by torchaudio."""

    window: Tensor
    bands: Tensor

    def __init__(self, size: int = _WINDOW, hop: int = _HOP, bands: int = 80) -> None:
        super().__init__()
        self.size, self.hop = size, hop
        self.register_buffer("window", torch.hann_window(size), persistent=False)
        # Triangles between points at equal distances on the scale of mel.
        highest = 2595 * torch.log10(torch.tensor(1 + _RATE / 2 / 700))
        points = 700 * (10 ** (torch.linspace(0, float(highest), bands + 2) / 2595) - 1)
        frequencies = torch.linspace(0, _RATE / 2, size // 2 + 1)
        slopes = points[None, :] - frequencies[:, None]
        widths = points.diff()
        rising, falling = -slopes[:, :-2] / widths[:-1], slopes[:, 2:] / widths[1:]
        self.register_buffer("bands", torch.minimum(rising, falling).clamp(min=0), persistent=False)

    def forward(self, sound: Tensor) -> Tensor:
        spectrum = torch.stft(sound, self.size, self.hop, window=self.window, return_complex=True)
        energies = torch.matmul(spectrum.abs().pow(2).transpose(1, 2), self.bands).transpose(1, 2)
        return (energies + 1e-6).log10()


class _Denoiser(nn.Module):
    """float32 [batch, samples] sound -> sound of the same length without quiet frequencies."""

    window: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("window", torch.hann_window(512), persistent=False)

    def forward(self, sound: Tensor) -> Tensor:
        spectrum = torch.stft(sound, 512, 128, window=self.window, return_complex=True)
        size, angle = spectrum.abs(), spectrum.angle()
        loud = torch.polar(size * (size > 4), angle)
        return torch.istft(loud, 512, 128, window=self.window, length=sound.shape[1])


class _Rotary(nn.Module):
    """float32 [batch, tokens, features] -> rotated queries of the same shape, as by Llama's first code."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.query = nn.Linear(features, features)

    def forward(self, x: Tensor, angles: Tensor) -> Tensor:
        pairs = torch.view_as_complex(self.query(x).unflatten(-1, (-1, 2)))
        return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).flatten(-2)


def _stft(**options: object) -> Callable[[Tensor], Tensor]:
    def function(x: Tensor) -> Tensor:
        return torch.view_as_real(torch.stft(x, 64, 16, return_complex=True, **options))  # type: ignore[arg-type]

    return function


def _real_and_back(x: Tensor) -> tuple[Tensor, ...]:
    spectrum = torch.fft.rfft(x)
    return spectrum.real, spectrum.imag, torch.fft.irfft(spectrum, n=x.shape[-1])


def _padded(x: Tensor) -> tuple[Tensor, ...]:
    return torch.fft.irfft(torch.fft.rfft(x, n=128), n=99), torch.fft.fft(x, n=31, norm="ortho").abs()


def _complex_and_back(x: Tensor) -> tuple[Tensor, ...]:
    spectrum = torch.fft.fft(x)
    return torch.view_as_real(spectrum), torch.fft.ifft(spectrum).real


def _planes(x: Tensor) -> tuple[Tensor, ...]:
    spectrum = torch.fft.fft2(x, norm="ortho")
    whole = torch.fft.rfftn(x)
    return (
        torch.view_as_real(torch.fft.fftshift(spectrum)),
        torch.fft.ifft2(spectrum, norm="ortho").real,
        whole.abs(),
        torch.fft.irfftn(whole, s=x.shape),
    )


def _correlation(x: Tensor, kernel: Tensor) -> Tensor:
    size = x.shape[-1] + kernel.shape[-1] - 1
    result: Tensor = torch.fft.irfft(torch.fft.rfft(x, n=size) * torch.fft.rfft(kernel, n=size).conj(), n=size)
    return result


def _rotated(x: Tensor, angles: Tensor) -> Tensor:
    """Rotary position embeddings as by Llama's first code."""
    pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)))
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).flatten(-2)


def _arithmetic(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
    z, w = torch.complex(x, y), torch.complex(y, -x)
    results = (
        z + w, z - 2j, z * w, z / w, z @ w.mT, z.exp(), z.tanh(), z.sqrt(), z.log(), -z, z.reciprocal(), z.conj(),
        torch.exp(1j * x), 1j * y, z * x,
    )  # fmt: skip
    return (*(torch.view_as_real(one.resolve_conj()) for one in results), z.abs(), z.angle(), x.angle(), z.real, z.imag)


def get_model() -> dict[str, tuple[nn.Module, tuple[Tensor, ...]]]:
    torch.manual_seed(0)
    sound, line, image = torch.randn(2, 1600), torch.randn(3, 50), torch.randn(2, 10, 12)
    hann = torch.hann_window(64)
    functions: dict[str, tuple[Callable[..., object], tuple[Tensor, ...]]] = {
        "stft": (_stft(), (sound,)),
        "stft_windowed": (_stft(window=hann, normalized=True), (sound,)),
        "stft_not_centered": (_stft(window=hann, center=False), (sound,)),
        "stft_both_sides": (_stft(window=torch.hann_window(48), win_length=48, onesided=False), (sound,)),
        "real_and_back": (_real_and_back, (line,)),
        "real_and_back_in_double": (_real_and_back, (line.double(),)),
        "padded": (_padded, (line,)),
        "complex_and_back": (_complex_and_back, (line,)),
        "prime_length": (_complex_and_back, (torch.randn(2, 997),)),
        "planes": (_planes, (image,)),
        "correlation": (_correlation, (line, torch.randn(3, 7))),
        "rotated": (_rotated, (torch.randn(2, 5, 8), torch.randn(5, 4))),
        "arithmetic": (_arithmetic, (torch.randn(4, 5), torch.randn(4, 5))),
    }
    modules = {name: (_Function(function), inputs) for name, (function, inputs) in functions.items()}
    return {
        **modules,
        "mel": (_MelSpectrogram(), (sound,)),
        "mel_of_any_length": (_MelSpectrogram(), (sound,)),
        "denoised": (_Denoiser(), (sound,)),
        "lines_of_any_count": (_Function(_real_and_back), (line,)),
        "rotated": (_Rotary(8), (torch.randn(2, 5, 8), torch.randn(5, 4))),
    }


def get_dynamic_shapes() -> dict[str, tuple[object, ...]]:
    frames = torch.export.Dim("frames", min=4, max=40)
    return {
        "mel_of_any_length": ({1: _HOP * frames},),
        "lines_of_any_count": (({0: torch.export.Dim("lines", min=1, max=8)},),),
    }


def get_sample_inputs() -> dict[str, list[tuple[Tensor, ...]]]:
    return {
        "mel_of_any_length": [(torch.randn(2, _HOP * frames),) for frames in (10, 4, 33)],
        "lines_of_any_count": [(torch.randn(count, 50),) for count in (3, 1, 8)],
    }
