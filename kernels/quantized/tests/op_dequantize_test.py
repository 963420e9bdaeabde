"""Tests of op_dequantize_per_*.cpp: dequantization by tensor, by channel and by token."""

from typing import Any

import torch
from absl.testing import absltest

from kernels.quantized.tests import quantized_case
from kernels.quantized.tests.quantized_case import (
    BOUNDS,
    NO_QUANTIZED_DTYPES,
    make_quantized,
    make_scales,
    make_zero_points,
)
from kernels.testing import op_tester

_OPS = torch.ops.quantized_decomposed
_RANGE = (-128, 127, torch.int8)


def _per_tensor(q: torch.Tensor, *args: Any) -> torch.Tensor:
    return _OPS.dequantize_per_tensor.default(q, *args[:5], out_dtype=(*args, None)[5])


def _per_tensor_of_tensors(q: torch.Tensor, *args: Any) -> torch.Tensor:
    return _OPS.dequantize_per_tensor.tensor(q, *args[:5], out_dtype=(*args, None)[5])


def _as_int32(*args: Any) -> tuple[Any, ...]:
    """The arguments with Int in place of UInt16, because PyTorch has no subtraction for UInt16."""
    values = (arg.to(torch.int32) if getattr(arg, "dtype", None) == torch.uint16 else arg for arg in args)
    return tuple(torch.int32 if value is torch.uint16 else value for value in values)


def _per_channel(*args: Any) -> torch.Tensor:
    *args_before, out_dtype = _as_int32(*args, *[None] * (8 - len(args)))
    return _OPS.dequantize_per_channel.default(*args_before, out_dtype=out_dtype)


def _per_token(*args: Any) -> torch.Tensor:
    return _OPS.dequantize_per_token.default(*_as_int32(*args))


class OpDequantizeTest(quantized_case.QuantizedCase):
    def per_tensor(self) -> op_tester.OpTester:
        return self.quantized_op("quantized_decomposed::dequantize_per_tensor.out", _per_tensor)

    def per_tensor_of_tensors(self) -> op_tester.OpTester:
        return self.quantized_op("quantized_decomposed::dequantize_per_tensor.Tensor_out", _per_tensor_of_tensors)

    def per_channel(self) -> op_tester.OpTester:
        return self.quantized_op("quantized_decomposed::dequantize_per_channel.out", _per_channel)

    def per_token(self) -> op_tester.OpTester:
        return self.quantized_op("quantized_decomposed::dequantize_per_token.out", _per_token)

    def test_per_tensor(self) -> None:
        tester = self.per_tensor()
        for dtype, (least, largest) in BOUNDS.items():
            for shape in op_tester.SHAPES:
                for order in op_tester.dim_orders(len(shape)):
                    q = make_quantized(shape, dtype, order)
                    tester.check(q, 0.1, 3, least, largest, dtype, exact=True)
                    tester.check(q, 0.1, 3, least, largest, dtype, out_dim_order=order, static=True, exact=True)
            for scale, zero_point in ((1e-5, 0), (3e38, 200), (0.0, -7), (-0.3, 1 << 40), (float("inf"), 0)):
                tester.check(make_quantized((300,), dtype), scale, zero_point, least, largest, dtype, exact=True)

    def test_bits16(self) -> None:
        # Bits16 is ExecuTorch's other dtype for UInt16. PyTorch only dequantizes UInt16.
        q = make_quantized((3, 4), torch.uint16)
        for tester, parameters in (
            (self.per_tensor(), (1e-3, 20000)),
            (self.per_tensor_of_tensors(), (torch.tensor([1e-3]), torch.tensor([20000]))),
            (self.per_channel(), (make_scales(4), make_zero_points(4), 1)),
            (self.per_token(), (make_scales(3)[:, None], make_zero_points(3)[:, None])),
        ):
            (expected,) = tester.expect(q, *parameters, 0, 65535, torch.uint16, torch.float32)
            args = (*parameters, 0, 65535, torch.bits16, torch.float32)
            (actual,) = tester.run(q.view(torch.bits16), *args, outs=[expected])
            torch.testing.assert_close(actual, expected)
            tester.check_rejected(q, *args, outs=[expected])

    def test_per_tensor_out_dtypes(self) -> None:
        for dtype, bounds in BOUNDS.items():
            args = (make_quantized((300,), dtype), 0.1, 3, *bounds, dtype)
            for out_dtype in (torch.float32, torch.float64):
                self.per_tensor().check(*args, out_dtype, exact=True)
            # PyTorch rounds to a 16-bit out dtype after each step, the kernel rounds once.
            for out_dtype in (torch.float16, torch.bfloat16):
                expected = [_per_tensor(*args).to(out_dtype)]
                actual = self.per_tensor().run(*args, out_dtype, outs=expected)
                torch.testing.assert_close(actual, expected, rtol=0, atol=0)
        # Without out_dtype, PyTorch's result is Float. ExecuTorch's result has the dtype of the out tensor.
        self.per_tensor().check(make_quantized((9,), torch.int8), 0.5, 3, *_RANGE, out_dtype=torch.float64, exact=True)

    def test_parameters_in_tensors(self) -> None:
        tester = self.per_tensor_of_tensors()
        q = make_quantized((3, 5), torch.int8)
        for scale_dtype in op_tester.FLOAT_DTYPES:
            for zero_point_dtype in (torch.int64, torch.int32, torch.int8):
                for shape in ((), (1,), (1, 1)):
                    scale = torch.full(shape, 0.07, dtype=scale_dtype)
                    zero_point = torch.full(shape, -7, dtype=zero_point_dtype)
                    tester.check(q, scale, zero_point, *_RANGE, exact=True)
                    tester.check(q, scale, zero_point, *_RANGE, torch.float64, exact=True)
        scale, zero_point = torch.tensor([0.1]), torch.tensor([3])
        tester.check_rejected(q, make_scales(2), zero_point, *_RANGE)
        tester.check_rejected(q, scale, make_zero_points(2), *_RANGE)
        tester.check_rejected(q, torch.empty(0), zero_point, *_RANGE)
        out = [torch.empty((3, 5))]
        tester.check_rejected(q, zero_point, zero_point, *_RANGE, outs=out)
        tester.check_rejected(q, scale, scale, *_RANGE, outs=out)

    def test_per_channel(self) -> None:
        tester = self.per_channel()
        for shape in op_tester.SHAPES[1:]:
            for axis in range(-len(shape), len(shape)):
                for scale_dtype in (torch.float32, torch.float64):
                    scales = make_scales(shape[axis], scale_dtype)
                    for order in op_tester.dim_orders(len(shape)):
                        q = make_quantized(shape, torch.int8, order)
                        for zero_points in (make_zero_points(shape[axis]), None):
                            tester.check(q, scales, zero_points, axis, *_RANGE, exact=True)
                            options = {"out_dim_order": order, "static": True, "exact": True}
                            tester.check(q, scales, zero_points, axis, *_RANGE, **options)

    def test_per_channel_dtypes(self) -> None:
        tester = self.per_channel()
        for dtype, bounds in BOUNDS.items():
            q = make_quantized((40, 30), dtype)
            for axis, channels in enumerate(q.shape):
                for scale_dtype in (torch.float32, torch.float64):
                    scales = make_scales(channels, scale_dtype)
                    for zero_points in (
                        make_zero_points(channels),
                        make_zero_points(channels, torch.int32),
                        None if dtype == torch.int32 else make_zero_points(channels, torch.float32),
                    ):
                        for out_dtype in op_tester.FLOAT_DTYPES:
                            # For these dtypes, PyTorch computes Ints in Float, so that Double results differ.
                            if (dtype, scale_dtype, out_dtype) != (torch.int32, torch.float32, torch.float64):
                                tester.check(q, scales, zero_points, axis, *bounds, dtype, out_dtype)

    def test_differences_of_ints_are_exact(self) -> None:
        q = torch.tensor([[(1 << 30) + 1, 1 << 30, (1 << 30) - 1]], dtype=torch.int32)
        zero_points = torch.tensor([1 << 30])
        bounds = BOUNDS[torch.int32]
        for scale_dtype in (torch.float32, torch.float64):
            scales = make_scales(1, scale_dtype)
            self.per_channel().check(q, scales, zero_points, 0, *bounds, torch.int32, exact=True)
            tokens = (scales.reshape(1, 1), zero_points.reshape(1, 1), *bounds, torch.int32, torch.float32)
            self.per_token().check(q, *tokens, exact=True)

    def test_one_scale_for_all_channels(self) -> None:
        q = make_quantized((3, 4), torch.int8)
        for axis in (0, 1):
            for zero_points in (make_zero_points(1), None):
                self.per_channel().check(q, make_scales(1), zero_points, axis, *_RANGE, exact=True)

    def test_per_channel_rejected(self) -> None:
        tester = self.per_channel()
        q = make_quantized((3, 4), torch.int8)
        scales, zero_points = make_scales(3), make_zero_points(3)
        out = [torch.empty((3, 4))]
        for axis in (2, -3, 1 << 40, -1 << 63):
            tester.check_rejected(q, scales, zero_points, axis, *_RANGE, outs=out)
        tester.check_rejected(q, scales, zero_points, 1, *_RANGE, outs=out)
        tester.check_rejected(q, scales, None, 1, *_RANGE, outs=out)
        tester.check_rejected(q, scales, make_zero_points(4), 0, *_RANGE, outs=out)
        for dtype in (torch.int64, torch.float16, torch.bool):
            tester.check_rejected(q, scales.to(dtype), zero_points, 0, *_RANGE, outs=out)
        tester.check_rejected(q, scales, zero_points.bool(), 0, *_RANGE, outs=out)
        scalar = torch.tensor(1, dtype=torch.int8)
        tester.check_rejected(scalar, make_scales(1), make_zero_points(1), 0, *_RANGE, outs=[torch.empty(())])

    def test_per_token(self) -> None:
        tester = self.per_token()
        for shape in op_tester.SHAPES:
            tokens = (*shape[:-1], 1)[: len(shape)]
            count = torch.empty(tokens).numel()
            for dtype, bounds in BOUNDS.items():
                for scale_dtype in (torch.float32, torch.float64):
                    scales = make_scales(count, scale_dtype).reshape(tokens)
                    for zero_point_dtype in (torch.int64, torch.int32, torch.float32):
                        zero_points = make_zero_points(count, zero_point_dtype).reshape(tokens)
                        for order in op_tester.dim_orders(len(shape)):
                            q = make_quantized(shape, dtype, order)
                            args = (q, scales, zero_points, *bounds, dtype)
                            tester.check(*args, torch.float32)
                            tester.check(*args, torch.float16, out_dim_order=order, static=True)

    def test_scales_of_tokens_in_one_dimension(self) -> None:
        # PyTorch's documentation allows other shapes of parameters, but PyTorch's operator does not broadcast them.
        tester = self.per_token()
        q = make_quantized((2, 3, 5), torch.int8)
        scales, zero_points = make_scales(6), make_zero_points(6)
        args = (*_RANGE, torch.float32)
        expected = tester.expect(q, scales.reshape(2, 3, 1), zero_points.reshape(2, 3, 1), *args)
        torch.testing.assert_close(tester.run(q, scales, zero_points, *args, outs=expected), expected)

    def test_per_token_rejected(self) -> None:
        tester = self.per_token()
        q = make_quantized((3, 4), torch.int8)
        for scales, zero_points in ((4, 4), (3, 1), (1, 3), (1, 1), (12, 12)):
            args = (make_scales(scales), make_zero_points(zero_points), *_RANGE, torch.float32)
            tester.check_rejected(q, *args, outs=[torch.empty((3, 4))])

    def test_dtypes_rejected(self) -> None:
        scales, zero_points = make_scales(3).reshape(3, 1), make_zero_points(3).reshape(3, 1)

        def check_rejected(q: torch.Tensor, dtype: torch.dtype, out_dtype: torch.dtype, out: torch.Tensor) -> None:
            args = (0, 1, dtype, out_dtype)
            self.per_tensor().check_rejected(q, 0.1, 3, *args, outs=[out])
            self.per_channel().check_rejected(q, scales, zero_points, 0, *args, outs=[out])
            self.per_token().check_rejected(q, scales, zero_points, *args, outs=[out])

        q, out = make_quantized((3, 4), torch.int8), torch.empty((3, 4))
        for dtype in (*NO_QUANTIZED_DTYPES, torch.uint8, torch.complex64):
            check_rejected(q, dtype, torch.float32, out)
        for dtype in (*NO_QUANTIZED_DTYPES, torch.complex64):
            check_rejected(q.to(dtype), dtype, torch.float32, out)
        check_rejected(q, torch.int8, torch.float64, out)
        for dtype in (torch.int8, torch.int64, torch.bool, torch.complex64):
            check_rejected(q, torch.int8, dtype, out.to(dtype))
        check_rejected(q, torch.int8, torch.float32, torch.empty((2, 2)))


if __name__ == "__main__":
    absltest.main()
