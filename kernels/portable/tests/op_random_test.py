"""Tests of the operators that return random numbers: rand.out, randn.out and native_dropout.out.

The bounds are chosen so that a correct kernel fails less than once in a million runs, for independent numbers of the
distribution.
"""

import math
from collections.abc import Callable

import torch
from absl.testing import absltest

from kernels.testing import op_tester

COUNT = 200_000
SIGMAS = 5.5  # a normal variable exceeds this with a probability of less than 1e-7
KOLMOGOROV = 2.9  # the probability of a larger sup|F_n - F| * sqrt(n) is 2 * exp(-2 * 2.9 ** 2)
SIZES: tuple[list[int], ...] = ([], [0], [1], [7], [2, 0, 3], [3, 4, 5], [1000])


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
