"""Tests of the operators that resize images."""

import itertools
from typing import Any

import torch
from absl.testing import absltest

from kernels.testing import op_tester

SIZES = (
    ([7, 9], None), ([4, 5], None), ([2, 3], None), ([1, 1], None), (None, [2.0, 2.0]), (None, [1.5, 0.7]),
    (None, [2.3, 3.1]), ([0, 2], None), ([2], None), (None, [2.0]), (None, [-1.0, 2.0]), (None, None),
)  # fmt: skip


def schema(name: str) -> str:
    packet, overload = name.removeprefix("aten::").split(".")
    return str(getattr(getattr(torch.ops.aten, packet), overload)._schema)


class OpUpsampleTest(op_tester.OpTest):
    def test_nearest(self) -> None:
        name = "aten::upsample_nearest2d.vec_out"
        nearest = self.op(name, schema=schema(name), reference=torch.ops.aten.upsample_nearest2d.vec)
        for size, scales in SIZES:
            for dtype in (*op_tester.FLOAT_DTYPES, torch.uint8):
                nearest.judge(op_tester.make_tensor((2, 3, 4, 5), dtype), size, scales, exact=True)
            for order in op_tester.dim_orders(4):
                nearest.judge(op_tester.make_tensor((2, 3, 4, 5), torch.float32, dim_order=order), size, scales)
        for shape in ((0, 3, 4, 5), (2, 0, 4, 5), (2, 3, 0, 5), (3, 4, 5), (2, 3, 4, 5, 6)):
            nearest.judge(torch.ones(shape), [7, 9], None)

    def test_bilinear(self) -> None:
        name = "aten::upsample_bilinear2d.vec_out"
        bilinear = self.op(name, schema=schema(name), reference=torch.ops.aten.upsample_bilinear2d.vec)
        for align in (False, True):
            for size, scales in SIZES:
                for dtype in op_tester.FLOAT_DTYPES:
                    x = op_tester.make_tensor((2, 3, 4, 5), dtype)
                    bilinear.judge(x, size, align, scales, rtol=1e-2, atol=1e-2 if dtype.itemsize == 2 else 1e-5)
                for order in op_tester.dim_orders(4):
                    x = op_tester.make_tensor((2, 3, 4, 5), torch.float32, dim_order=order)
                    bilinear.judge(x, size, align, scales, out_dim_order=order, rtol=1e-5, atol=1e-5)
        for shape in ((0, 3, 4, 5), (2, 0, 4, 5), (2, 3, 0, 5), (3, 4, 5), (2, 3, 4, 5, 6)):
            bilinear.judge(torch.ones(shape), [7, 9], False, None)
        for dtype in (torch.bool, *op_tester.UNSUPPORTED_DTYPES):
            x = torch.ones((1, 1, 2, 2), dtype=dtype)
            bilinear.check_rejected(x, [2, 2], False, None, outs=[x])

    def test_bilinear_integers(self) -> None:
        """Compares with rounded results in Double. PyTorch only supports Byte, and rounds the weights."""

        def reference(x: torch.Tensor, *args: Any) -> torch.Tensor:
            return torch.ops.aten.upsample_bilinear2d.vec(x.double(), *args).round().to(x.dtype)

        name = "aten::upsample_bilinear2d.vec_out"
        bilinear = self.op(name, schema=schema(name), reference=reference)
        for align, (size, scales), dtype in itertools.product((False, True), SIZES, op_tester.INT_DTYPES):
            # A value near the midpoint of two integers may be rounded to either.
            bilinear.judge(op_tester.make_tensor((2, 3, 4, 5), dtype), size, align, scales, rtol=0, atol=1)
        for dtype in op_tester.INT_DTYPES:
            info = torch.iinfo(dtype)
            for value in (info.min, info.max):
                x = torch.full((1, 1, 3, 3), value, dtype=dtype)
                (result,) = bilinear.run(x, [5, 5], False, None, outs=[torch.empty((1, 1, 5, 5), dtype=dtype)])
                error = (result.double() - float(value)).abs().max().item()
                self.assertLessEqual(error, 0 if dtype != torch.int64 else 2**53)
        x = op_tester.make_tensor((1, 3, 9, 11), torch.uint8, low=0, high=255)
        expected = torch.ops.aten.upsample_bilinear2d.vec(x, [14, 5], False, None)
        (result,) = bilinear.run(x, [14, 5], False, None, outs=[expected])
        torch.testing.assert_close(result, expected, rtol=0, atol=1)

    def test_antialiased_bicubic(self) -> None:
        antialiased = self.op("aten::_upsample_bicubic2d_aa.out")
        for dtype in op_tester.ALL_DTYPES:
            if dtype == torch.uint8:
                continue  # PyTorch's Byte has rounded weights
            for shape, size in (((2, 3, 9, 8), [4, 5]), ((1, 2, 5, 6), [11, 17]), ((1, 1, 3, 30), [7, 2])):
                for align, order in itertools.product((False, True), op_tester.dim_orders(4)):
                    x = op_tester.make_tensor(shape, dtype, dim_order=order)
                    antialiased.judge(x, size, align, rtol=1e-5, atol=1e-5)
        x = op_tester.make_tensor((1, 2, 6, 5), torch.float32)
        for scale in (None, 0.8, 2.0):
            antialiased.judge(x, [3, 4], False, scale, scale, rtol=1e-5, atol=1e-5)
        x = op_tester.make_tensor((1, 3, 9, 11), torch.uint8, low=0, high=255)
        expected = torch.ops.aten._upsample_bicubic2d_aa(x, [4, 5], False)
        (result,) = antialiased.run(x, [4, 5], False, outs=[expected])
        torch.testing.assert_close(result, expected, rtol=0, atol=1)
        antialiased.check_rejected(x, [4, 5], False, outs=[expected.float()])

    def antialiased(self) -> op_tester.OpTester:
        """Compares Half and BFloat16 with Float, and integers with rounded Double. PyTorch lacks these dtypes."""

        def reference(x: torch.Tensor, *args: Any) -> torch.Tensor:
            if x.dtype in (torch.bool, *op_tester.UNSUPPORTED_DTYPES):
                raise ValueError(f"expected an image dtype, got {x.dtype}")
            floats = {torch.float16: torch.float32, torch.bfloat16: torch.float32, torch.float32: torch.float32}
            result = torch.ops.aten._upsample_bilinear2d_aa(x.to(floats.get(x.dtype, torch.float64)), *args)
            return (result if x.dtype.is_floating_point else result.round()).to(x.dtype)

        return self.op("aten::_upsample_bilinear2d_aa.out", reference=reference)

    def test_antialiased(self) -> None:
        antialiased = self.antialiased()
        sizes = ([7, 9], [4, 5], [2, 3], [1, 1], [3, 11], [0, 2], [2], [-1, 2])
        for align, size, dtype in itertools.product((False, True), sizes, op_tester.ALL_DTYPES):
            for shape in ((2, 3, 4, 5), (1, 1, 20, 17)):
                x = op_tester.make_tensor(shape, dtype)
                # A sum near the midpoint of two integers may be rounded to either.
                tolerance = {True: 1e-2 if dtype.itemsize == 2 else 1e-5, False: 1}[dtype.is_floating_point]
                antialiased.judge(x, size, align, rtol=0 if tolerance == 1 else tolerance, atol=tolerance)
        for align, order in itertools.product((False, True), op_tester.dim_orders(4)):
            x = op_tester.make_tensor((2, 3, 4, 5), torch.float32, dim_order=order)
            antialiased.judge(x, [3, 7], align, out_dim_order=order, static=True, rtol=1e-5, atol=1e-5)

    def test_antialiased_scales(self) -> None:
        antialiased = self.antialiased()
        x = op_tester.make_tensor((1, 2, 6, 5), torch.float32)
        scales = (None, 0.8, 2.0, 5.0, 0.0, -2.0, float("nan"), float("inf"))
        for h, w, align in itertools.product(scales, scales, (False, True)):
            antialiased.judge(x, [3, 4], align, h, w, rtol=1e-5, atol=1e-5)
        # PyTorch reads out of bounds if a scale leaves the input. The kernel uses 0.
        for scale, first in ((0.5, 3), (0.01, 1), (1e-300, 0)):
            (result,) = antialiased.run(x, [3, 4], False, None, scale, outs=[torch.empty(1, 2, 3, 4)])
            self.assertTrue((result[..., :first] != 0).all())
            self.assertTrue((result[..., first:] == 0).all())

    def test_antialiased_one_column(self) -> None:
        """Compares with the transposed image, because PyTorch repeats the first row of a result with one column."""

        def reference(x: torch.Tensor, size: list[int], *args: Any) -> torch.Tensor:
            return torch.ops.aten._upsample_bilinear2d_aa(x.mT.contiguous(), size[::-1], *args).mT.contiguous()

        antialiased = self.op("aten::_upsample_bilinear2d_aa.out", reference=reference)
        for width, height, align in itertools.product((1, 2, 5), (2, 3, 6, 20), (False, True)):
            for order in op_tester.dim_orders(4):
                x = op_tester.make_tensor((2, 3, 6, width), torch.float32, dim_order=order)
                antialiased.check(x, [height, 1], align, rtol=1e-5, atol=1e-5)
        # Weights computed manually: a row under a triangle from -1 to 3, with 3/4 at 0.5 and 1.5, and 1/4 at 2.5.
        x = torch.tensor([0.0, 1, 2, 3]).reshape(1, 1, 4, 1)
        (result,) = antialiased.run(x, [2, 1], False, outs=[torch.empty(1, 1, 2, 1)])
        torch.testing.assert_close(result.flatten(), torch.tensor([5 / 7, 16 / 7]))

    def test_antialiased_integers(self) -> None:
        antialiased = self.antialiased()
        for dtype in op_tester.INT_DTYPES:
            info = torch.iinfo(dtype)
            for value in (info.min, info.max):
                x = torch.full((1, 1, 5, 5), value, dtype=dtype)
                (result,) = antialiased.run(x, [3, 3], False, outs=[torch.empty((1, 1, 3, 3), dtype=dtype)])
                error = (result.double() - x[..., :3, :3].double()).abs().max().item()
                self.assertLessEqual(error, 0 if dtype != torch.int64 else 2**53)
        # PyTorch's Byte has rounded weights.
        x = op_tester.make_tensor((1, 3, 9, 11), torch.uint8, low=0, high=255)
        expected = torch.ops.aten._upsample_bilinear2d_aa(x, [4, 5], False)
        (result,) = antialiased.run(x, [4, 5], False, outs=[expected])
        torch.testing.assert_close(result, expected, rtol=0, atol=1)

    def test_antialiased_rejected(self) -> None:
        antialiased = self.antialiased()
        for shape in ((0, 3, 4, 5), (2, 0, 4, 5), (2, 3, 0, 5), (3, 4, 5), (2, 3, 4, 5, 6)):
            antialiased.judge(torch.ones(shape), [7, 9], False)
        x = torch.ones(1, 1, 2, 2)
        antialiased.check_rejected(x, [4, 4], False, outs=[torch.ones(1, 1, 4, 4).double()])
        antialiased.check_rejected(x, [4, 4], False, outs=[torch.ones(1, 1, 4, 5)], static=True)
        antialiased.check_rejected(x, [1 << 40, 4], False, outs=[x])
        for dtype in op_tester.UNSUPPORTED_DTYPES:
            antialiased.check_rejected(x.to(dtype), [2, 2], False, outs=[x.to(dtype)])


if __name__ == "__main__":
    absltest.main()
