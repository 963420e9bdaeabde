"""Tests that kernels/math/polynomials.h has the coefficients that polynomials.py computes."""

from __future__ import annotations

import re
from pathlib import Path

import mpmath
from absl.testing import absltest
from mpmath import mpf

from kernels.math.polynomials import polynomials, remez

_HEADER = Path("kernels/math/polynomials.h").read_text()
_NUMBER = re.compile(r"[-+]?0x[\w.]+p[-+]\d+|(?<=[\s{])0(?=[,}])")


def _array(name: str) -> list[float]:
    """The numbers of an array of the header."""
    text = _HEADER.partition(f" {name}[")[2].partition(" = ")[2].partition(";")[0]
    return [float.fromhex(number) for number in _NUMBER.findall(text)]


class PolynomialsTest(absltest.TestCase):
    def test_polynomials(self) -> None:
        for polynomial in polynomials.POLYNOMIALS:
            with self.subTest(polynomial.name):
                self.assertEqual(_array(polynomial.name), polynomial.coefficients())

    def test_tables(self) -> None:
        for table in polynomials.TABLES:
            numbers = _array(table.name)
            for interval in (0, 1, 8, 15):
                with self.subTest(table.name, interval=interval):
                    self.assertEqual(numbers[interval::16], table.column(interval))

    def test_powers_of_two(self) -> None:
        powers = _array("kExp2Table")
        self.assertEqual(powers, polynomials.exp2_table())
        for index, power in enumerate(powers):
            self.assertAlmostEqual(power, 2 ** (index / 16), delta=2.0**-24)

    def test_least_error_of_a_known_polynomial(self) -> None:
        # Chebyshev: of the polynomials of degree 3, the best one for x^4 on [-1, 1] is x^2 - 1/8, with an error of 1/8.
        power = remez.Approximation(lambda x: x**4, lambda _: mpf(1), mpf(-1), mpf(1))
        coefficients = remez.minimax(power, 4)
        for given, expected in zip(coefficients, (-0.125, 0, 1, 0), strict=True):
            self.assertAlmostEqual(float(given), expected, places=3)
        self.assertAlmostEqual(float(power.error(coefficients)), 0.125, places=3)

    def test_rounded_coefficients_are_nearly_as_good(self) -> None:
        for polynomial in polynomials.POLYNOMIALS:
            with self.subTest(polynomial.name):
                best = remez.minimax(polynomial.approximation, polynomial.terms)
                given = [mpmath.mpf(number) for number in reversed(_array(polynomial.name))]
                error = polynomial.approximation.error
                self.assertLess(error(given), 1.6 * error(best))


if __name__ == "__main__":
    absltest.main()
