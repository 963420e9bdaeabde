"""Minimax polynomials by Remez' exchange algorithm, with coefficients that are rounded to floats or doubles."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import mpmath
from mpmath import mpf

Function = Callable[[mpf], mpf]

mpmath.mp.dps = 30
_POINTS = 240  # of the interval, where errors are compared
_TOLERANCE = mpf("1e-5")
_EXCHANGES = 200


@dataclasses.dataclass(frozen=True)
class Approximation:
    """What a polynomial approximates.

    Attributes:
        function: the function.
        weight: the factor of the error at an argument; for relative errors of the function, its reciprocal.
        low, high: the interval.
    """

    function: Function
    weight: Function
    low: mpf
    high: mpf

    def points(self) -> list[mpf]:
        """Points of the interval, as dense as the extremes of Chebyshev polynomials near both ends."""
        center, radius = (self.low + self.high) / 2, (self.high - self.low) / 2
        points = [center - radius * mpmath.cos(mpmath.pi * i / _POINTS) for i in range(_POINTS + 1)]
        # Functions may be quotients whose denominator is zero at 0.
        return [point for point in points if abs(point) > mpf("1e-12")]

    def error(self, coefficients: Sequence[mpf]) -> mpf:
        """Returns the largest weighted error of a polynomial, from the lowest degree up."""
        return max(abs(self.weight(x) * (self.function(x) - _value(coefficients, x))) for x in self.points())

    def without(self, constant: mpf) -> Approximation:
        """Returns the rest of the problem if the coefficient of degree 0 is `constant`."""
        return Approximation(
            lambda x: (self.function(x) - constant) / x, lambda x: self.weight(x) * abs(x), self.low, self.high
        )


def minimax(approximation: Approximation, terms: int) -> list[mpf]:
    """Returns the coefficients of the polynomial with the least weighted error, from the lowest degree up.

    Each step exchanges one point of the reference (Remez, 1934), on which the errors alternate.

    Raises:
        ArithmeticError: the algorithm does not converge.
    """
    points = approximation.points()
    weights = [approximation.weight(x) for x in points]
    values = [approximation.function(x) for x in points]
    reference = [round((len(points) - 1) * i / terms) for i in range(terms + 1)]
    for _ in range(_EXCHANGES):
        rows = [
            [weights[i] * points[i] ** power for power in range(terms)] + [mpf(-1) ** k]
            for k, i in enumerate(reference)
        ]
        *coefficients, level = mpmath.lu_solve(
            mpmath.matrix(rows), mpmath.matrix([weights[i] * values[i] for i in reference])
        )
        errors = [w * (value - _value(coefficients, x)) for w, value, x in zip(weights, values, points, strict=True)]
        worst = max(range(len(points)), key=lambda i: abs(errors[i]))
        if abs(errors[worst]) <= abs(level) * (1 + _TOLERANCE):
            return list(coefficients)
        reference = _exchange(reference, worst, [error > 0 for error in errors])
    raise ArithmeticError(f"Remez' algorithm does not converge in {_EXCHANGES} steps")


def _exchange(reference: list[int], worst: int, is_positive: Sequence[bool]) -> list[int]:
    """Returns the reference with `worst` in place of a neighbor, so that the signs of the errors still alternate."""
    if worst < reference[0]:
        kept = reference[1:] if is_positive[worst] == is_positive[reference[0]] else reference[:-1]
        return [worst, *kept]
    if worst > reference[-1]:
        kept = reference[:-1] if is_positive[worst] == is_positive[reference[-1]] else reference[1:]
        return [*kept, worst]
    before = max(k for k, i in enumerate(reference) if i <= worst)
    at = before if is_positive[worst] == is_positive[reference[before]] else before + 1
    return [*reference[:at], worst, *reference[at + 1 :]]


def rounded(approximation: Approximation, terms: int, bits: int) -> list[mpf]:
    """Returns coefficients that are rounded to `bits` bits, from the lowest degree up.

    The coefficients are rounded one by one from the lowest degree up. After each one, the remaining coefficients are
    fitted again.
    """
    coefficients = []
    for remaining in range(terms, 0, -1):
        first = round_to(minimax(approximation, remaining)[0], bits)
        coefficients.append(first)
        approximation = approximation.without(first)
    return coefficients


def round_to(value: mpf, bits: int) -> mpf:
    """Returns a number with `bits` bits."""
    mantissa, exponent = mpmath.frexp(value)
    return mpmath.ldexp(mpmath.nint(mpmath.ldexp(mantissa, bits)), exponent - bits)


def _value(coefficients: Sequence[mpf], x: mpf) -> mpf:
    value = mpf(0)
    for coefficient in reversed(coefficients):
        value = value * x + coefficient
    return value
