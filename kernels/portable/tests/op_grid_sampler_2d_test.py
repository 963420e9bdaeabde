"""Tests of op_grid_sampler_2d.cpp: grid_sampler_2d.out."""

import itertools

import torch
from absl.testing import absltest

from kernels.testing import op_tester

BILINEAR, NEAREST, BICUBIC = range(3)
ZEROS, BORDER, REFLECTION = range(3)
MODES = tuple(itertools.product((BILINEAR, NEAREST, BICUBIC), (ZEROS, BORDER, REFLECTION), (False, True)))


def reference(
    x: torch.Tensor, grid: torch.Tensor, interpolation: int, padding: int, align_corners: bool
) -> torch.Tensor:
    """PyTorch's result in Float or Double: PyTorch computes positions in Half and BFloat16, the kernel in Float."""
    if not x.dtype.is_floating_point or grid.dtype != x.dtype:
        raise ValueError(f"expected floating-point input and grid of the same dtype, got {x.dtype} and {grid.dtype}")
    if interpolation not in range(3) or padding not in range(3):
        raise ValueError("unknown mode, which PyTorch does not check")
    dtype = torch.float64 if x.dtype == torch.float64 else torch.float32
    result = torch.ops.aten.grid_sampler_2d(x.to(dtype), grid.to(dtype), interpolation, padding, align_corners)
    return result.to(x.dtype)


class OpGridSampler2dTest(op_tester.OpTest):
    def sampler(self) -> op_tester.OpTester:
        return self.op("aten::grid_sampler_2d.out", reference=reference)

    def test_modes(self) -> None:
        sampler = self.sampler()
        for dtype, mode in itertools.product(op_tester.ALL_DTYPES, MODES):
            for shape in ((2, 3, 4, 5), (1, 1, 1, 1), (1, 2, 1, 6), (1, 1, 7, 2)):
                x = op_tester.make_tensor(shape, dtype)
                grid = op_tester.make_tensor((shape[0], 6, 7, 2), torch.float32, low=-2.5, high=2.5)
                tolerance = 1e-2 if dtype.itemsize == 2 else 1e-4
                error = {"rtol": tolerance, "atol": tolerance}
                sampler.judge(x, grid, *mode, **error)
                sampler.judge(x, grid.to(dtype), *mode, **error)

    def test_half_as_in_pytorch(self) -> None:
        """Compares with PyTorch's Half and BFloat16, at positions that these dtypes represent exactly."""
        sampler = self.op("aten::grid_sampler_2d.out")
        steps = torch.tensor([-1.5, -1, -0.75, -0.5, -0.25, 0, 0.25, 0.5, 1, 1.25])
        grid = torch.cartesian_prod(steps, steps).reshape(1, 10, 10, 2)
        for dtype, mode in itertools.product((torch.float16, torch.bfloat16), MODES):
            if mode[0] == NEAREST:  # PyTorch rounds positions halfway between two elements inconsistently
                continue
            x = op_tester.make_tensor((1, 2, 5, 9), dtype)
            # For bicubic, PyTorch rounds each product and each sum.
            sampler.check(x, grid.to(dtype), *mode, rtol=2e-2, atol=0.4 if mode[0] == BICUBIC else 0.1)

    def test_positions(self) -> None:
        """Tests the positions of elements, and the positions halfway between two elements."""
        sampler = self.sampler()
        for size, align, padding in itertools.product((1, 2, 4, 5, 8), (False, True), range(3)):
            steps = torch.arange(-2 * size, 4 * size) / 2
            steps = steps / max(size - 1, 1) * 2 - 1 if align else (2 * steps + 1) / size - 1
            grid = torch.stack([steps, torch.zeros_like(steps)], 1)[None, None]
            x = op_tester.make_tensor((1, 1, 1, size), torch.float64)
            for interpolation in (BILINEAR, BICUBIC):
                sampler.check(x, grid.double(), interpolation, padding, align)

    def test_special_values(self) -> None:
        sampler = self.sampler()
        nan, inf = float("nan"), float("inf")
        points = torch.tensor([[nan, 0], [0, nan], [nan, nan], [inf, 0], [-inf, 0], [0, inf], [1e30, 0], [0, -1e30]])
        x = op_tester.make_tensor((1, 2, 4, 4), torch.float32)
        for mode in MODES:
            if mode[1] == REFLECTION:  # PyTorch's remainder of a large number is different
                points = points[:6]
            sampler.check(x, points[None, None], *mode, rtol=1e-4, atol=1e-5)
        values = op_tester.special_values(torch.float32)
        x = torch.cat([values, values[:1]]).reshape(1, 1, 3, 6)
        for mode in MODES:
            if mode[0] != BICUBIC:  # sums of infinities depend on the order
                sampler.check(x, op_tester.make_tensor((1, 3, 4, 2), torch.float32, low=-1, high=1), *mode)

    def test_dim_orders(self) -> None:
        sampler = self.sampler()
        for x_order, grid_order, out_order in itertools.product(op_tester.dim_orders(4), repeat=3):
            x = op_tester.make_tensor((2, 3, 4, 5), torch.float32, dim_order=x_order)
            grid = op_tester.make_tensor((2, 6, 7, 2), torch.float32, dim_order=grid_order, low=-2, high=2)
            sampler.check(x, grid, BILINEAR, ZEROS, False, out_dim_order=out_order, static=True, rtol=1e-4, atol=1e-5)

    def test_shapes(self) -> None:
        sampler = self.sampler()
        shapes = ((0, 1, 4, 4), (1, 0, 4, 4), (1, 1, 0, 4), (1, 1, 4, 0), (1, 1, 4), (2, 1, 4, 4), (1, 1, 4, 4, 4))
        grids = ((1, 2, 2, 2), (0, 2, 2, 2), (2, 2, 2, 2), (1, 0, 2, 2), (1, 2, 0, 2), (1, 2, 2, 3), (1, 2, 2))
        for shape, grid_shape in itertools.product((*shapes, (1, 1, 4, 4)), grids):
            sampler.judge(torch.ones(shape), torch.zeros(grid_shape), BILINEAR, ZEROS, False)

    def test_rejected(self) -> None:
        sampler = self.sampler()
        x, grid = torch.ones(1, 1, 4, 4), torch.zeros(1, 4, 4, 2)
        for interpolation, padding in ((-1, 0), (3, 0), (0, -1), (0, 3), (1 << 40, 0), (0, 1 << 40)):
            sampler.judge(x, grid, interpolation, padding, False)
        for x_dtype, grid_dtype in itertools.product((*op_tester.ALL_DTYPES, *op_tester.UNSUPPORTED_DTYPES), repeat=2):
            sampler.judge(x.to(x_dtype), grid.to(grid_dtype), BILINEAR, ZEROS, False)
        sampler.check_rejected(x, grid, BILINEAR, ZEROS, False, outs=[x.double()])
        sampler.check_rejected(x, grid, BILINEAR, ZEROS, False, outs=[torch.ones(1, 1, 4, 3)], static=True)


if __name__ == "__main__":
    absltest.main()
