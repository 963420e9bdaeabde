"""Tests of the operators that search for the largest or the smallest value."""

import torch
from absl.testing import absltest

from kernels.testing import op_tester

# Few dtypes for the smallest values, because the same template searches for the largest values.
FEW_DTYPES = (torch.float32, torch.uint8, torch.int64)


class OpExtremesTest(op_tester.OpTest):
    def test_amax_amin(self) -> None:
        for name, dtypes in (("amax.out", op_tester.ALL_DTYPES), ("amin.out", FEW_DTYPES)):
            with self.subTest(name):
                self.check_reduction(self.op(f"aten::{name}"), dtypes=dtypes, exact=True)

    def test_dim(self) -> None:
        for name in ("max.dim_max", "min.dim_min"):
            with self.subTest(name):
                reduction = self.op(f"aten::{name}")
                for dtype in op_tester.ALL_DTYPES if name == "max.dim_max" else FEW_DTYPES:
                    for shape in ((), (7,), (3, 5), (2, 0, 3), (2, 3, 4, 5), (3, 600), (600, 3)):
                        # The dimensions -rank - 1 and rank do not exist.
                        dims = range(-len(shape) - 1, len(shape) + 1)
                        for order in op_tester.dim_orders(len(shape)):
                            x = op_tester.make_tensor(shape, dtype, dim_order=order)
                            for dim in dims if order == tuple(range(len(shape))) else range(len(shape)):
                                for keepdim in (False, True):
                                    reduction.judge(x, dim, keepdim, exact=True)
                    for out_dtype in op_tester.ALL_DTYPES:
                        reduction.judge(op_tester.make_tensor((2, 3), dtype), 0, out_dtype=out_dtype)

    def test_whole(self) -> None:
        for name in ("max.unary_out", "min.unary_out"):
            with self.subTest(name):
                whole = self.op(f"aten::{name}")
                for dtype in op_tester.ALL_DTYPES:
                    for shape in op_tester.SHAPES:
                        for order in op_tester.dim_orders(len(shape)):
                            whole.judge(op_tester.make_tensor(shape, dtype, dim_order=order), static=True, exact=True)
                    whole.judge(op_tester.special_values(dtype))
                    for out_dtype in op_tester.ALL_DTYPES:
                        whole.judge_out_dtype(op_tester.make_tensor((2, 3), dtype, low=0), out_dtype=out_dtype)

    def test_index(self) -> None:
        for name, dtypes in (("argmax.out", op_tester.ALL_DTYPES), ("argmin.out", FEW_DTYPES)):
            with self.subTest(name):
                reduction = self.op(f"aten::{name}")
                self.check_reduction(reduction, dim_lists=False, dtypes=dtypes)
                for dtype in op_tester.ALL_DTYPES:
                    for shape in op_tester.SHAPES:
                        for order in op_tester.dim_orders(len(shape)):
                            reduction.judge(op_tester.make_tensor(shape, dtype, dim_order=order))
                    reduction.judge(op_tester.special_values(dtype))

    def test_first_of_many(self) -> None:
        nan = float("nan")
        x = torch.zeros(100000)
        x[[700, 99000]], x[[800, 98000]] = 1, -1
        for name, values in (("argmax.out", 700), ("argmin.out", 800)):
            (index,) = self.op(f"aten::{name}").expect(x)
            self.assertEqual(index.item(), values)
            self.op(f"aten::{name}").check(x)
            self.op(f"aten::{name}").check(torch.where(x == 1, nan, x))
            self.op(f"aten::{name}").check(torch.full((300,), nan))
            self.op(f"aten::{name}").check(torch.full((300,), float("inf")))
            self.op(f"aten::{name}").check(torch.full((300,), float("-inf")))


if __name__ == "__main__":
    absltest.main()
