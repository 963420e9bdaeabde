"""Writes kernels/math/polynomials.h: the coefficients of the polynomials of kernels/math.

tools/bazel run //kernels/math/polynomials     # a minute
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import mpmath
from absl import app
from mpmath import mpf

from kernels.math.polynomials import remez
from kernels.math.polynomials.remez import Approximation, Function

_COMMAND = "tools/bazel run //kernels/math/polynomials"
_FLOAT_BITS, _DOUBLE_BITS = 24, 53


@dataclasses.dataclass(frozen=True)
class Polynomial:
    """A polynomial of a header, as an array of coefficients from the highest degree down.

    Attributes:
        name: name of the array.
        comment: the function and the interval.
        approximation: makes the problem.
        terms: the number of coefficients.
        bits: the bits of a coefficient.
    """

    name: str
    comment: str
    approximation: Approximation
    terms: int
    bits: int = _FLOAT_BITS

    def coefficients(self) -> list[float]:
        """Returns the coefficients from the highest degree down. Takes seconds."""
        return [float(value) for value in remez.rounded(self.approximation, self.terms, self.bits)[::-1]]


@dataclasses.dataclass(frozen=True)
class Table:
    """Polynomials of one function, one for each interval of |x|: an array with a row for each degree.

    Attributes:
        name: name of the array.
        comment: the function.
        function: the function of |x|.
    """

    name: str
    comment: str
    function: Function

    def column(self, interval: int) -> list[float]:
        """Returns the coefficients for one interval from the highest degree down. Takes a second."""
        if interval == _INTERVALS - 1:
            return [0.0] * _TABLE_TERMS
        center = interval * INTERVAL
        half = INTERVAL / 2
        function = self.function
        approximation = Approximation(
            lambda r: function(center + r), lambda r: 1 / function(center + r), -half if interval else mpf(0), half
        )
        return [float(value) for value in remez.rounded(approximation, _TABLE_TERMS, _FLOAT_BITS)[::-1]]

    def columns(self) -> list[list[float]]:
        """Returns the coefficients of all intervals. Takes half a minute."""
        return [self.column(i) for i in range(_INTERVALS)]


INTERVAL = mpf("0.390625")  # The last interval begins where gelu of -|x| is a rounding error of |x|.
_INTERVALS = 16
_TABLE_TERMS = 6

EXP2_TABLE_SIZE = 16

_LOG2 = mpmath.log(2)
_ROOT2 = mpmath.sqrt(2)


def _of_square(function: Function) -> Function:
    """The function of s = x^2, for x >= 0."""
    return lambda s: function(mpmath.sqrt(s))


def _odd(function: Function, highest: mpf) -> Approximation:
    """function(x) = x + x^3 p(x^2) for 0 <= x <= highest, with the least relative error."""
    return Approximation(
        _of_square(lambda x: (function(x) / x - 1) / x**2),
        _of_square(lambda x: x**3 / function(x)),
        mpf(0),
        highest**2,
    )


def _erfc_of_root(x: mpf) -> mpf:
    """Twice the probability that a normal variable is larger than x."""
    return mpmath.erfc(x / _ROOT2)


def _gelu_tanh_tail(x: mpf) -> mpf:
    cubic = 2 * mpmath.sqrt(2 / mpmath.pi) * (x + mpf("0.044715") * x**3)
    return 1 / (1 + mpmath.exp(cubic))


POLYNOMIALS = (
    Polynomial(
        "kExpPolynomial",
        "e^r = 1 + r + r^2 p(r) for |r| <= log(2)/2.",
        Approximation(lambda r: (mpmath.exp(r) - 1 - r) / r**2, lambda r: r**2 / mpmath.exp(r), -_LOG2 / 2, _LOG2 / 2),
        5,
    ),
    Polynomial(
        "kShortExpPolynomial",
        f"e^r = 1 + r p(r) for |r| <= log(2)/{2 * EXP2_TABLE_SIZE}.",
        Approximation(
            lambda r: mpmath.expm1(r) / r,
            lambda r: abs(r) / mpmath.exp(r),
            -_LOG2 / (2 * EXP2_TABLE_SIZE),
            _LOG2 / (2 * EXP2_TABLE_SIZE),
        ),
        3,
    ),
    Polynomial(
        "kExp2Polynomial",
        "2^r = 1 + r p(r) for |r| <= 1/2.",
        Approximation(lambda r: (2**r - 1) / r, lambda r: abs(r) / 2**r, mpf(-0.5), mpf(0.5)),
        6,
    ),
    Polynomial(
        "kLogPolynomial",
        "log(1 + f) = f - f^2/2 + f^3 p(f) for sqrt(1/2) <= 1 + f < sqrt(2).",
        Approximation(
            lambda f: (mpmath.log1p(f) - f + f**2 / 2) / f**3,
            lambda f: abs(f**3 / mpmath.log1p(f)),
            1 / _ROOT2 - 1,
            _ROOT2 - 1,
        ),
        8,
    ),
    Polynomial("kAtanPolynomial", "atan(t) = t + t^3 p(t^2) for 0 <= t <= 1.", _odd(mpmath.atan, mpf(1)), 8),
    Polynomial("kAsinPolynomial", "asin(s) = s + s^3 p(s^2) for 0 <= s <= 1/2.", _odd(mpmath.asin, mpf(0.5)), 5),
    Polynomial("kSinPolynomial", "sin(r) = r + r^3 p(r^2) for 0 <= r <= pi/4.", _odd(mpmath.sin, mpmath.pi / 4), 3),
    Polynomial(
        "kCosPolynomial",
        "cos(r) = 1 - r^2/2 + r^4 p(r^2) for 0 <= r <= pi/4.",
        Approximation(
            _of_square(lambda r: (mpmath.cos(r) - 1 + r**2 / 2) / r**4),
            _of_square(lambda r: r**4 / mpmath.cos(r)),
            mpf(0),
            (mpmath.pi / 4) ** 2,
        ),
        3,
    ),
    Polynomial("kTanhPolynomial", "tanh(x) = x + x^3 p(x^2) for 0 <= x <= 5/8.", _odd(mpmath.tanh, mpf(0.625)), 5),
    Polynomial(
        "kErfPolynomial",
        "erf(x) = x + x p(x^2) for 0 <= x <= 0.9.",
        Approximation(
            _of_square(lambda x: mpmath.erf(x) / x - 1), _of_square(lambda x: x / mpmath.erf(x)), mpf(0), mpf("0.81")
        ),
        6,
    ),
    Polynomial(
        "kLogErfcPolynomial",
        "log(1 - erf(x)) = p(x) for 0.9 <= x <= 4, with the least relative error of erf.",
        Approximation(
            lambda x: mpmath.log(mpmath.erfc(x)), lambda x: mpmath.erfc(x) / mpmath.erf(x), mpf("0.9"), mpf(4)
        ),
        7,
    ),
    Polynomial(
        "kLog2TailsPolynomial",
        "log2(erfc(x / sqrt(2))) = x p(x) for 0 <= x <= 7, with the least absolute error of erfc.",
        Approximation(
            lambda x: mpmath.log(_erfc_of_root(x), 2) / x, lambda x: x * _erfc_of_root(x) * _LOG2, mpf(0), mpf(7)
        ),
        8,
    ),
    Polynomial(
        "kPreciseLog2Polynomial",
        "log2(m) = s p(s^2), with s = (m - 1) / (m + 1), for sqrt(1/2) <= m < sqrt(2).",
        Approximation(
            _of_square(lambda s: 2 * mpmath.atanh(s) / s / _LOG2),
            _of_square(lambda s: s),
            mpf(0),
            ((_ROOT2 - 1) / (_ROOT2 + 1)) ** 2,
        ),
        5,
        _DOUBLE_BITS,
    ),
    Polynomial(
        "kPreciseExp2Polynomial",
        "2^r = p(r) for |r| <= 1/2.",
        Approximation(lambda r: 2**r, lambda r: 1 / 2**r, mpf(-0.5), mpf(0.5)),
        7,
        _DOUBLE_BITS,
    ),
)

TABLES = (
    Table("kGeluTails", "The probability that a normal variable is larger than |x|.", lambda x: _erfc_of_root(x) / 2),
    Table("kGeluTanhTails", 'PyTorch\'s approximation "tanh" of the same probability.', _gelu_tanh_tail),
)


def exp2_table() -> list[float]:
    """Returns 2^(i/16) for 0 <= i < 16, rounded to float."""
    return [float(remez.round_to(mpf(2) ** (mpf(i) / EXP2_TABLE_SIZE), _FLOAT_BITS)) for i in range(EXP2_TABLE_SIZE)]


def header() -> str:
    """Returns the text of the header. Takes a minute."""
    return "".join(_lines())


def _lines() -> Iterator[str]:
    yield "#pragma once\n\n"
    yield f"// Written by `{_COMMAND}`. Do not edit.\n\n"
    yield "/// Minimax polynomials, from the highest degree down.\n"
    yield "namespace rules_executorch::kernels::math::internal {\n"
    for polynomial in POLYNOMIALS:
        kind, suffix = ("float", "f") if polynomial.bits == _FLOAT_BITS else ("double", "")
        yield f"\n/// {polynomial.comment}\n"
        yield f"inline constexpr {kind} {polynomial.name}[] = {_initializer(polynomial.coefficients(), suffix)};\n"
    yield f"\n/// 2^(i/{EXP2_TABLE_SIZE}).\n"
    yield f"inline constexpr float kExp2Table[{EXP2_TABLE_SIZE}] = {_initializer(exp2_table(), 'f')};\n"
    yield "\n/// The center of interval i of the tables is i * kGeluInterval. The argument of a polynomial is |x|\n"
    yield "/// minus the center. Each column has the coefficients of one interval. The last column is for all\n"
    yield "/// larger |x|.\n"
    yield f"inline constexpr float kGeluInterval = {_literal(float(INTERVAL), 'f')};\n"
    for table in TABLES:
        rows = (_initializer(row, "f") for row in zip(*table.columns(), strict=True))
        yield f"\n/// {table.comment}\n"
        yield f"inline constexpr float {table.name}[{_TABLE_TERMS}][{_INTERVALS}] = {{{', '.join(rows)}}};\n"
    yield "\n}  // namespace rules_executorch::kernels::math::internal\n"


def _initializer(values: Sequence[float], suffix: str) -> str:
    return f"{{{', '.join(_literal(value, suffix) for value in values)}}}"


def _literal(value: float, suffix: str) -> str:
    """Returns a hexadecimal literal without the zeros at the end of the fraction."""
    if value == 0:
        return "0"
    digits, _, exponent = value.hex().partition("p")
    digits = digits.rstrip("0").removesuffix(".") if "." in digits else digits
    return f"{digits}p{int(exponent):+}{suffix}"


def main(argv: Sequence[str]) -> None:
    if len(argv) > 1:
        raise app.UsageError(f"unknown argument: {argv[1]}")
    path = Path(os.environ["BUILD_WORKSPACE_DIRECTORY"], "kernels/math/polynomials.h")
    path.write_text(header())
    print(f"{path}: written; format it by tools/bazel run //tools/lint -- --fix")


if __name__ == "__main__":
    app.run(main)
