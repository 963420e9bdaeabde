"""The tolerances for floats, with the reasons for differences from PyTorch."""

import enum
from collections.abc import Iterable
from typing import NamedTuple

import torch


class Tolerance(NamedTuple):
    """`actual` and `expected` are close if |actual - expected| <= absolute + relative * |expected|."""

    relative: float
    absolute: float


class Rounding(enum.Enum):
    """The reason for a difference between a kernel's result and PyTorch's if both are correct."""

    RESULT = "Both compute Half and BFloat16 in Float and round once."
    SUM = (
        "Sums of many products round differently with the order of the additions, and half-precision results of "
        "PyTorch are rounded before a bias is added."
    )
    CHANNEL = (
        "In some memory layouts, PyTorch rounds the scale and offset of each channel to half precision. The kernel "
        "rounds results only."
    )
    OPERANDS = (
        "PyTorch rounds some operands to the common dtype first. Kernels round once, at the end. For a small common "
        "dtype, the difference is in the last digits of the operands."
    )
    POSITION = (
        "Positions between elements are rounded. If neighboring elements differ much, the last digits of a position "
        "change the result."
    )


EXACT = Tolerance(0, 0)

_RESULT = {
    torch.float64: Tolerance(1e-12, 1e-12),
    torch.float32: Tolerance(1.3e-6, 1e-6),
    torch.float16: Tolerance(1e-3, 1e-5),
    torch.bfloat16: Tolerance(8e-3, 1e-5),
}
TOLERANCES = {
    Rounding.RESULT: _RESULT,
    Rounding.SUM: {
        **_RESULT,
        torch.float32: Tolerance(1e-5, 1e-4),
        torch.float16: Tolerance(2e-3, 2e-2),
        torch.bfloat16: Tolerance(1.6e-2, 0.2),
    },
    Rounding.CHANNEL: {
        **_RESULT,
        torch.float16: Tolerance(2e-3, 2e-2),
        torch.bfloat16: Tolerance(1.6e-2, 0.2),
    },
    Rounding.OPERANDS: {
        **_RESULT,
        torch.float16: Tolerance(1e-3, 0.1),
        torch.bfloat16: Tolerance(8e-3, 0.1),
    },
    Rounding.POSITION: {
        **_RESULT,
        torch.float32: Tolerance(1e-4, 1e-5),
    },
}


def tolerance(rounding: Rounding, dtypes: Iterable[torch.dtype]) -> Tolerance:
    """The tolerance of a result that was rounded to each of `dtypes`.

    Integers and Bools are exact. Complex numbers have the tolerance of their parts.
    """
    return max(TOLERANCES[rounding].get(dtype.to_real(), EXACT) for dtype in dtypes)
