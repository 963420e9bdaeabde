"""Tests of op_grid_sampler_3d.cpp: grid_sampler_3d.out."""

import itertools

import torch
from absl.testing import absltest

from kernels.testing import op_tester

BILINEAR, NEAREST = range(2)
ZEROS, BORDER, REFLECTION = range(3)
MODES = tuple(itertools.product((BILINEAR, NEAREST), (ZEROS, BORDER, REFLECTION), (False, True)))


def reference(
    x: torch.Tensor, grid: torch.Tensor, interpolation: int, padding: int, align_corners: bool
) -> torch.Tensor:
    """PyTorch's result in Float or Double: the kernel computes positions of Half and BFloat16 in Float."""
    if not x.dtype.is_floating_point or grid.dtype != x.dtype:
        raise ValueError(f"expected floating-point input and grid of the same dtype, got {x.dtype} and {grid.dtype}")
    if interpolation not in range(2) or padding not in range(3):
        raise ValueError("unknown mode, which PyTorch does not check")
    dtype = torch.float64 if x.dtype == torch.float64 else torch.float32
    result = torch.ops.aten.grid_sampler_3d(x.to(dtype), grid.to(dtype), interpolation, padding, align_corners)
    return result.to(x.dtype)


class OpGridSampler3dTest(op_tester.OpTest):
    def sampler(self) -> op_tester.OpTester:
        return self.op("aten::grid_sampler_3d.out", reference=reference)

    def test_modes(self) -> None:
        sampler = self.sampler()
        for dtype, mode in itertools.product(op_tester.ALL_DTYPES, MODES):
            for shape in ((2, 3, 4, 5, 3), (1, 1, 1, 1, 1), (1, 2, 1, 6, 2)):
                x = op_tester.make_tensor(shape, dtype)
                grid = op_tester.make_tensor((shape[0], 3, 6, 7, 3), torch.float32, low=-2.5, high=2.5)
                tolerance = 1e-2 if dtype.itemsize == 2 else 1e-4
                error = {"rtol": tolerance, "atol": tolerance}
                sampler.judge(x, grid, *mode, **error)
                sampler.judge(x, grid.to(dtype), *mode, **error)

    def test_special_values(self) -> None:
        nan, inf = float("nan"), float("inf")
        points = torch.cartesian_prod(*[torch.tensor([nan, 0, inf, -inf])] * 3)
        x = op_tester.make_tensor((1, 2, 4, 4, 4), torch.float32)
        for mode in MODES:
            if mode[1] != REFLECTION:  # PyTorch's remainder of an infinity is different
                self.sampler().check(x, points[None, None, None], *mode, rtol=1e-4, atol=1e-5)

    def test_dim_orders(self) -> None:
        orders = ((0, 1, 2, 3, 4), (0, 2, 3, 4, 1), (4, 3, 2, 1, 0))
        for x_order, grid_order, out_order in itertools.product(orders, repeat=3):
            x = op_tester.make_tensor((2, 3, 4, 5, 3), torch.float32, dim_order=x_order)
            grid = op_tester.make_tensor((2, 2, 6, 7, 3), torch.float32, dim_order=grid_order, low=-2, high=2)
            self.sampler().check(
                x, grid, BILINEAR, ZEROS, False, out_dim_order=out_order, static=True, rtol=1e-4, atol=1e-5
            )

    def test_rejected(self) -> None:
        sampler = self.sampler()
        x, grid = torch.ones(1, 1, 4, 4, 4), torch.zeros(1, 4, 4, 4, 3)
        for interpolation, padding in ((-1, 0), (2, 0), (3, 0), (0, -1), (0, 3)):
            sampler.judge(x, grid, interpolation, padding, False)
        for shape in (
            (0, 1, 4, 4, 4),
            (1, 0, 4, 4, 4),
            (1, 1, 0, 4, 4),
            (1, 1, 4, 4, 0),
            (1, 1, 4, 4),
            (2, 1, 4, 4, 4),
        ):
            sampler.judge(torch.ones(shape), grid, BILINEAR, ZEROS, False)
        for shape in ((1, 4, 4, 4, 2), (2, 4, 4, 4, 3), (1, 0, 4, 4, 3), (1, 4, 4, 3)):
            sampler.judge(x, torch.zeros(shape), BILINEAR, ZEROS, False)
        sampler.check_rejected(x, grid, BILINEAR, ZEROS, False, outs=[x.double()])


if __name__ == "__main__":
    absltest.main()
