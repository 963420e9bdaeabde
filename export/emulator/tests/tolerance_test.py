from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

import torch
from absl.testing import absltest

from export.emulator.tolerance import difference
from runtime.tolerances.table import TOLERANCES

_DTYPES = (torch.float64, torch.float32, torch.float16, torch.bfloat16)


def _is_close(expected: Sequence[float], actual: Sequence[float], dtype: torch.dtype) -> bool:
    """The formula of tolerances.yaml, for the finite elements of a tensor."""
    tolerance = TOLERANCES[str(dtype).removeprefix("torch.")]
    sizes = [abs(number) for number in expected]
    numbers = [size for size in sizes if size > 0]
    outlier = 1000 * statistics.median_low(numbers) if numbers else 0
    largest = min(max(sizes), outlier)
    pairs = [(size, abs(one - other)) for size, one, other in zip(sizes, expected, actual, strict=True)]
    for size, distance in pairs:
        if distance > tolerance.atol + tolerance.rtol * size + tolerance.of_largest * max(size, largest):
            return False
    pairs = [(size, distance) for size, distance in pairs if size <= outlier]
    if max(distance for _, distance in pairs) <= tolerance.atol:
        return True
    signal, noise = (math.fsum(number * number for number in column) for column in zip(*pairs, strict=True))
    return signal > 0 and 10 * math.log10(signal / noise) >= tolerance.least_snr


class ToleranceTest(absltest.TestCase):
    def test_formula(self) -> None:
        torch.manual_seed(0)
        for dtype in _DTYPES:
            tolerance = TOLERANCES[str(dtype).removeprefix("torch.")]
            verdicts = []
            for case in range(400):
                expected = torch.randn(int(torch.randint(1, 40, ())), dtype=torch.float64)
                if case % 4 == 1:
                    expected[0] = 10.0 ** torch.randint(-8, 4, ()).item()
                if case % 4 == 2:
                    expected[::3] = 0
                # About as large as the tolerance for an element, or the ratio, allows.
                size = tolerance.of_largest if case % 2 else 10 ** (-tolerance.least_snr / 20)
                noise = torch.randn_like(expected) * size * expected.abs().max() * 4 ** (torch.rand(()) * 4 - 3)
                if case % 8 in (3, 4):
                    expected[1::3], noise[1::3] = -3e4, 4 * noise[1::3]  # outliers, if they are few
                expected, actual = expected.to(dtype), (expected + noise).to(dtype)
                verdict = _is_close(expected.double().tolist(), actual.double().tolist(), dtype)
                self.assertEqual(difference(expected, actual) == "", verdict, (dtype, expected, actual))
                verdicts.append(verdict)
            self.assertTrue(40 <= verdicts.count(True) <= 360, dtype)

    def test_one_unit_in_the_last_place(self) -> None:
        for dtype, infinity in ((torch.float16, 0x7C00), (torch.bfloat16, 0x7F80)):
            for start in range(0, infinity - 1, 7):
                bits = torch.tensor([start, start + 1], dtype=torch.int16).view(dtype)
                self.assertEqual(difference(bits[0], bits[1]), "")
        for dtype in _DTYPES:
            x = torch.randn(9, dtype=dtype)
            self.assertEqual(difference(x, torch.nextafter(x, x + 1)), "")

    def test_long_sums(self) -> None:
        expected = torch.arange(96.0)
        expected[5] = 129
        actual = expected.clone()
        actual[3] += 0.010
        self.assertEqual(difference(expected, actual), "")
        actual[3] = expected[3] + 0.129  # a thousandth of the largest
        self.assertEqual(
            difference(expected, actual),
            "element [3] is 3.129, not 3; 1 of 96 elements differ, the largest difference is 0.129; SNR 72.7 dB",
        )

    def test_permuted_elements(self) -> None:
        for dtype in _DTYPES:
            x = torch.arange(24, dtype=dtype).reshape(2, 3, 4)
            # 10 log10((0**2 + 1**2 + ... + 23**2) / (0**2 + 5**2 + 10**2 + ... + 0**2)) = 4.5.
            self.assertEqual(
                difference(x, x.reshape(4, 3, 2).permute(2, 1, 0)),
                "element [0, 0, 1] is 6, not 1; 22 of 24 elements differ, the largest difference is 15; SNR 4.5 dB",
            )

    def test_small_elements_beside_a_large_one(self) -> None:
        expected, actual = torch.ones(402), torch.full((402,), 1.09)
        expected[0] = actual[0] = 1000
        # 10 log10((10^6 + 401) / (401 * 0.09^2)) = 54.9.
        self.assertEqual(difference(expected, actual), "SNR 54.9 dB, less than 60 dB; the largest difference is 0.09")
        # An outlier that is close does not count.
        expected[1], actual[1] = 1e9, 1e9 + 64
        self.assertEqual(difference(expected, actual), "SNR 54.9 dB, less than 60 dB; the largest difference is 0.09")
        actual[1] = 1.1e9
        self.assertEqual(
            difference(expected, actual),
            "element [1] is 1.1e+09, not 1e+09; 1 of 402 elements differ, the largest difference is 1e+08; SNR 20.0 dB",
        )

    def test_masks(self) -> None:
        torch.manual_seed(0)
        logits = torch.rand(48, dtype=torch.float64) * 4 + 8
        mask = torch.arange(48) % 3 == 0
        for dtype, noise in zip(_DTYPES, (1e-6, 1e-6, 1e-3, 8e-3), strict=True):
            for fill in (-1e9 if dtype != torch.float16 else -5e4, torch.finfo(dtype).min, -math.inf):
                expected, right, permuted, filled = (
                    numbers.masked_fill(mask, value).to(dtype)
                    for numbers, value in (
                        (logits, fill),
                        (logits * (1 + noise * torch.randn(48).clamp(-1, 1)), fill),
                        (logits.flip(0), fill),
                        (logits, 0.0),
                    )
                )
                self.assertEqual(difference(expected, right), "", f"{dtype} {fill}")
                self.assertRegex(difference(expected, permuted), r"SNR 1\d\.\d dB", f"{dtype} {fill}")
                self.assertIn("16 of 48 elements differ", difference(expected, filled), f"{dtype} {fill}")
        one_wrong = logits.masked_fill(mask, -1e9)
        one_wrong[4] += 0.1
        self.assertRegex(difference(logits.masked_fill(mask, -1e9), one_wrong), r"^SNR 5\d\.\d dB, less than 60 dB; ")

    def test_sparse_outputs(self) -> None:
        torch.manual_seed(0)
        for tiny in (0.0, 1e-30, 1e-6, 1e-3, 0.5):
            for large in (2.0, 1e3, 1e9):
                expected = torch.full((100,), tiny)
                expected[3], expected[40], expected[41] = 0, large, -large / 3
                self.assertEqual(difference(expected, expected * (1 + 1e-6 * torch.rand(100))), "", f"{tiny} {large}")
                wrong = expected.clone()
                wrong[40] *= 1.001
                self.assertIn("1 of 100 elements differ", difference(expected, wrong), f"{tiny} {large}")
                wrong = expected + torch.tensor([0.06, -0.06]).repeat(50) * (torch.arange(100) > 90)
                self.assertEqual(difference(expected, wrong) == "", tiny == 0 and large > 600, f"{tiny} {large}")
        # The tiny elements differ by less than the absolute tolerance, the outlier by more.
        expected, actual = torch.full((100,), 1e-6), torch.full((100,), 3e-6)
        expected[0], actual[0] = 1000, 1000.01
        self.assertEqual(difference(expected, actual), "")

    def test_lower_median(self) -> None:
        # The elements that are not zero are 1, 1, 2000, 2000: the median is 1, and an element may be 0.1 away.
        expected = torch.tensor([1, 0, 2000, 0, math.nan, 1, math.inf, 2000])
        actual = expected.clone()
        actual[1] = 0.15
        self.assertIn("element [1] is 0.15, not 0; 1 of 8 elements differ", difference(expected, actual))
        # With three of 2000, an element may be 0.2 away.
        expected[3] = actual[3] = 2000
        self.assertEqual(difference(expected, actual), "")

    def test_float64_as_of_float32(self) -> None:
        number = torch.tensor([1.0, 1.0], dtype=torch.float64)
        self.assertEqual(difference(number, number * 1.00009), "")
        self.assertIn("2 of 2 elements differ", difference(number, number * 1.00011))

    def test_noise_below_the_absolute_tolerance(self) -> None:
        zeros, noise = torch.zeros(3, 4), torch.full((3, 4), 1e-8)
        self.assertEqual(difference(zeros, noise), "")
        self.assertEqual(difference(noise, zeros), "")
        self.assertRegex(difference(zeros, noise * 1e4), r"^element \[0, 0\] is 0.0001, not 0; .*; SNR -inf dB$")

    def test_numbers_that_are_not_finite(self) -> None:
        expected = torch.tensor([math.nan, math.inf, -math.inf, 1])
        self.assertEqual(difference(expected, expected * 1.00005), "")
        for index, number, found in (
            (0, 0.0, "element [0] is 0, not nan"),
            (1, -math.inf, "element [1] is -inf, not inf"),
            (2, 1e38, "element [2] is 1e+38, not -inf"),
            (3, math.nan, "element [3] is nan, not 1"),
            (3, math.inf, "element [3] is inf, not 1"),
        ):
            actual = expected.clone()
            actual[index] = number
            text = difference(expected, actual)
            self.assertIn(f"{found}; 1 of 4 elements differ, the largest difference is ", text)
            self.assertIn("; SNR -inf dB", text)

    def test_strides(self) -> None:
        x = torch.randn(2, 8, 3, 4)
        for same in (
            x.to(memory_format=torch.channels_last),
            x.mT.contiguous().mT,
            x.repeat_interleave(2, -1)[..., ::2],
        ):
            self.assertEqual(difference(x, same), "")
            self.assertEqual(difference(same, x), "")
        wrong = x.to(memory_format=torch.channels_last).clone()
        wrong[1, 2, 0, 3] += 100
        self.assertIn("element [1, 2, 0, 3] is ", difference(x, wrong))
        row = torch.arange(3.0)
        self.assertEqual(difference(row.expand(2, 3), row.repeat(2, 1)), "")
        self.assertEqual(difference(torch.randn(3, requires_grad=True) * 0, torch.zeros(3)), "")
        self.assertEqual(difference(torch.arange(4)[::4], torch.tensor([0])), "")

    def test_equal_dtypes(self) -> None:
        for dtype in (torch.int64, torch.int32, torch.uint8):
            x = torch.arange(6, dtype=dtype).reshape(2, 3)
            self.assertEqual(difference(x, x.mT.contiguous().mT), "")
            actual = x.clone()
            actual[1, 2] = 4
            self.assertEqual(difference(x, actual), "element [1, 2] is 4, not 5; 1 of 6 elements differ")
        large = torch.tensor([2**53, 7])  # float64 has no 2^53 + 1
        self.assertEqual(
            difference(large, large + torch.tensor([1, 0])),
            f"element [0] is {2**53 + 1}, not {2**53}; 1 of 2 elements differ",
        )
        self.assertEqual(
            difference(torch.tensor([True, False]), torch.tensor([True, True])),
            "element [1] is True, not False; 1 of 2 elements differ",
        )
        z = torch.tensor([1 + 2j, 3 - 4j])
        self.assertEqual(difference(z.conj().imag, -z.imag), "")
        self.assertEqual(difference(z.conj(), torch.tensor([1 - 2j, 3 + 4j])), "")
        self.assertIn("element [0] is (1-2j), not (1+2j); 2 of 2 ", difference(z, z.conj()))

    def test_other_kinds_of_tensors(self) -> None:
        x = torch.zeros(2, 3)
        self.assertEqual(difference(x.half(), x), "float32 [2, 3], not float16 [2, 3]")
        self.assertEqual(difference(x, x[0]), "float32 [3], not float32 [2, 3]")

    def test_sizes(self) -> None:
        for dtype in (torch.float32, torch.int64):
            self.assertEqual(difference(torch.zeros(0, 3, dtype=dtype), torch.zeros(0, 3, dtype=dtype)), "")
            one = torch.ones((), dtype=dtype)
            self.assertEqual(difference(one, one.clone()), "")
            self.assertIn("element [] is 2, not 1; 1 of 1 elements differ", difference(one, one * 2))


if __name__ == "__main__":
    absltest.main()
