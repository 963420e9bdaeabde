"""Whether a result is close to the expected one: the rule of the runner's --check (runtime/runner/compare.h)."""

from __future__ import annotations

import math

import torch

from runtime.tolerances.table import TOLERANCES
from runtime.tolerances.tolerance import OUTLIER_MEDIANS


def difference(expected: torch.Tensor, actual: torch.Tensor) -> str:
    """Describes the difference of a tensor from the one that PyTorch computed.

    The tolerance is that of the dtype in runtime/tolerances/tolerances.yaml, with its meaning. Elements of dtypes
    without tolerance must be equal. Strides do not matter.

    Returns:
        One line, such as `element [3] is 1.5, not 2.5; 7 of 96 elements differ, the largest difference is 1.2; SNR 3.1
        dB`. Empty if the tensors are close.
    """
    if expected.dtype != actual.dtype or expected.shape != actual.shape:
        return f"{_describe(actual)}, not {_describe(expected)}"
    tolerance = TOLERANCES.get(_name(expected.dtype))
    if tolerance is None:
        return _mismatch(expected, actual, _bytes(expected).ne(_bytes(actual)).any(-1))

    # Sums of squares need the range of float64, and differences its precision.
    wanted, found = expected.detach().to(torch.float64).flatten(), actual.detach().to(torch.float64).flatten()
    same = (wanted == found) | (wanted.isnan() & found.isnan())
    distances = (found - wanted).abs().masked_fill_(same, 0)
    sizes = wanted.abs()
    finite_sizes = sizes.masked_fill(~sizes.isfinite(), 0)
    numbers = finite_sizes[finite_sizes > 0]
    outlier = OUTLIER_MEDIANS * (numbers.median().item() if len(numbers) else 0.0)
    largest = min(_largest(numbers), outlier)
    allowed = tolerance.atol + finite_sizes * tolerance.rtol + finite_sizes.clamp(min=largest) * tolerance.of_largest
    # The distance from or to an infinity is infinite, and from or to NaN it is NaN.
    mismatches = ~(distances <= allowed)
    counted = mismatches | ~(sizes > outlier)  # The ratio is without the outliers that are close.
    ratio = _decibels(finite_sizes[counted].square().sum().item(), distances[counted].square().sum().item())
    if mismatches.any():
        details = f"the largest difference is {_largest(distances):.6g}; SNR {ratio:.1f} dB"
        return f"{_mismatch(expected, actual, mismatches)}, {details}"
    farthest = _largest(distances[counted])
    if ratio < tolerance.least_snr and farthest > tolerance.atol:
        return f"SNR {ratio:.1f} dB, less than {tolerance.least_snr:g} dB; the largest difference is {farthest:.6g}"
    return ""


def _largest(numbers: torch.Tensor) -> float:
    """The largest number; 0 if there is none."""
    return numbers.max().item() if len(numbers) else 0.0


def _mismatch(expected: torch.Tensor, actual: torch.Tensor, mismatches: torch.Tensor) -> str:
    """Describes the first element that differs; empty if there is none."""
    count = int(mismatches.sum())
    if count == 0:
        return ""
    index = torch.unravel_index(mismatches.to(torch.uint8).argmax(), expected.shape)
    place = ", ".join(str(int(number)) for number in index)
    found, wanted = (_text(tensor[index]) for tensor in (actual, expected))
    return f"element [{place}] is {found}, not {wanted}; {count} of {mismatches.numel()} elements differ"


def _decibels(signal: float, noise: float) -> float:
    """The ratio of two powers in decibels."""
    if noise == 0:
        return math.inf
    return 10 * math.log10(signal / noise) if math.isfinite(noise) and signal > 0 else -math.inf


def _bytes(tensor: torch.Tensor) -> torch.Tensor:
    """The bytes of each element, in row-major order."""
    # contiguous() keeps the strides of dimensions of size 1, which view() refuses.
    dense = tensor.detach().resolve_conj().resolve_neg().clone(memory_format=torch.contiguous_format)
    return dense.view(-1, 1).view(torch.uint8)


def _text(element: torch.Tensor) -> str:
    value = element.item()
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _describe(tensor: torch.Tensor) -> str:
    """`float32 [2, 3]`."""
    return f"{_name(tensor.dtype)} {list(tensor.shape)}"


def noise(expected: torch.Tensor, actual: torch.Tensor, least_snr: float) -> str:
    """Describes the difference of a tensor of floats whose signal-to-noise ratio is below `least_snr` decibels.

    Returns:
        One line; empty if the ratio is large enough, or if the tensors are close.
    """
    different = difference(expected, actual)
    if not different or expected.shape != actual.shape or not expected.is_floating_point():
        return different
    wanted, found = expected.detach().to(torch.float64), actual.detach().to(torch.float64)
    ratio = _decibels(wanted.square().sum().item(), (found - wanted).square().sum().item())
    return different if not ratio >= least_snr else ""
