"""Tests of op_quantize_per_*.cpp: quantization by tensor, by channel and by token."""

import torch
from absl.testing import absltest

from kernels.quantized.tests import quantized_case
from kernels.quantized.tests.quantized_case import BOUNDS, NO_QUANTIZED_DTYPES, make_scales, make_zero_points
from kernels.testing import op_tester

_OPS = torch.ops.quantized_decomposed
_RANGE = (-128, 127, torch.int8)
_INF, _NAN = float("inf"), float("nan")


def _as_float(x: torch.Tensor) -> torch.Tensor:
    # PyTorch refuses Double. ExecuTorch accepts Double and computes in Float.
    return x.float() if x.dtype == torch.float64 else x


class OpQuantizeTest(quantized_case.QuantizedCase):
    def per_tensor(self) -> op_tester.OpTester:
        return self.quantized_op(
            "quantized_decomposed::quantize_per_tensor.out",
            lambda x, *args: _OPS.quantize_per_tensor.default(_as_float(x), *args),
        )

    def per_tensor_of_tensors(self) -> op_tester.OpTester:
        return self.quantized_op(
            "quantized_decomposed::quantize_per_tensor.Tensor_out",
            lambda x, *args: _OPS.quantize_per_tensor.tensor(_as_float(x), *args),
        )

    def per_channel(self) -> op_tester.OpTester:
        return self.quantized_op("quantized_decomposed::quantize_per_channel.out", _OPS.quantize_per_channel.default)

    def per_token(self) -> op_tester.OpTester:
        return self.quantized_op("quantized_decomposed::quantize_per_token.out", _OPS.quantize_per_token.default)

    def test_per_tensor(self) -> None:
        tester = self.per_tensor()
        for x_dtype in op_tester.FLOAT_DTYPES:
            for shape in op_tester.SHAPES:
                for order in op_tester.dim_orders(len(shape)):
                    x = op_tester.make_tensor(shape, x_dtype, dim_order=order)
                    for dtype, (least, largest) in BOUNDS.items():
                        tester.check(x, 0.1, 3, least, largest, dtype)
                        tester.check(x, 0.1, 3, 1, 90, dtype, out_dim_order=order, static=True)

    def test_per_tensor_rounds_as_pytorch(self) -> None:
        tester = self.per_tensor()
        halves = torch.arange(-300, 300) / 2
        for scale in (1.0, 0.1, 0.3, 7.0, 1e-3, 3.4e38, 1e-30):
            for zero_point in (0, 1, -5, 128, -(1 << 40)):
                for dtype, (least, largest) in BOUNDS.items():
                    if dtype != torch.int32:
                        tester.check(halves * scale, scale, zero_point, least, largest, dtype)
        # Int results are exact in the range of integers that Float represents exactly.
        wide = op_tester.make_tensor((5000,), torch.float32, low=-(2.0**23), high=2.0**23)
        tester.check(wide, 0.75, -12345, -(1 << 31), (1 << 31) - 1, torch.int32)

    def test_bits16(self) -> None:
        # Bits16 is ExecuTorch's other dtype for UInt16. PyTorch only quantizes to UInt16.
        x = op_tester.make_tensor((3, 4), torch.float32)
        for tester, parameters in (
            (self.per_tensor(), (1e-3, 20000)),
            (self.per_tensor_of_tensors(), (torch.tensor([1e-3]), torch.tensor([20000]))),
            (self.per_channel(), (make_scales(4), make_zero_points(4), 1)),
            (self.per_token(), (make_scales(3)[:, None], make_zero_points(3)[:, None])),
        ):
            (expected,) = tester.expect(x, *parameters, 0, 65535, torch.uint16)
            outs = [expected.view(torch.bits16)]
            (actual,) = tester.run(x, *parameters, 0, 65535, torch.bits16, outs=outs)
            torch.testing.assert_close(actual.view(torch.uint16), expected)
            tester.check_rejected(x, *parameters, -1, 65535, torch.bits16, outs=outs)
            tester.check_rejected(x, *parameters, 0, 65535, torch.bits16, outs=[expected])

    def test_values_beyond_the_range(self) -> None:
        x = torch.tensor([_INF, -_INF, 3.4e38, -3.4e38, 1e-45, 0.0, -0.0] * 5)
        for dtype, (least, largest) in BOUNDS.items():
            # In PyTorch, the conversion of out-of-range values to Int is undefined.
            limit = largest if dtype != torch.int32 else (1 << 31) - 128
            expected = torch.tensor([limit, least, limit, least, 0, 0, 0] * 5).to(dtype)
            for given in (x, x.half(), x.bfloat16()):
                (actual,) = self.per_tensor().run(given, 0.5, 0, least, largest, dtype, outs=[expected])
                torch.testing.assert_close(actual, expected)
                if dtype != torch.int32:
                    self.per_tensor().check(given, 0.5, 0, least, largest, dtype)
                    self.per_tensor().check(given, 0.5, 0, largest, least, dtype)
        # Computed in Double if the scales are Double.
        expected = torch.tensor([2147483647, -2147483648], dtype=torch.int32)
        tester = self.per_channel()
        args = (torch.tensor([1e30, -1e30]), make_scales(2), make_zero_points(2), 0, -(1 << 31), (1 << 31) - 1)
        torch.testing.assert_close(tester.run(*args, torch.int32, outs=[expected])[0], expected)

    def test_nan_becomes_quant_min(self) -> None:
        # In PyTorch, the conversion of NaN to an integer is undefined.
        x = torch.full((20,), _NAN)
        scales, zero_points = make_scales(1), make_zero_points(1)
        for dtype, (least, _) in BOUNDS.items():
            for low in (least, 5):
                expected = torch.full((20,), low, dtype=dtype)
                for results in (
                    self.per_tensor().run(x, 0.5, 3, low, 100, dtype, outs=[expected]),
                    self.per_channel().run(x, scales, zero_points, 0, low, 100, dtype, outs=[expected]),
                    self.per_token().run(x, scales, zero_points, low, 100, dtype, outs=[expected]),
                ):
                    torch.testing.assert_close(results[0], expected)

    def test_parameters_in_tensors(self) -> None:
        tester = self.per_tensor_of_tensors()
        x = op_tester.make_tensor((3, 5), torch.float32)
        for scale_dtype in op_tester.FLOAT_DTYPES:
            for zero_point_dtype in (torch.int64, torch.int32, torch.int8):
                for shape in ((), (1,), (1, 1)):
                    scale = torch.full(shape, 0.07, dtype=scale_dtype)
                    tester.check(x, scale, torch.full(shape, -7, dtype=zero_point_dtype), *_RANGE)
        scale, zero_point = torch.tensor([0.1]), torch.tensor([3])
        tester.check_rejected(x, make_scales(2), zero_point, *_RANGE)
        tester.check_rejected(x, scale, make_zero_points(2), *_RANGE)
        tester.check_rejected(x, torch.empty(0), zero_point, *_RANGE)
        out = [torch.empty((3, 5), dtype=torch.int8)]
        tester.check_rejected(x, zero_point, zero_point, *_RANGE, outs=out)
        tester.check_rejected(x, scale, scale, *_RANGE, outs=out)

    def test_per_channel(self) -> None:
        tester = self.per_channel()
        for shape in op_tester.SHAPES[1:]:
            for axis in range(-len(shape), len(shape)):
                for scale_dtype in (torch.float32, torch.float64):
                    scales = make_scales(shape[axis], scale_dtype)
                    zero_points = make_zero_points(shape[axis])
                    for order in op_tester.dim_orders(len(shape)):
                        x = op_tester.make_tensor(shape, torch.float32, dim_order=order)
                        tester.check(x, scales, zero_points, axis, *_RANGE)
                        tester.check(x, scales, zero_points, axis, *_RANGE, out_dim_order=order, static=True)

    def test_per_channel_dtypes(self) -> None:
        tester = self.per_channel()
        for x_dtype in (torch.float32, torch.float16, torch.bfloat16):
            x = op_tester.make_tensor((40, 30), x_dtype)
            for scale_dtype in (torch.float32, torch.float64):
                for zero_point_dtype in (torch.int64, torch.int32, torch.float32):
                    for dtype, bounds in {**BOUNDS, torch.int32: (-1000, 1000)}.items():
                        for axis, channels in enumerate(x.shape):
                            scales = make_scales(channels, scale_dtype)
                            zero_points = make_zero_points(channels, zero_point_dtype)
                            tester.check(x, scales, zero_points, axis, *bounds, dtype)
        x = op_tester.make_tensor((3, 4), torch.float64)
        expected = tester.expect(x.float(), make_scales(4), make_zero_points(4), 1, *_RANGE)
        actual = tester.run(x, make_scales(4), make_zero_points(4), 1, *_RANGE, outs=expected)
        torch.testing.assert_close(actual, expected)

    def test_one_scale_for_all_channels(self) -> None:
        x = op_tester.make_tensor((3, 4), torch.float32)
        for axis in (0, 1):
            self.per_channel().check(x, make_scales(1), make_zero_points(1), axis, *_RANGE)

    def test_per_channel_rejected(self) -> None:
        tester = self.per_channel()
        x = op_tester.make_tensor((3, 4), torch.float32)
        scales, zero_points = make_scales(3), make_zero_points(3)
        out = [torch.empty((3, 4), dtype=torch.int8)]
        for axis in (2, -3, 1 << 40, -1 << 63):
            tester.check_rejected(x, scales, zero_points, axis, *_RANGE, outs=out)
        tester.check_rejected(x, scales, zero_points, 1, *_RANGE, outs=out)
        tester.check_rejected(x, scales, make_zero_points(4), 0, *_RANGE, outs=out)
        tester.check_rejected(x, scales, make_zero_points(1), 0, *_RANGE, outs=out)
        for dtype in (torch.int64, torch.float16, torch.bool):
            tester.check_rejected(x, scales.to(dtype), zero_points, 0, *_RANGE, outs=out)
        tester.check_rejected(x, scales, zero_points.bool(), 0, *_RANGE, outs=out)
        tester.check_rejected(torch.tensor(1.0), make_scales(1), make_zero_points(1), 0, *_RANGE, outs=out)
        transposed = op_tester.with_dim_order(scales.reshape(3, 1).expand(3, 4), (1, 0))
        tester.check_rejected(
            torch.ones(12), transposed, make_zero_points(12), 0, *_RANGE, outs=[torch.ones(12).to(torch.int8)]
        )

    def test_per_token(self) -> None:
        tester = self.per_token()
        for shape in op_tester.SHAPES:
            tokens = (*shape[:-1], 1)[: len(shape)]
            count = torch.empty(tokens).numel()
            for scale_dtype in (torch.float32, torch.float64):
                scales = make_scales(count, scale_dtype).reshape(tokens)
                for zero_point_dtype in (torch.int64, torch.int32, torch.float32):
                    zero_points = make_zero_points(count, zero_point_dtype).reshape(tokens)
                    for order in op_tester.dim_orders(len(shape)):
                        x = op_tester.make_tensor(shape, torch.float32, dim_order=order)
                        tester.check(x, scales, zero_points, *_RANGE)
                        tester.check(x, scales, zero_points, *_RANGE, out_dim_order=order, static=True)

    def test_per_token_rounds_as_pytorch(self) -> None:
        # With an odd zero point, rounding to even before and after the addition gives different results.
        tester = self.per_token()
        for x_dtype in op_tester.FLOAT_DTYPES:
            x = (torch.arange(-300, 300) / 2).reshape(3, 200).to(x_dtype)
            scales, zero_points = torch.tensor([[1.0], [0.5], [2.0]]), torch.tensor([[1], [-2], [3]])
            for dtype, (least, largest) in BOUNDS.items():
                if dtype != torch.int32:
                    tester.check(x, scales, zero_points, least, largest, dtype)
                    tester.check(x, scales.double(), zero_points, least, largest, dtype)

    def test_scales_of_tokens_in_one_dimension(self) -> None:
        # PyTorch's documentation allows other shapes of parameters, but PyTorch's operator does not broadcast them.
        tester = self.per_token()
        x = op_tester.make_tensor((2, 3, 5), torch.float32)
        scales, zero_points = make_scales(6), make_zero_points(6)
        expected = tester.expect(x, scales.reshape(2, 3, 1), zero_points.reshape(2, 3, 1), *_RANGE)
        actual = tester.run(x, scales, zero_points, *_RANGE, outs=expected)
        torch.testing.assert_close(actual, expected)

    def test_per_token_rejected(self) -> None:
        tester = self.per_token()
        x = op_tester.make_tensor((3, 4), torch.float32)
        out = [torch.empty((3, 4), dtype=torch.int8)]
        for scales, zero_points in ((4, 4), (3, 1), (1, 3), (1, 1), (12, 12)):
            tester.check_rejected(x, make_scales(scales), make_zero_points(zero_points), *_RANGE, outs=out)

    def test_ranges_and_dtypes_rejected(self) -> None:
        x = op_tester.make_tensor((3, 4), torch.float32)
        scales, zero_points = make_scales(3).reshape(3, 1), make_zero_points(3).reshape(3, 1)

        def check_rejected(x: torch.Tensor, least: int, largest: int, dtype: torch.dtype, out: torch.dtype) -> None:
            outs = [torch.empty(x.shape, dtype=out)]
            self.per_tensor().check_rejected(x, 0.1, 3, least, largest, dtype, outs=outs)
            self.per_channel().check_rejected(x, scales, zero_points, 0, least, largest, dtype, outs=outs)
            self.per_token().check_rejected(x, scales, zero_points, least, largest, dtype, outs=outs)

        for dtype, (least, largest) in BOUNDS.items():
            check_rejected(x, least - 1, largest, dtype, dtype)
            check_rejected(x, least, largest + 1, dtype, dtype)
            check_rejected(x, -1 << 63, (1 << 63) - 1, dtype, dtype)
            check_rejected(x, largest + 1, largest, dtype, dtype)
        check_rejected(x, 0, 100, torch.int8, torch.uint8)
        check_rejected(x, 0, 100, torch.int8, torch.float32)
        for dtype in NO_QUANTIZED_DTYPES:
            check_rejected(x, 0, 1, dtype, dtype)
        for dtype in (*op_tester.INT_DTYPES, torch.bool, torch.complex64):
            check_rejected(x.to(dtype), 0, 100, torch.int8, torch.int8)
        outs = [torch.empty((2, 2), dtype=torch.int8)]
        self.per_tensor().check_rejected(x, 0.1, 3, 0, 100, torch.int8, outs=outs)
        self.per_channel().check_rejected(x, scales, zero_points, 0, 0, 100, torch.int8, outs=outs)
        self.per_token().check_rejected(x, scales, zero_points, 0, 100, torch.int8, outs=outs)


if __name__ == "__main__":
    absltest.main()
