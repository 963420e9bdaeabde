"""Tests of the operators that rearrange elements."""

from typing import Any

import torch
from absl.testing import absltest

from kernels.testing import op_tester


class OpRearrangeTest(op_tester.OpTest):
    def test_dtypes(self) -> None:
        for name, arguments in (
            ("as_strided_copy.out", ([2, 3], [1, 2], 1)),
            ("diagonal_copy.out", ()),
            ("flip.out", ([1],)),
            ("repeat.out", ([2, 1, 3],)),
            ("roll.out", ([2], [1])),
            ("roll.out", ([2],)),
            ("tril.out", ()),
            ("unfold_copy.out", (1, 2, 2)),
        ):
            with self.subTest(name):
                self.check_copy(self.op(f"aten::{name}"), *arguments)

    def check_dim_orders(self, name: str, *calls: tuple[Any, ...], rank: int = 4) -> None:
        tester = self.op(f"aten::{name}")
        for order in op_tester.dim_orders(rank):
            x = op_tester.make_tensor((2, 3, 4, 5)[:rank], torch.float32, dim_order=order)
            for arguments in calls:
                tester.judge(x, *arguments, exact=True)

    def test_flip(self) -> None:
        self.check_dim_orders(
            "flip.out", *(([*dims],) for dims in ((), (0,), (-1, 1), (3, 2, 1, 0), (4,), (0, 0), (-5,)))
        )
        for shape in ((), (0,), (2, 0), (300,), (2, 600)):
            for dims in ([], [0], [-1]):
                self.op("aten::flip.out").judge(op_tester.make_tensor(shape, torch.int64), dims)

    def test_roll(self) -> None:
        self.check_dim_orders(
            "roll.out",
            *(
                ([7],),
                ([-3],),
                ([1, 2], [0, 3]),
                ([-1, 9], [1, -1]),
                ([1, 2], [2, 2]),
                ([1], [4]),
                ([1, 2], [0]),
                ([], []),
            ),
            *(([1, 2],), ([(1 << 62)], [1])),
        )
        for shape in ((), (0,), (2, 0), (300,)):
            self.op("aten::roll.out").judge(op_tester.make_tensor(shape, torch.int64), [2])
            self.op("aten::roll.out").judge(op_tester.make_tensor(shape, torch.int64), [2], [0])

    def test_repeat(self) -> None:
        self.check_dim_orders(
            "repeat.out", *(([*repeats],) for repeats in ((1, 2, 3, 1), (2, 1, 1, 0, 2), (1, 1), (-1, 1, 1, 1)))
        )
        self.op("aten::repeat.out").check(torch.tensor(2.0), [])
        self.op("aten::repeat.out").check(torch.tensor(2.0), [3, 2])
        self.op("aten::repeat.out").check(torch.ones(2, 0), [3, 2])
        self.op("aten::repeat.out").check(op_tester.make_tensor((3,), torch.int32), [2] * 8)

    def test_as_strided(self) -> None:
        tester = self.op("aten::as_strided_copy.out")
        x = op_tester.make_tensor((4, 6), torch.float32)
        for arguments in (
            ([3, 2], [2, 1]), ([2, 3], [0, 5], 3), ([], [], 23), ([24], [1]), ([0], [1 << 40]), ([1], [1 << 62], 5),
            ([25], [1]), ([2], [24]), ([], [], 24), ([2], [1 << 62]), ([2], [1, 1]), ([2], [-1]), ([-2], [1]),
            ([1], [1], -1),
        ):  # fmt: skip
            tester.judge(x, *arguments)

    def test_diagonal(self) -> None:
        offsets = (0, 1, -1, 3, -3, 9, -9, (1 << 62), -(1 << 62))
        self.check_dim_orders(
            "diagonal_copy.out", *((offset, a, b) for offset in offsets for a, b in ((0, 1), (3, 1), (-2, 0)))
        )
        self.check_dim_orders("diagonal_copy.out", (0, 1, 1), (0, 4, 1), (0, 1, -5))
        self.op("aten::diagonal_copy.out").check_rejected(torch.ones(3))

    def test_tril(self) -> None:
        self.check_dim_orders("tril.out", *((diagonal,) for diagonal in (0, 1, -1, 4, -4, 1 << 62, -(1 << 62))))
        for shape in ((3,), (), (0, 3), (3, 0), (5, 2)):
            self.op("aten::tril.out").judge(op_tester.make_tensor(shape, torch.float32))

    def test_unfold(self) -> None:
        calls = (
            (2, 2, 1),
            (-1, 3, 2),
            (0, 2, 5),
            (1, 0, 1),
            (3, 6, 1),
            (3, 2, 0),
            (3, -1, 1),
            (4, 1, 1),
            (3, 5, 1 << 62),
        )
        self.check_dim_orders("unfold_copy.out", *calls)
        for size in (0, 1, 2):
            self.op("aten::unfold_copy.out").judge(torch.tensor(2.0), 0, size, 1)
        most = torch.ones((2,) + (1,) * 15)  # the largest number of dimensions of a tensor
        self.op("aten::unfold_copy.out").check_rejected(most, 0, 1, 1, outs=[most])

    def test_pixels(self) -> None:
        for name, shape in (("pixel_shuffle.out", (2, 12, 3, 5)), ("pixel_unshuffle.out", (2, 3, 4, 6))):
            tester = self.op(f"aten::{name}")
            for dtype in op_tester.MOVABLE_DTYPES:
                tester.check(op_tester.make_tensor(shape, dtype), 2, exact=True)
            for order in op_tester.dim_orders(4):
                x = op_tester.make_tensor(shape, torch.float32, dim_order=order)
                for factor in (1, 2, 3, 0, -1, 1 << 40):
                    tester.judge(x, factor, exact=True)
            for other in (shape[1:], (2, *shape), (2, 2)):
                tester.judge(op_tester.make_tensor(other, torch.float32), 2)
            tester.check(torch.ones((1,) * 11 + (4, 2, 2)), 2, exact=True)
            for leading in (12, 13):
                many = torch.ones((1,) * leading + (4, 2, 2))
                tester.check_rejected(many, 2, outs=[many])

    def test_stack(self) -> None:
        stack = self.op("aten::stack.out")
        for a in op_tester.MOVABLE_DTYPES:
            for b in op_tester.MOVABLE_DTYPES:
                x = op_tester.make_tensor((2, 3), a, low=0)
                stack.judge([x, op_tester.make_tensor((2, 3), b, low=0)], 1)
                stack.judge_out_dtype([x, x], 0, out_dtype=b)
        for order in op_tester.dim_orders(4):
            x = op_tester.make_tensor((2, 3, 4, 5), torch.float32, dim_order=order)
            for dim in range(-6, 6):
                stack.judge([x, -x, x], dim, exact=True)
        stack.check([torch.tensor(1), torch.tensor(2)])
        stack.check_rejected([torch.ones(2), torch.ones(3)])
        stack.check_rejected([torch.ones(2), torch.ones(1)])
        stack.check_rejected([], outs=[torch.ones(0)])


if __name__ == "__main__":
    absltest.main()
