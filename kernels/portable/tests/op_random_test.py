"""Tests of the operators that return random numbers: rand, randn, randint, normal, uniform, exponential, randperm,
multinomial and native_dropout.

The bounds are chosen so that a correct kernel fails less than once in a million runs, for independent numbers of the
distribution.
"""

import math
from collections.abc import Callable
from typing import Any

import torch
from absl.testing import absltest

from kernels.testing import op_call, op_tester

COUNT = 200_000
SIGMAS = 5.5  # a normal variable exceeds this with a probability of less than 1e-7
KOLMOGOROV = 2.9  # the probability of a larger sup|F_n - F| * sqrt(n) is 2 * exp(-2 * 2.9 ** 2)
# The probability that chi2 with k degrees of freedom exceeds k + CHI * sqrt(2k) + CHI * CHI is less than
# exp(-CHI * CHI / 2) (Laurent and Massart).
CHI = 5.5
SIZES: tuple[list[int], ...] = ([], [0], [1], [7], [2, 0, 3], [3, 4, 5], [1000])


def exponential_cdf(x: torch.Tensor) -> torch.Tensor:
    return 1 - torch.exp(-x)


def normal_cdf(x: torch.Tensor) -> torch.Tensor:
    return (1 + torch.erf(x / math.sqrt(2))) / 2


class OpRandomTest(op_tester.OpTest):
    def draw(self, name: str, size: list[int], dtype: torch.dtype = torch.float32) -> torch.Tensor:
        (result,) = self.op(name).run(size, outs=[torch.empty(size, dtype=dtype)])
        self.assertEqual(list(result.shape), size)
        return result

    def check_distribution(
        self, x: torch.Tensor, cdf: Callable[[torch.Tensor], torch.Tensor], mean: float, variance: float, step: float
    ) -> None:
        """Checks mean, variance, distribution and autocorrelation.

        `step` is the additional distance of the distributions from rounding to the dtype.
        """
        x = x.double().flatten()
        n = x.numel()
        self.assertLess(abs(x.mean().item() - mean), SIGMAS * math.sqrt(variance / n) + step)
        deviation = ((x - mean) ** 2).std().item()
        self.assertLess(abs(((x - mean) ** 2).mean().item() - variance), SIGMAS * deviation / math.sqrt(n) + step)
        expected = cdf(x.sort().values)
        ranks = torch.arange(n, dtype=torch.float64)
        distance = torch.maximum((expected - ranks / n).abs(), ((ranks + 1) / n - expected).abs()).max().item()
        self.assertLess(distance, KOLMOGOROV / math.sqrt(n) + step)
        centered = (x - mean) / math.sqrt(variance)
        for lag in (1, 2, 3, 16, 64, 255, 256, 257):
            self.assertLess(abs((centered[lag:] * centered[:-lag]).mean().item()), SIGMAS / math.sqrt(n - lag) + step)

    def run_on(self, name: str, x: torch.Tensor, *arguments: Any, **options: Any) -> torch.Tensor:
        """The result of an operator with the dtype and the shape of `x`."""
        (result,) = self.op(name).run(x, *arguments, outs=[x], **options)
        self.assertEqual(result.shape, x.shape)
        return result

    def check_frequencies(self, found: torch.Tensor, probabilities: torch.Tensor) -> None:
        """Checks by Pearson's test that whole numbers from 0 on have the probabilities."""
        counts = found.flatten().bincount(minlength=probabilities.numel()).double()
        self.assertEqual(counts.numel(), probabilities.numel())
        expected = probabilities.double() / probabilities.double().sum() * found.numel()
        self.assertEqual(counts[expected == 0].sum().item(), 0)
        counts, expected = counts[expected > 0], expected[expected > 0]
        freedom = expected.numel() - 1
        distance = ((counts - expected) ** 2 / expected).sum().item()
        self.assertLess(distance, freedom + CHI * math.sqrt(2 * freedom) + CHI * CHI)

    def test_uniform(self) -> None:
        for dtype in op_tester.FLOAT_DTYPES:
            x = self.draw("aten::rand.out", [COUNT], dtype)
            self.assertGreaterEqual(x.min().item(), 0)
            self.assertLess(x.max().item(), 1)
            step = max(2 * torch.finfo(dtype).eps, 0)
            self.check_distribution(x, lambda x: x, 0.5, 1 / 12, step)

    def test_normal(self) -> None:
        for dtype in op_tester.FLOAT_DTYPES:
            x = self.draw("aten::randn.out", [COUNT], dtype)
            self.assertTrue(x.isfinite().all())
            self.check_distribution(x, normal_cdf, 0, 1, 2 * torch.finfo(dtype).eps)

    def test_like(self) -> None:
        for dtype in op_tester.FLOAT_DTYPES:
            step = 2 * torch.finfo(dtype).eps
            x = torch.empty(COUNT // 100, 100, dtype=dtype)
            self.check_distribution(self.run_on("aten::rand_like.out", x), lambda x: x, 0.5, 1 / 12, step)
            self.check_distribution(self.run_on("aten::randn_like.out", x), normal_cdf, 0, 1, step)

    def test_uniform_range(self) -> None:
        for dtype in op_tester.FLOAT_DTYPES:
            x = self.run_on("aten::uniform.out", torch.empty(COUNT, dtype=dtype), -3.0, 5.0)
            self.assertGreaterEqual(x.min().item(), -3)
            self.assertLessEqual(x.max().item(), 5)
            self.check_distribution((x.double() + 3) / 8, lambda x: x, 0.5, 1 / 12, 2 * torch.finfo(dtype).eps)

    def test_exponential(self) -> None:
        for dtype in op_tester.FLOAT_DTYPES:
            for rate in (0.5, 1.0, 4.0):
                x = self.run_on("aten::exponential.out", torch.empty(COUNT, dtype=dtype), rate)
                self.assertTrue(x.isfinite().all())
                self.assertGreaterEqual(x.min().item(), 0)
                self.check_distribution(x.double() * rate, exponential_cdf, 1, 1, 4 * torch.finfo(dtype).eps)

    def test_normal_parameters(self) -> None:
        for dtype in op_tester.FLOAT_DTYPES:
            step = 8 * torch.finfo(dtype).eps
            x = torch.empty(COUNT, dtype=dtype)
            mean, deviation = torch.full((COUNT,), 1.0, dtype=dtype), torch.full((COUNT,), 2.0, dtype=dtype)
            for name, *arguments in (
                ("Tensor_Tensor", mean, deviation),
                ("Tensor_Tensor", mean[:1], deviation.float()),
                ("Tensor_float", mean, 2.0),
                ("float_Tensor", 1.0, deviation),
                ("float_float", 1.0, 2.0, [COUNT]),
            ):
                (result,) = self.op(f"aten::normal.{name}_out").run(*arguments, outs=[x])
                self.check_distribution((result.double() - 1) / 2, normal_cdf, 0, 1, step)

    def test_integers(self) -> None:
        for dtype in op_tester.ALL_DTYPES:
            low, high = (0, 2) if dtype == torch.bool else (3, 103)
            x = torch.empty(COUNT, dtype=dtype)
            for name, *arguments in (("randint", low, high, [COUNT]), ("randint_like", x, low, high)):
                overload = "low_out" if name == "randint" else "low_dtype_out"
                (result,) = self.op(f"aten::{name}.{overload}").run(*arguments, outs=[x])
                self.check_frequencies(result.long() - low, torch.ones(high - low))
            for name, *arguments in (("randint", high, [COUNT]), ("randint_like", x, high)):
                (result,) = self.op(f"aten::{name}.out").run(*arguments, outs=[x])
                self.check_frequencies(result.long(), torch.ones(high))

    def test_ranges_of_integers(self) -> None:
        randint = self.op("aten::randint.low_out")
        for dtype in (*op_tester.INT_DTYPES, torch.bool):
            info = torch.iinfo(torch.uint8 if dtype == torch.bool else dtype)
            lowest, highest = (0, 1) if dtype == torch.bool else (info.min, info.max)
            end = highest if dtype == torch.int64 else highest + 1
            (x,) = randint.run(lowest, end, [5000], outs=[torch.empty(5000, dtype=dtype)])
            if dtype.itemsize == 1:
                self.assertEqual(x.unique().numel(), highest - lowest + 1)
            self.assertLess(abs((x.double() / 2**52 < (lowest + highest + 1) / 2**53).double().mean() - 0.5), 0.05)
            for low in (lowest, highest - 1):
                (x,) = randint.run(low, low + 1, [100], outs=[torch.empty(100, dtype=dtype)])
                self.assertTrue((x == low).all())
            if dtype != torch.int64:
                randint.check_rejected(lowest - 1, lowest + 1, [3], outs=[torch.empty(3, dtype=dtype)])
                randint.check_rejected(lowest, highest + 2, [3], outs=[torch.empty(3, dtype=dtype)])
        half = torch.empty(3, dtype=torch.float16)
        randint.run(-65504, 65505, [3], outs=[half])
        randint.check_rejected(0, 65506, [3], outs=[half])
        for low, high in ((3, 3), (4, 3)):
            randint.check_rejected(low, high, [3], outs=[torch.ones(3).long()])
        for dtype in op_tester.UNSUPPORTED_DTYPES:
            randint.check_rejected(0, 2, [3], outs=[torch.ones(3, dtype=dtype)])

    def test_permutations(self) -> None:
        randperm = self.op("aten::randperm.out")
        for dtype in op_tester.ALL_DTYPES[:-1]:
            for n in (0, 1, 2, 100, 127):
                (x,) = randperm.run(n, outs=[torch.empty(n, dtype=dtype)])
                self.assertEqual(x.sort().values.tolist(), [*range(n)])
        draws = torch.stack([randperm.run(4, outs=[torch.empty(4).long()])[0] for _ in range(20_000)])
        # All orders are equally likely.
        number = (draws * torch.tensor([64, 16, 4, 1])).sum(1)
        _, orders = number.unique(return_inverse=True)
        self.check_frequencies(orders, torch.ones(24))
        (x,) = randperm.run(50_000, outs=[torch.empty(50_000).long()])
        self.assertTrue(torch.equal(x.sort().values, torch.arange(50_000)))
        self.check_distribution((x + 0.5) / 50_000, lambda x: x, 0.5, 1 / 12, 1e-4)
        for dtype, n in ((torch.uint8, 257), (torch.int8, 129), (torch.float16, 2050), (torch.int64, -1)):
            randperm.check_rejected(n, outs=[torch.empty(0, dtype=dtype)])
        for dtype, n in ((torch.uint8, 256), (torch.int8, 128)):
            (x,) = randperm.run(n, outs=[torch.empty(n, dtype=dtype)])
            self.assertEqual(x.sort().values.tolist(), [*range(n)])
        for dtype in (torch.bool, *op_tester.UNSUPPORTED_DTYPES):
            randperm.check_rejected(2, outs=[torch.empty(2, dtype=dtype)])

    def draw_categories(self, weights: torch.Tensor, count: int, replacement: bool) -> torch.Tensor:
        size = [*weights.shape[:-1], count]
        (x,) = self.op("aten::multinomial.out").run(weights, count, replacement, outs=[torch.empty(size).long()])
        self.assertEqual(list(x.shape), size)
        return x

    def test_multinomial(self) -> None:
        weights = torch.tensor([0.0, 3.0, 1.0, 0.0, 2.0, 0.5, 0.0])
        for dtype in op_tester.FLOAT_DTYPES:
            self.check_frequencies(self.draw_categories(weights.to(dtype), COUNT, True), weights)
            rows = torch.stack([weights, weights.flip(0)]).to(dtype)
            for line in (rows, rows.T.contiguous().T):
                x = self.draw_categories(line, COUNT // 2, True)
                self.check_frequencies(x[0], weights)
                self.check_frequencies(x[1], weights.flip(0))
            # The first of several without repetition has the probabilities of the weights.
            many = weights.to(dtype).expand(20_000, 7).contiguous()
            for count in (1, 3):
                x = self.draw_categories(many, count, False)
                self.check_frequencies(x[:, 0], weights)
                self.assertTrue((x.sort(1).values.diff(dim=1) > 0).all())

    def test_multinomial_pairs(self) -> None:
        """Tests that the second of two without repetition has the probabilities of the other weights."""
        weights = torch.tensor([3.0, 1.0, 2.0])
        x = self.draw_categories(weights.expand(60_000, 3).contiguous(), 2, False)
        probabilities = torch.zeros(3, 3)
        for first in range(3):
            for second in {0, 1, 2} - {first}:
                probabilities[first, second] = weights[first] / 6 * weights[second] / (6 - weights[first])
        self.check_frequencies(x[:, 0] * 3 + x[:, 1], probabilities.flatten())

    def test_multinomial_rejected(self) -> None:
        multinomial = self.op("aten::multinomial.out")
        for line in ([0.0, 0.0], [1.0, -1.0], [1.0, float("nan")], [1.0, float("inf")]):
            for replacement in (False, True):
                multinomial.check_rejected(torch.tensor(line), 1, replacement)
                multinomial.check_rejected(torch.tensor(line), 1, replacement, outs=[torch.tensor([0])])
        x = torch.ones(3)
        for count, replacement in ((0, False), (-1, True), (4, False)):
            multinomial.check_rejected(x, count, replacement, outs=[torch.ones(4).long()])
        for wrong in (torch.tensor(1.0), torch.ones(1, 1, 3), torch.ones(3, 0)):
            multinomial.check_rejected(wrong, 1, True, outs=[torch.ones(1).long()])
        for dtype in (*op_tester.INT_DTYPES, torch.bool, *op_tester.UNSUPPORTED_DTYPES):
            multinomial.check_rejected(x.to(dtype), 1, True, outs=[torch.ones(1).long()])
        multinomial.check_rejected(x, 1, True, outs=[torch.ones(1)])
        self.assertEqual(self.draw_categories(torch.ones(0, 3), 2, True).shape, (0, 2))

    def test_parameters_rejected(self) -> None:
        x = torch.ones(3)
        nan, inf = float("nan"), float("inf")
        for name, *arguments in (
            ("uniform.out", x, 1.0, 0.0),
            ("uniform.out", x, nan, 1.0),
            ("uniform.out", x, 0.0, inf),
            ("uniform.out", x.half(), 0.0, 1e5),
            ("exponential.out", x, 0.0),
            ("exponential.out", x, -1.0),
            ("exponential.out", x, nan),
            ("normal.Tensor_Tensor_out", x, -x),
            ("normal.Tensor_Tensor_out", x, x * nan),
            ("normal.Tensor_Tensor_out", x, torch.ones(2)),
            ("normal.Tensor_float_out", x, -1.0),
            ("normal.float_Tensor_out", 0.0, -x),
            ("normal.float_float_out", 0.0, -1.0, [3]),
        ):
            out = next((argument for argument in arguments if isinstance(argument, torch.Tensor)), x)
            self.op(f"aten::{name}").check_rejected(*arguments, outs=[torch.empty_like(out)])
        for dtype in (*op_tester.INT_DTYPES, torch.bool, *op_tester.UNSUPPORTED_DTYPES):
            other = torch.ones(3, dtype=dtype)
            for name, *arguments in (
                ("uniform.out", other, 0.0, 1.0),
                ("exponential.out", other),
                ("rand_like.out", other),
                ("randn_like.out", other),
                ("normal.Tensor_float_out", other, 1.0),
                ("normal.float_float_out", 0.0, 1.0, [3]),
            ):
                self.op(f"aten::{name}").check_rejected(*arguments, outs=[other])

    def draw_with_seed(self, seed: int, threads: int) -> list[torch.Tensor]:
        """The results of two calls of each operator, large enough for several threads."""
        x = torch.zeros(300, 300)
        long = x.long()
        order, chosen = torch.empty(5000).long(), torch.empty(300, 50).long()
        calls: list[tuple[str, torch.Tensor, tuple[Any, ...]]] = [
            ("rand.out", x, ([300, 300],)),
            ("randn.out", x, ([300, 300],)),
            ("rand_like.out", x, (x,)),
            ("randn_like.out", x, (x,)),
            ("uniform.out", x, (x, 0.0, 2.0)),
            ("exponential.out", x, (x,)),
            ("randint_like.out", long, (long, 1 << 40)),
            ("randint_like.low_dtype_out", long, (long, -5, 1 << 40)),
            ("randint.out", long, (1 << 40, [300, 300])),
            ("randint.low_out", long, (-5, 1 << 40, [300, 300])),
            ("normal.Tensor_Tensor_out", x, (x, x + 1)),
            ("normal.Tensor_float_out", x, (x, 1.0)),
            ("normal.float_Tensor_out", x, (0.0, x + 1)),
            ("normal.float_float_out", x, (0.0, 1.0, [300, 300])),
            ("randperm.out", order, (5000,)),
            ("multinomial.out", chosen, (x + 1, 50, True)),
            ("multinomial.out", chosen, (x + 1, 50, False)),
        ]
        draws = []
        op_call.set_random_seed(seed)
        with op_call.threads(threads):
            for name, out, arguments in calls * 2:
                with self.op(f"aten::{name}").prepare(*arguments, outs=[out]) as call:
                    call.run()
                    draws += call.results()
        return draws

    def test_seed(self) -> None:
        """Tests that a seed determines the numbers, on any number of threads, and that calls and seeds differ."""
        draws = self.draw_with_seed(7, threads=1)
        for i, (first, again, on_threads, of_next, of_high) in enumerate(
            zip(
                draws,
                self.draw_with_seed(7, threads=1),
                self.draw_with_seed(7, threads=3),
                self.draw_with_seed(8, threads=1),
                self.draw_with_seed(7 + (1 << 40), threads=1),
                strict=True,
            )
        ):
            self.assertTrue(torch.equal(again, first), i)
            self.assertTrue(torch.equal(on_threads, first), i)
            self.assertFalse(torch.equal(of_next, first), i)
            self.assertFalse(torch.equal(of_high, first), i)
            self.assertFalse(torch.equal(draws[(i + len(draws) // 2) % len(draws)], first), i)

    def test_values_use_the_whole_dtype(self) -> None:
        x = self.draw("aten::rand.out", [COUNT], torch.float64)
        self.assertEqual(x.unique().numel(), COUNT)
        self.assertFalse(torch.equal(x, x.float().double()))
        for dtype, count in ((torch.bfloat16, 256), (torch.float16, 2048)):
            self.assertEqual(self.draw("aten::rand.out", [COUNT], dtype).unique().numel(), count)

    def test_calls_differ(self) -> None:
        for name in ("aten::rand.out", "aten::randn.out"):
            draws = torch.stack([self.draw(name, [1000]) for _ in range(50)])
            self.assertEqual(draws[:, 0].unique().numel(), 50)
            correlation = torch.corrcoef(draws) - torch.eye(50)
            self.assertLess(correlation.abs().max().item(), SIGMAS / math.sqrt(1000))

    def test_sizes(self) -> None:
        for name in ("aten::rand.out", "aten::randn.out"):
            for dtype in op_tester.FLOAT_DTYPES:
                for size in SIZES:
                    self.draw(name, size, dtype)
                order = [2, 1, 0]
                outs = [torch.empty(3, 4, 5, dtype=dtype)]
                (x,) = self.op(name).run([3, 4, 5], outs=outs, out_dim_order=order, static=True)
                self.assertGreater(x.float().std().item(), 0.1)
            tester = self.op(name)
            for size in ([-1], [2, -3], [1 << 40], [1] * 20):
                tester.check_rejected(size, outs=[torch.ones(1)])
            tester.check_rejected([3], outs=[torch.ones(2)], static=True)
            for dtype in (*op_tester.INT_DTYPES, torch.bool, *op_tester.UNSUPPORTED_DTYPES):
                tester.check_rejected([2], outs=[torch.ones(2, dtype=dtype)])

    def drop(self, x: torch.Tensor, p: float, train: bool | None) -> list[torch.Tensor]:
        outs = [torch.empty_like(x), torch.empty(x.shape, dtype=torch.bool)]
        return self.op("aten::native_dropout.out").run(x, p, train, outs=outs)

    def test_dropout(self) -> None:
        for dtype in op_tester.FLOAT_DTYPES:
            for p in (0.0, 0.1, 0.5, 0.99, 1.0):
                x = op_tester.make_tensor((COUNT // 100, 100), dtype, low=0.5, high=4)
                for train in (True, None):
                    out, mask = self.drop(x, p, train)
                    kept = mask.double().mean().item()
                    self.assertLessEqual(abs(kept - (1 - p)), SIGMAS * math.sqrt(p * (1 - p) / COUNT))
                    scale = 1 / (1 - p) if p < 1 else 0
                    expected = (x.double() * mask * scale).to(dtype)
                    torch.testing.assert_close(out, expected, rtol=1e-2 if dtype.itemsize == 2 else 1e-6, atol=0)

    def test_masks_differ(self) -> None:
        masks = torch.stack([self.drop(torch.ones(1000), 0.5, True)[1] for _ in range(50)])
        self.assertEqual(masks.unique(dim=0).shape[0], 50)

    def test_dropout_shapes(self) -> None:
        dropout = self.op("aten::native_dropout.out")
        for size in SIZES:
            x = op_tester.make_tensor(size, torch.float32, low=1)
            out, mask = self.drop(x, 0.5, True)
            torch.testing.assert_close(out, x * mask * 2)
        for order in op_tester.dim_orders(3):
            x = op_tester.make_tensor((3, 4, 5), torch.float32, dim_order=order, low=1)
            outs = [x, x.bool()]
            out, mask = dropout.run(x, 0.5, True, outs=outs, out_dim_order=[2, 1, 0], static=True)
            torch.testing.assert_close(out, x * mask * 2)

    def test_dropout_of_nothing(self) -> None:
        dropout = self.op("aten::native_dropout.out")
        for dtype in op_tester.ALL_DTYPES:
            for p in (0.0, 0.5, 1.0, 5.0):
                for order in op_tester.dim_orders(4):
                    x = op_tester.make_tensor((2, 3, 4, 5), dtype, dim_order=order)
                    dropout.check(x, p, False, exact=True)

    def test_dropout_rejected(self) -> None:
        dropout = self.op("aten::native_dropout.out")
        x = torch.ones(2, 3)
        for p in (-0.1, 1.1, float("nan"), float("inf")):
            dropout.check_rejected(x, p, True, outs=[x, x.bool()])
        for dtype in (*op_tester.INT_DTYPES, torch.bool):
            dropout.check_rejected(x.to(dtype), 0.5, True, outs=[x.to(dtype), x.bool()])
        for dtype in op_tester.UNSUPPORTED_DTYPES:
            dropout.check_rejected(x.to(dtype), 0.5, False, outs=[x.to(dtype), x.bool()])
        dropout.check_rejected(x, 0.5, True, outs=[x.double(), x.bool()])
        dropout.check_rejected(x, 0.5, True, outs=[x, x])
        dropout.check_rejected(x, 0.5, True, outs=[x, torch.ones(2, 2).bool()], static=True)


if __name__ == "__main__":
    absltest.main()
