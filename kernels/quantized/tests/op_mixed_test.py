"""Tests of op_mixed_*.cpp and op_add.cpp: products with quantized weights, and sums of quantized values."""

import torch
from absl.testing import absltest

from kernels.quantized.tests import quantized_case
from kernels.quantized.tests.quantized_case import make_quantized, make_scales
from kernels.testing import op_tester, quantized_references

_DTYPES = (torch.float32, torch.float16, torch.bfloat16)
_SIZES = ((1, 1, 1), (1, 40, 9), (2, 300, 33), (9, 40, 1), (20, 130, 50), (3, 0, 4), (0, 3, 4), (3, 4, 0))


class OpMixedTest(quantized_case.QuantizedCase):
    def mixed_mm(self) -> op_tester.OpTester:
        return self.quantized_op("quantized_decomposed::mixed_mm.out", quantized_references.mixed_mm)

    def mixed_linear(self) -> op_tester.OpTester:
        return self.quantized_op("quantized_decomposed::mixed_linear.out", quantized_references.mixed_linear)

    def add(self) -> op_tester.OpTester:
        return self.quantized_op("quantized_decomposed::add.out", quantized_references.add)

    def test_mixed_mm(self) -> None:
        tester = self.mixed_mm()
        sum_of_products = {"rounding": op_tester.Rounding.SUM}
        for m, k, n in _SIZES:
            for dtype in _DTYPES:
                scales = make_scales(k).to(dtype) / 100
                for order in op_tester.dim_orders(2):
                    x = op_tester.make_tensor((m, k), dtype, dim_order=order)
                    weight = make_quantized((k, n), torch.int8, order)
                    tester.check(x, weight, scales, None, **sum_of_products)
                    tester.check(x, weight, scales, None, out_dim_order=order, static=True, **sum_of_products)

    def test_mixed_linear(self) -> None:
        tester = self.mixed_linear()
        sum_of_products = {"rounding": op_tester.Rounding.SUM}
        for m, k, n in _SIZES:
            for dtype in _DTYPES:
                for groups in (None, 1, 3):
                    shape = (n,) if groups is None else (n, groups)
                    scales = (make_scales(n * (groups or 1)) / 100).to(dtype).reshape(shape)
                    for order in op_tester.dim_orders(2):
                        x = op_tester.make_tensor((m, k), dtype, dim_order=order)
                        weight = make_quantized((n, k), torch.int8, order)
                        tester.check(x, weight, scales, None, **sum_of_products)
                        tester.check(
                            x, weight, scales, None, torch.float32, out_dim_order=order, static=True, **sum_of_products
                        )

    def test_mixed_rejected(self) -> None:
        x, scales = op_tester.make_tensor((3, 4), torch.float32), make_scales(4, torch.float32)
        weight = make_quantized((4, 4), torch.int8)
        out = torch.empty((3, 4))
        for tester in (self.mixed_mm(), self.mixed_linear()):
            for args in (
                (x, weight, scales, torch.zeros(4)),
                (x, weight.to(torch.uint8), scales, None),
                (x, weight.float(), scales, None),
                (x, weight, scales.double(), None),
                (x, weight, scales.half(), None),
                (x.double(), weight, scales.double(), None),
                (x.int(), weight, scales.int(), None),
                (x, weight, scales[:3], None),
                (x, weight, scales[None], None),
                (x, weight, scales[0], None),
                (x[0], weight, scales, None),
                (x, weight[0], scales, None),
                (x[:, :3].clone(), weight, scales, None),
            ):
                tester.check_rejected(*args, outs=[out])
            tester.check_rejected(x, weight, scales, None, outs=[torch.empty((1, 4))])
            tester.check_rejected(x, weight, scales, None, outs=[out.int()])
        self.mixed_mm().check_rejected(x, weight, scales, None, outs=[out.half()])
        self.mixed_linear().check_rejected(x, weight, scales, None, torch.float16, outs=[out])
        self.mixed_linear().check_rejected(x, weight, scales, None, torch.int32, outs=[out.int()])
        self.mixed_linear().check_rejected(x, weight, torch.ones((4, 0)), None, outs=[out])

    def test_add(self) -> None:
        tester = self.add()
        for a_shape, b_shape in op_tester.BROADCAST_SHAPES:
            a, b = make_quantized(a_shape, torch.uint8), make_quantized(b_shape, torch.uint8)
            tester.check(a, 0.1, 3, 0, 255, b, 0.07, 200, 0, 255, 0.15, 100, 0, 255)
        for order in op_tester.dim_orders(4):
            a, b = (make_quantized((2, 3, 4, 5), torch.uint8, order) for _ in range(2))
            for scale in (1e-3, 0.5, 1.0, 1e30):
                args = (a, 0.3, 3, 0, 255, b, 0.5, 2, 0, 255, scale, 1, 5, 250)
                tester.check(*args, out_dim_order=order, static=True)

    def test_add_dtypes(self) -> None:
        # PyTorch refuses quant_max 255 for Char. ExecuTorch accepts ranges of Byte for all dtypes.
        tester = self.add()
        bytes_ = make_quantized((20, 30), torch.uint8) % 128
        args = (0.1, 3, 0, 255)
        expected = tester.expect(bytes_, *args, bytes_, *args, 0.4, 5, 0, 255)[0]
        for dtype in op_tester.INT_DTYPES:
            values = bytes_.to(dtype)
            wanted = expected.clamp(max=127).to(dtype) if dtype == torch.int8 else expected.to(dtype)
            actual = tester.run(values, *args, values, *args, 0.4, 5, 0, 255, outs=[wanted])
            torch.testing.assert_close(actual[0], wanted)

    def test_add_rejected(self) -> None:
        tester = self.add()
        a, good = make_quantized((3, 4), torch.uint8), (0.1, 3, 0, 255)
        for bad in ((0.1, 3, -1, 255), (0.1, 3, 0, 256), (0.1, 3, 9, 8), (0.1, 3, -1 << 63, (1 << 63) - 1)):
            tester.check_rejected(a, *bad, a, *good, *good, outs=[a])
            tester.check_rejected(a, *good, a, *bad, *good, outs=[a])
            tester.check_rejected(a, *good, a, *good, *bad, outs=[a])
        tester.check_rejected(a, *good, a[:2], *good, *good, outs=[a])
        tester.check_rejected(a, *good, a.int(), *good, *good, outs=[a])
        tester.check_rejected(a, *good, a, *good, *good, outs=[a.int()])
        for dtype in (*op_tester.FLOAT_DTYPES, torch.bool):
            tester.check_rejected(a.to(dtype), *good, a.to(dtype), *good, *good, outs=[a.to(dtype)])
        tester.check_rejected(a, *good, a, *good, *good, outs=[a[:1]])


if __name__ == "__main__":
    absltest.main()
