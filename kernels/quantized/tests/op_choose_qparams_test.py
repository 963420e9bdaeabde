"""Tests of op_choose_qparams*.cpp: the scale and the zero point for the values of a tensor, or of each token."""

import torch
from absl.testing import absltest

from kernels.quantized.tests import quantized_case
from kernels.quantized.tests.quantized_case import BOUNDS
from kernels.testing import op_tester

_OPS = torch.ops.quantized_decomposed
_INF, _NAN = float("inf"), float("nan")
_RANGE = (-128, 127, 1e-7, torch.int8)
# Ranges with both signs, one sign, and only 0.
_RANGES = ((-9, 9), (3, 9), (-9, -3), (0, 0), (-1e-9, 1e-9), (-1e4, 3), (-1e-3, 1e3))


class OpChooseQparamsTest(quantized_case.QuantizedCase):
    def per_tensor(self) -> op_tester.OpTester:
        return self.quantized_op("quantized_decomposed::choose_qparams.Tensor_out", _OPS.choose_qparams.tensor)

    def per_token(self) -> op_tester.OpTester:
        return self.quantized_op(
            "quantized_decomposed::choose_qparams_per_token_asymmetric.out",
            _OPS.choose_qparams_per_token_asymmetric.default,
        )

    def test_per_tensor(self) -> None:
        tester = self.per_tensor()
        for shape in op_tester.SHAPES:
            for order in op_tester.dim_orders(len(shape)):
                x = op_tester.make_tensor(shape, torch.float32, dim_order=order)
                if x.numel():
                    tester.check(x, *_RANGE, exact=True)
                    tester.check(x, *_RANGE, static=True, exact=True)
                else:
                    tester.check_rejected(x, *_RANGE, outs=[torch.ones(1).double(), torch.ones(1).long()])

    def test_per_tensor_ranges(self) -> None:
        tester = self.per_tensor()
        for x_dtype in (torch.float32, torch.float16, torch.bfloat16):
            for low, high in _RANGES:
                for count in (1, 7, 3000):
                    x = op_tester.make_tensor((count,), x_dtype, low=low, high=high)
                    for dtype, bounds in {**BOUNDS, torch.int32: (-(1 << 30), 1 << 30)}.items():
                        for least, largest in (bounds, (-7, 8), (0, 15), (-100, 0)):
                            for eps in (1e-7, 0.5):
                                tester.check(x, least, largest, eps, dtype, exact=True)
        tester.check(op_tester.make_tensor((7,), torch.float32), -128, 127, 0.0, torch.int8, exact=True)

    def test_per_token(self) -> None:
        tester = self.per_token()
        for shape in op_tester.SHAPES:
            for order in op_tester.dim_orders(len(shape)):
                x = op_tester.make_tensor(shape, torch.float32, dim_order=order)
                if shape == () or shape[-1]:
                    tester.check(x, torch.int8, exact=True)
                    tester.check(x, torch.int8, out_dim_order=order, static=True, exact=True)
                else:
                    outs = [torch.ones(1).double(), torch.ones(1).long()]
                    tester.check_rejected(x, torch.int8, outs=outs)

    def test_per_token_ranges(self) -> None:
        tester = self.per_token()
        for x_dtype in op_tester.FLOAT_DTYPES:
            for low, high in _RANGES:
                for shape in ((1, 1), (50, 7), (3, 3000)):
                    x = op_tester.make_tensor(shape, x_dtype, low=low, high=high)
                    tester.check(x, torch.int8, exact=True)

    def test_threads(self) -> None:
        for shape in ((977, 131), (7, 30001), (50000, 3)):
            self.per_token().check_threads(op_tester.make_tensor(shape, torch.float32), torch.int8)

    def test_no_number_ends_a_zero_point(self) -> None:
        # In PyTorch, the conversion of NaN to an integer is undefined.
        for values in ([_NAN], [_NAN, 1.0], [_INF, 0.0], [-_INF, 2.0], [_INF, -_INF], [3.4e38, -3.4e38]):
            x = torch.tensor([values * 20])
            scale, zero_point = self.per_tensor().run(x, *_RANGE, outs=[torch.ones(1).double(), torch.ones(1).long()])
            self.assertIn(zero_point.item(), range(-128, 128))
            torch.testing.assert_close(scale, _OPS.choose_qparams.tensor(x, *_RANGE)[0], equal_nan=True)
            outs = [torch.ones((1, 1)).double(), torch.ones((1, 1)).long()]
            scale, zero_point = self.per_token().run(x, torch.int8, outs=outs)
            self.assertIn(zero_point.item(), range(-128, 128))
            expected = _OPS.choose_qparams_per_token_asymmetric(x, torch.int8)[0]
            torch.testing.assert_close(scale, expected, equal_nan=True)

    def test_rejected(self) -> None:
        x = op_tester.make_tensor((3, 4), torch.float32)
        doubles, longs = torch.ones(1).double(), torch.ones(1).long()
        for least, largest in ((1, 5), (-5, -1), (0, 0), (5, -5), (-1 << 63, (1 << 63) - 1), (0, 1 << 31)):
            self.per_tensor().check_rejected(x, least, largest, 1e-7, torch.int8, outs=[doubles, longs])
        for dtype in (torch.int64, torch.bool, torch.float32):
            self.per_tensor().check_rejected(x, -128, 127, 1e-7, dtype, outs=[doubles, longs])
        for dtype in (*op_tester.INT_DTYPES, torch.bool, torch.complex64, torch.float64):
            self.per_tensor().check_rejected(x.to(dtype), *_RANGE, outs=[doubles, longs])
            if dtype != torch.float64:
                outs = [torch.ones((3, 1)).double(), torch.ones((3, 1)).long()]
                self.per_token().check_rejected(x.to(dtype), torch.int8, outs=outs)
        for outs in ([doubles.float(), longs], [doubles, longs.int()], [doubles, doubles]):
            self.per_tensor().check_rejected(x, *_RANGE, outs=outs)
            self.per_token().check_rejected(x, torch.int8, outs=[out.expand(3, 1).clone() for out in outs])
        outs = [torch.ones((1, 1)).double(), torch.ones((1, 1)).long()]
        self.per_token().check_rejected(x, torch.int8, outs=outs, static=True)


if __name__ == "__main__":
    absltest.main()
