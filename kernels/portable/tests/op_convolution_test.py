"""Tests of op_convolution.cpp: convolution.out."""

import itertools
from collections.abc import Sequence
from typing import Any

import torch
from absl.testing import absltest

from kernels.testing import op_tester

# The shapes of input and weight, and the groups.
CASES: tuple[tuple[tuple[int, ...], tuple[int, ...], int], ...] = (
    ((2, 4, 9), (6, 4, 3), 1),
    ((1, 4, 9), (6, 2, 3), 2),
    ((2, 4, 8, 9), (6, 4, 3, 2), 1),
    ((2, 4, 8, 9), (6, 2, 1, 3), 2),
    ((2, 4, 8, 9), (8, 1, 3, 3), 4),
    ((1, 3, 7, 5), (4, 3, 1, 1), 1),
    ((1, 2, 5, 4, 6), (3, 2, 2, 3, 2), 1),
    ((2, 4, 5, 4, 3), (4, 1, 3, 1, 2), 4),
)
TRANSPOSED_CASES: tuple[tuple[tuple[int, ...], tuple[int, ...], int], ...] = (
    ((2, 4, 9), (4, 3, 3), 1),
    ((1, 4, 9), (4, 3, 2), 2),
    ((2, 4, 5, 6), (4, 3, 3, 2), 1),
    ((2, 4, 5, 6), (4, 1, 3, 3), 4),
    ((1, 3, 7, 5), (3, 4, 1, 1), 1),
    ((1, 2, 3, 4, 3), (2, 3, 2, 3, 2), 1),
)


class OpConvolutionTest(op_tester.OpTest):
    def judge(
        self, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None, *, stride: Sequence[int] = (1,),
        padding: Sequence[int] = (0,), dilation: Sequence[int] = (1,), transposed: bool = False,
        output_padding: Sequence[int] = (0,), groups: int = 1, **kwargs: Any,
    ) -> None:  # fmt: skip
        lists = [list(values) for values in (stride, padding, dilation, output_padding)]
        arguments = [x, weight, bias, *lists[:3], transposed, lists[3], groups]
        self.op("aten::convolution.out").judge(*arguments, rounding=op_tester.Rounding.SUM, **kwargs)

    def test_parameters(self) -> None:
        for (x_shape, weight_shape, groups), dtype in itertools.product(CASES, (torch.float32, torch.int32)):
            x = op_tester.make_tensor(x_shape, dtype)
            weight = op_tester.make_tensor(weight_shape, dtype, low=-3, high=3)
            # PyTorch does not support dilated convolutions of integers.
            for stride, padding, dilation in itertools.product(
                (1, 2, 3), (0, 1, 4), (1, 2) if dtype.is_floating_point else (1,)
            ):
                self.judge(x, weight, stride=[stride], padding=[padding], dilation=[dilation], groups=groups)

    def test_transposed_parameters(self) -> None:
        for (x_shape, weight_shape, groups), dtype in itertools.product(TRANSPOSED_CASES, (torch.float32, torch.int64)):
            x = op_tester.make_tensor(x_shape, dtype)
            weight = op_tester.make_tensor(weight_shape, dtype, low=-3, high=3)
            for parameters in itertools.product((1, 2, 3), (0, 1, 2), (1, 2), (0, 1, 2)):
                stride, padding, dilation, output_padding = ([value] for value in parameters)
                self.judge(
                    x, weight, stride=stride, padding=padding, dilation=dilation, output_padding=output_padding,
                    transposed=True, groups=groups,
                )  # fmt: skip

    def test_parameters_for_each_dimension(self) -> None:
        x, weight = (
            op_tester.make_tensor((1, 2, 9, 8), torch.float32),
            op_tester.make_tensor((2, 2, 3, 2), torch.float32),
        )
        for transposed in (False, True):
            self.judge(x, weight, stride=(2, 3), padding=(1, 0), dilation=(1, 2), transposed=transposed)
            self.judge(x, weight, stride=(3, 2), padding=(0, 2), output_padding=(2, 0), transposed=transposed)

    def test_bias(self) -> None:
        for (x_shape, weight_shape, groups), dtype in itertools.product(CASES, op_tester.ALL_DTYPES):
            x = op_tester.make_tensor(x_shape, dtype)
            weight = op_tester.make_tensor(weight_shape, dtype, low=-3, high=3)
            for bias in (None, op_tester.make_tensor((weight_shape[0],), dtype)):
                self.judge(x, weight, bias, padding=[1], groups=groups)

    def test_transposed_bias(self) -> None:
        for (x_shape, weight_shape, groups), dtype in itertools.product(TRANSPOSED_CASES, op_tester.FLOAT_DTYPES):
            x = op_tester.make_tensor(x_shape, dtype)
            weight = op_tester.make_tensor(weight_shape, dtype, low=-3, high=3)
            for bias in (None, op_tester.make_tensor((weight_shape[1] * groups,), dtype)):
                self.judge(x, weight, bias, stride=[2], padding=[1], transposed=True, groups=groups)

    def test_dim_orders(self) -> None:
        for transposed, cases in ((False, CASES), (True, TRANSPOSED_CASES)):
            for x_shape, weight_shape, groups in cases:
                orders = op_tester.dim_orders(len(x_shape))
                for x_order, weight_order, out_order in itertools.product(orders, repeat=3):
                    self.judge(
                        op_tester.make_tensor(x_shape, torch.float32, dim_order=x_order),
                        op_tester.make_tensor(weight_shape, torch.float32, dim_order=weight_order),
                        torch.ones(weight_shape[1] * groups if transposed else weight_shape[0]),
                        transposed=transposed, groups=groups, out_dim_order=out_order, static=True,
                    )  # fmt: skip

    def test_many_channels_and_positions(self) -> None:
        for x_shape, weight_shape, groups in (
            ((1, 70, 20, 21), (40, 70, 1, 1), 1),
            ((1, 40, 20, 21), (70, 40, 3, 3), 1),
            ((1, 10, 40, 41), (10, 1, 3, 3), 10),
            ((2, 33, 300), (9, 33, 5), 1),
        ):
            for dtype in (*op_tester.FLOAT_DTYPES, torch.int16):
                for order in op_tester.dim_orders(len(x_shape)):
                    x = op_tester.make_tensor(x_shape, dtype, dim_order=order, low=0, high=3)
                    weight = op_tester.make_tensor(weight_shape, dtype, dim_order=order, low=0, high=3)
                    self.judge(x, weight, padding=[1], groups=groups, out_dim_order=order)

    def test_several_parts(self) -> None:
        for x_shape, weight_shape, groups in (
            ((1, 40, 60, 61), (13, 40, 3, 3), 1),
            ((2, 30, 3000), (9, 30, 4), 1),
            ((1, 18, 9, 40, 31), (6, 9, 2, 3, 3), 2),
            ((1, 2, 300, 301), (2, 1, 5, 5), 2),
        ):
            for stride, padding, dilation in ((1, 1, 1), (2, 3, 1), (3, 0, 2)):
                x = op_tester.make_tensor(x_shape, torch.float32, low=-2, high=2)
                weight = op_tester.make_tensor(weight_shape, torch.float32, low=-2, high=2)
                bias = op_tester.make_tensor((weight_shape[0],), torch.float32)
                self.judge(x, weight, bias, stride=[stride], padding=[padding], dilation=[dilation], groups=groups)

    def test_far_apart(self) -> None:
        x, weight = torch.ones(1, 2, 3, 4), torch.ones(5, 2, 2, 2)
        far = 1 << 29
        self.judge(x, weight, stride=[1, far], padding=[far // 2], dilation=[far])
        self.judge(x, weight, stride=[far, far], padding=[0, 3])

    def test_empty(self) -> None:
        shapes = (
            ((0, 2, 5), (3, 2, 3)), ((2, 0, 5), (3, 0, 3)), ((2, 2, 0), (3, 2, 1)), ((2, 2, 5), (0, 2, 3)),
            ((2, 2, 5), (3, 2, 0)), ((0, 2, 5, 5), (3, 2, 3, 3)), ((2, 0, 5, 5), (3, 0, 3, 3)),
            ((0, 2, 5, 0), (2, 2, 1, 1)), ((0, 0, 5), (0, 0, 3)),
        )  # fmt: skip
        for (x_shape, weight_shape), transposed, padding in itertools.product(shapes, (False, True), ([0], [2])):
            self.judge(torch.ones(x_shape), torch.ones(weight_shape), transposed=transposed, padding=padding)

    def test_special_values(self) -> None:
        for dtype in op_tester.FLOAT_DTYPES:
            values = op_tester.special_values(dtype)
            self.judge(values[None, None], torch.ones((1, 1, 1), dtype=dtype))

    def test_wrong_parameters(self) -> None:
        x, weight = torch.ones(1, 4, 5, 5), torch.ones(4, 4, 3, 3)
        for transposed in (False, True):
            for values in ([], [1, 1, 1], [0], [-1], [2, 0], [1, -1]):
                self.judge(x, weight, stride=values, transposed=transposed)
                self.judge(x, weight, dilation=values, transposed=transposed)
                self.judge(x, weight, padding=values, transposed=transposed)
            for values in ([], [1], [1, 1, 1], [-1], [2, 2]):
                self.judge(x, weight, stride=[2], output_padding=values, transposed=transposed)
            for groups in (-1, 0, 2, 3, 4, 8):
                self.judge(x, weight, groups=groups, transposed=transposed)
            self.judge(x, weight, padding=[9], transposed=transposed)
            self.judge(x, weight, dilation=[3], transposed=transposed)

    def test_wrong_shapes(self) -> None:
        shapes = ((4, 5), (1, 4, 5), (4, 4, 2), (1, 4, 5, 5), (4, 4, 2, 2), (3, 5, 2, 2), (1, 4, 2, 2, 2, 2))
        for x_shape, weight_shape, transposed in itertools.product(shapes, shapes, (False, True)):
            self.judge(torch.ones(x_shape), torch.ones(weight_shape), transposed=transposed)
        for bias_shape in ((), (1,), (3,), (4,), (1, 4)):
            self.judge(torch.ones(1, 4, 5, 5), torch.ones(4, 4, 2, 2), torch.ones(bias_shape))
            self.judge(torch.ones(1, 4, 5, 5), torch.ones(4, 4, 2, 2), torch.ones(bias_shape), transposed=True)

    def test_bias_of_another_dtype(self) -> None:
        """Compares with a bias of the input's dtype. PyTorch accepts some pairs of dtypes only with some libraries."""
        convolution = self.op("aten::convolution.out")
        parameters = ([1], [0], [1], False, [0], 1)
        for dtype, bias_dtype in itertools.product(op_tester.ALL_DTYPES, op_tester.MOVABLE_DTYPES):
            x, weight = torch.ones((1, 2, 5), dtype=dtype), torch.ones((2, 2, 1), dtype=dtype)
            bias = torch.tensor([1, 0]).to(bias_dtype)
            outs = [torch.ones((1, 2, 5), dtype=dtype)]
            if torch.bool in (dtype, bias_dtype) or bias_dtype in op_tester.UNSUPPORTED_DTYPES:
                convolution.check_rejected(x, weight, bias, *parameters, outs=outs)
            else:
                (result,) = convolution.run(x, weight, bias, *parameters, outs=outs)
                expected = torch.tensor([[3], [2]], dtype=dtype).expand(1, 2, 5)
                torch.testing.assert_close(result, expected, rtol=0, atol=0)
        for dtype, bias_dtype in itertools.product(op_tester.FLOAT_DTYPES, repeat=2):
            x, weight = torch.zeros((1, 2, 5), dtype=dtype), torch.zeros((2, 2, 1), dtype=dtype)
            bias = torch.tensor([0.1, -2.5], dtype=bias_dtype)
            (result,) = convolution.run(x, weight, bias, *parameters, outs=[x])
            torch.testing.assert_close(result[0, :, 0], bias.to(dtype), rtol=0, atol=0)

    def test_dtypes(self) -> None:
        convolution = self.op("aten::convolution.out")
        parameters = ([1], [0], [1], False, [0], 1)
        for x_dtype, other in itertools.product(op_tester.ALL_DTYPES, op_tester.ALL_DTYPES):
            x, weight = torch.ones((1, 2, 5), dtype=x_dtype), torch.ones((2, 2, 1), dtype=x_dtype)
            self.judge(x, weight.to(other))
            convolution.judge_out_dtype(x, weight, None, *parameters, out_dtype=other)
        for dtype in op_tester.UNSUPPORTED_DTYPES:
            x = torch.ones((1, 1, 1), dtype=dtype)
            convolution.check_rejected(x, x, None, *parameters, outs=[x])
        x = torch.ones(1, 1, 4)
        convolution.check_rejected(x, x, None, *parameters, outs=[torch.ones(1, 1, 1, 1)])
        convolution.check_rejected(x, x, None, *parameters, outs=[torch.ones(1, 1, 2)], static=True)


if __name__ == "__main__":
    absltest.main()
