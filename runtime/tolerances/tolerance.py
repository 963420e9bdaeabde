"""The type of the table of tolerances."""

from __future__ import annotations

from dataclasses import dataclass

# An element whose size is more than this number of medians is an outlier.
OUTLIER_MEDIANS = 1000.0


@dataclass(frozen=True)
class Tolerance:
    """The tolerance for outputs of one dtype. tolerances.yaml describes the meaning.

    Attributes:
        rtol: the allowed difference of an element, as a fraction of the expected element.
        atol: the allowed difference of an element.
        of_largest: the allowed difference of an element, as a fraction of the largest expected element of the output
            or, for an outlier, of the element itself.
        least_snr: the least signal-to-noise ratio of the output without outliers, in decibels.
    """

    rtol: float
    atol: float
    of_largest: float
    least_snr: float
