"""Tests of op_convolution_backward.cpp: convolution_backward.out."""

import itertools
from collections.abc import Sequence
from typing import Any

import torch
from absl.testing import absltest

from kernels.testing import op_tester

# The shapes of input and weight, the groups, and whether the convolution is transposed.
CASES: tuple[tuple[tuple[int, ...], tuple[int, ...], int, bool], ...] = (
    ((2, 4, 9), (6, 4, 3), 1, False),
    ((1, 4, 9), (6, 2, 3), 2, False),
    ((2, 4, 8, 9), (6, 4, 3, 2), 1, False),
    ((2, 4, 8, 9), (6, 2, 1, 3), 2, False),
    ((2, 4, 8, 9), (8, 1, 3, 3), 4, False),
    ((1, 3, 7, 5), (4, 3, 1, 1), 1, False),
    ((1, 2, 5, 4, 6), (3, 2, 2, 3, 2), 1, False),
    ((2, 4, 9), (4, 3, 3), 1, True),
    ((1, 4, 9), (4, 3, 2), 2, True),
    ((2, 4, 5, 6), (4, 3, 3, 2), 1, True),
    ((2, 4, 5, 6), (4, 1, 3, 3), 4, True),
    ((1, 2, 3, 4, 3), (2, 3, 2, 3, 2), 1, True),
)
ALL = (True, True, True)


class OpConvolutionBackwardTest(op_tester.OpTest):
    def backward(self, mask: Sequence[bool] = ALL) -> op_tester.OpTester:
        """Tests the gradients of `mask`. The other gradients are empty tensors, which must not change."""

        def reference(*args: Any) -> list[torch.Tensor]:
            results = torch.ops.aten.convolution_backward(*args)
            return [r if wanted else torch.empty(0) for r, wanted in zip(results, mask, strict=True)]

        return self.op("aten::convolution_backward.out", reference=reference)

    def judge(
        self, x: torch.Tensor, weight: torch.Tensor, *, stride: Sequence[int] = (1,), padding: Sequence[int] = (0,),
        dilation: Sequence[int] = (1,), output_padding: Sequence[int] = (0,), groups: int = 1, transposed: bool = False,
        order: Sequence[int] | None = None, mask: Sequence[bool] = ALL, **kwargs: Any,
    ) -> None:  # fmt: skip
        """Tests the gradients if the arguments of the convolution are valid."""
        lists = [list(values) for values in (stride, padding, dilation, output_padding)]
        parameters: tuple[Any, ...] = (*lists[:3], transposed, lists[3], groups)
        try:
            result = torch.convolution(x, weight, None, *parameters)
        except RuntimeError:
            return
        gradient = op_tester.make_tensor(result.shape, x.dtype, dim_order=order, low=-2, high=2)
        channels = [result.shape[1]]
        self.backward(mask).judge(
            gradient, x, weight, channels, *parameters, list(mask), rounding=op_tester.Rounding.SUM, **kwargs
        )

    def test_parameters(self) -> None:
        for x_shape, weight_shape, groups, transposed in CASES:
            x = op_tester.make_tensor(x_shape, torch.float32, low=-2, high=2)
            weight = op_tester.make_tensor(weight_shape, torch.float32, low=-2, high=2)
            for parameters in itertools.product((1, 2, 3), (0, 1, 2), (1, 2), (0, 1) if transposed else (0,)):
                stride, padding, dilation, output_padding = ([value] for value in parameters)
                self.judge(
                    x, weight, stride=stride, padding=padding, dilation=dilation, output_padding=output_padding,
                    groups=groups, transposed=transposed,
                )  # fmt: skip

    def test_several_parts(self) -> None:
        for x_shape, weight_shape, groups, transposed in (
            ((2, 70, 30, 31), (21, 70, 3, 3), 1, False),
            ((2, 80, 600), (70, 40, 4), 2, False),
            ((2, 8, 30, 31), (8, 5, 3, 3), 1, True),
        ):
            x = op_tester.make_tensor(x_shape, torch.float64, low=-2, high=2)
            weight = op_tester.make_tensor(weight_shape, torch.float64, low=-2, high=2)
            for stride in (1, 2):
                self.judge(x, weight, stride=[stride], padding=[1], groups=groups, transposed=transposed)

    def test_parameters_for_each_dimension(self) -> None:
        x = op_tester.make_tensor((1, 2, 9, 8), torch.float32, low=-2, high=2)
        weight = op_tester.make_tensor((2, 2, 3, 2), torch.float32, low=-2, high=2)
        for transposed in (False, True):
            self.judge(x, weight, stride=(2, 3), padding=(1, 0), dilation=(1, 2), transposed=transposed)
            self.judge(x, weight, stride=(3, 2), padding=(0, 2), output_padding=(2, 0), transposed=transposed)

    def test_dtypes(self) -> None:
        for (x_shape, weight_shape, groups, transposed), dtype in itertools.product(CASES, op_tester.ALL_DTYPES):
            x = op_tester.make_tensor(x_shape, dtype, low=-2, high=2)
            weight = op_tester.make_tensor(weight_shape, dtype, low=-2, high=2)
            self.judge(x, weight, stride=[2], padding=[1], groups=groups, transposed=transposed)

    def test_dim_orders(self) -> None:
        for x_shape, weight_shape, groups, transposed in CASES:
            orders = op_tester.dim_orders(len(x_shape))
            for x_order, weight_order, order in itertools.product(orders, repeat=3):
                x = op_tester.make_tensor(x_shape, torch.float32, dim_order=x_order, low=-2, high=2)
                weight = op_tester.make_tensor(weight_shape, torch.float32, dim_order=weight_order, low=-2, high=2)
                self.judge(x, weight, groups=groups, transposed=transposed, order=order)

    def test_out_dim_orders(self) -> None:
        for x_shape, weight_shape, groups, transposed in CASES:
            x = op_tester.make_tensor(x_shape, torch.float32, low=-2, high=2)
            weight = op_tester.make_tensor(weight_shape, torch.float32, low=-2, high=2)
            for order in op_tester.dim_orders(len(x_shape)):
                parameters = ([2], [1], [1], transposed, [0], groups)
                result = torch.convolution(x, weight, None, *parameters)
                expected = torch.ops.aten.convolution_backward(
                    result, x, weight, None, *parameters, [True, True, False]
                )
                outs = [*expected[:2], torch.empty(x.shape)]
                actual = self.op("aten::convolution_backward.out").run(
                    result,
                    x,
                    weight,
                    None,
                    *parameters,
                    [True, True, False],
                    outs=outs,
                    out_dim_order=order,
                    static=True,
                )
                torch.testing.assert_close(actual[:2], [*expected[:2]], rtol=1e-4, atol=1e-4)

    def test_masks(self) -> None:
        x, weight = (
            op_tester.make_tensor((2, 4, 5, 6), torch.float32),
            op_tester.make_tensor((4, 4, 3, 2), torch.float32),
        )
        for mask, transposed in itertools.product(itertools.product((False, True), repeat=3), (False, True)):
            self.judge(x, weight, mask=mask, transposed=transposed, static=True)

    def test_many_channels_and_positions(self) -> None:
        for x_shape, weight_shape, groups in (
            ((1, 70, 20, 21), (40, 70, 1, 1), 1),
            ((2, 40, 20, 21), (70, 40, 3, 3), 1),
            ((1, 10, 40, 41), (10, 1, 3, 3), 10),
            ((2, 33, 300), (600, 33, 5), 1),
        ):
            x = op_tester.make_tensor(x_shape, torch.float64, low=-1, high=1)
            weight = op_tester.make_tensor(weight_shape, torch.float64, low=-1, high=1)
            self.judge(x, weight, padding=[1], groups=groups, rtol=1e-9, atol=1e-9)

    def test_empty(self) -> None:
        for x_shape, weight_shape in (
            ((0, 2, 5), (3, 2, 3)), ((0, 2, 5, 5), (3, 2, 3, 3)), ((2, 2, 5), (3, 2, 5)), ((0, 2, 5, 5), (2, 3, 3, 3)),
        ):  # fmt: skip
            for transposed in (False, True):
                self.judge(torch.ones(x_shape), torch.ones(weight_shape), transposed=transposed)

    def test_rejected(self) -> None:
        backward = self.op("aten::convolution_backward.out")
        x, weight, gradient = torch.ones(1, 4, 5, 5), torch.ones(4, 4, 3, 3), torch.ones(1, 4, 3, 3)
        good: tuple[Any, ...] = ([1], [0], [1], False, [0], 1)
        outs = [x, weight, torch.ones(4)]
        backward.run(gradient, x, weight, [4], *good, [*ALL], outs=outs)
        for i, wrong in (
            (0, []), (0, [0]), (0, [-1]), (0, [1, 1, 1]), (0, [1 << 62]), (1, [-1]), (1, [1]), (1, [1 << 62]), (2, [0]),
            (2, [2]), (2, [1 << 62]), (3, True), (4, [-1]), (4, [1, 2, 3]), (5, 0), (5, -1), (5, 2), (5, 3),
        ):  # fmt: skip
            parameters = (*good[:i], wrong, *good[i + 1 :])
            backward.check_rejected(gradient, x, weight, [4], *parameters, [*ALL], outs=outs)
        for shape in ((1, 4, 3, 2), (1, 4, 2, 3), (1, 3, 3, 3), (2, 4, 3, 3), (4, 3, 3), (1, 4, 3, 3, 1)):
            backward.check_rejected(torch.ones(shape), x, weight, [4], *good, [*ALL], outs=outs)
        for mask in ([True, True], [True, True, True, True]):
            backward.check_rejected(gradient, x, weight, [4], *good, mask, outs=outs)
        for i in range(3):
            others = [out.double() if i == k else out for k, out in enumerate(outs)]
            backward.check_rejected(gradient, x, weight, [4], *good, [*ALL], outs=others)
            tensors = [t.double() if i == k else t for k, t in enumerate((gradient, x, weight))]
            backward.check_rejected(*tensors, [4], *good, [*ALL], outs=outs)
            small = [out[:0] if i == k else out for k, out in enumerate(outs)]
            backward.check_rejected(gradient, x, weight, [4], *good, [*ALL], outs=small, static=True)
        for dtype in (*op_tester.INT_DTYPES, torch.bool, *op_tester.UNSUPPORTED_DTYPES):
            others = [out.to(dtype) for out in outs]
            tensors = [t.to(dtype) for t in (gradient, x, weight)]
            backward.check_rejected(*tensors, [4], *good, [*ALL], outs=others)


if __name__ == "__main__":
    absltest.main()
