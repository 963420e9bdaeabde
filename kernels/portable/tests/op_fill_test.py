"""Tests of the operators that fill a tensor with one value."""

import torch
from absl.testing import absltest

from kernels.testing import op_tester

VALUES = (0, 3, -3, 2.75, True, 300, 1e6, float("inf"), float("nan"))
SIZES: tuple[list[int], ...] = ([], [0], [3], [2, 3], [2, 0, 3], [1, 1, 2, 1, 2, 1, 1, 2])


class OpFillTest(op_tester.OpTest):
    def test_full_like(self) -> None:
        for value in VALUES:
            self.check_unary(self.op("aten::full_like.out"), value, special=False, dtypes=op_tester.MOVABLE_DTYPES)

    def test_full_like_memory_format(self) -> None:
        x = torch.ones(2, 3, 4, 5)
        self.op("aten::full_like.out").check(x, 7, memory_format=torch.contiguous_format)

    def test_fill_scalar(self) -> None:
        for value in VALUES:
            self.check_unary(self.op("aten::fill.Scalar_out"), value, special=False, dtypes=op_tester.MOVABLE_DTYPES)

    def test_fill_tensor(self) -> None:
        fill = self.op("aten::fill.Tensor_out")
        for dtype in op_tester.MOVABLE_DTYPES:
            for value_dtype in op_tester.MOVABLE_DTYPES:
                x = op_tester.make_tensor((2, 3), dtype)
                fill.judge(x, torch.tensor(5, dtype=value_dtype))
                fill.judge(x, torch.tensor(5), out_dtype=value_dtype)
            fill.judge(x, torch.ones(1))

    def test_sizes(self) -> None:
        for name, arguments in (("full.out", (2.5,)), ("ones.out", ()), ("zeros.out", ())):
            tester = self.op(f"aten::{name}")
            for dtype in op_tester.MOVABLE_DTYPES:
                for size in SIZES:
                    tester.judge(size, *arguments, out_dtype=dtype)
                    tester.judge(
                        size, *arguments, out_dtype=dtype, static=True, out_dim_order=[*range(len(size))][::-1]
                    )
            for size in ([-1], [2, -3], [1 << 40], [1] * 20):
                tester.check_rejected(size, *arguments, outs=[torch.ones(1)])

    def test_full_values(self) -> None:
        full = self.op("aten::full.out")
        for dtype in op_tester.MOVABLE_DTYPES:
            for value in VALUES:
                full.judge([2, 3], value, out_dtype=dtype)
                full.judge([1], value, out_dtype=dtype)

    def test_empty(self) -> None:
        for name in ("aten::empty.out", "dim_order_ops::_empty_dim_order.out"):
            empty = self.op(name, schema=f"{name}(int[] size, *, int? format=None, Tensor(a!) out) -> Tensor(a!)")
            for dtype in op_tester.MOVABLE_DTYPES:
                for size in SIZES:
                    (result,) = empty.run(size, outs=[torch.empty(size, dtype=dtype)])
                    self.assertEqual(list(result.shape), size)
            for size in ([-1], [1 << 40], [1] * 20):
                empty.check_rejected(size, outs=[torch.ones(1)])
            empty.check_rejected([2, 3], outs=[torch.ones(2)])
            empty.check_rejected([2, 3], outs=[torch.ones(2, 2)], static=True)

    def test_empty_formats(self) -> None:
        x = torch.ones(2, 3, 4, 5)
        empty = self.op("aten::empty.out")
        empty.run([2, 3, 4, 5], memory_format=torch.channels_last, outs=[x], out_dim_order=[0, 2, 3, 1])
        empty.check_rejected([2, 3, 4], memory_format=torch.channels_last, outs=[x[0]])
        name = "dim_order_ops::_empty_dim_order.out"
        schema = f"{name}(int[] size, *, int[]? dim_order=None, Tensor(a!) out) -> Tensor(a!)"
        empty_dim_order = self.op(name, schema=schema)
        empty_dim_order.run([2, 3, 4, 5], dim_order=[0, 2, 3, 1], outs=[x], out_dim_order=[0, 2, 3, 1])
        for dim_order in ([0, 1, 2, 3], [0, 1, 2], [0, 1, 1, 2], [0, 1, 2, 4]):
            empty_dim_order.check_rejected([2, 3, 4, 5], dim_order=dim_order, outs=[x], out_dim_order=[0, 2, 3, 1])


if __name__ == "__main__":
    absltest.main()
