"""Tests of op_index_put.cpp: index_put_, index_put.out."""

from typing import Any

import torch
from absl.testing import absltest

from kernels.testing import op_tester


def _long(values: Any) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.int64)


def _mask(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.rand(shape, generator=torch.Generator().manual_seed(seed)) < 0.5


# Indices for a tensor of shape (3, 4, 5, 2), valid ones and others.
_INDICES: tuple[list[torch.Tensor | None], ...] = (
    [_long(1)],
    [_long([0, 2, 2, -1])],
    [_long([0, 2, -3]).int()],
    [_long([[0, 1, 2], [2, 1, 0]])],
    [_long([[0, 1, 2], [2, 1, 0]]).T.contiguous().T],
    [None, _long([3, 0, -4])],
    [None, None, None, _long([[1], [0]])],
    [None, None, _long([4, 0]), None],
    [_long([0, 1]), _long([3, 2])],
    [_long([[0], [1], [2]]), _long([3, 2])],
    [_long([[0], [1], [2]]), _long(3).int()],
    [None, _long([0, 1]), _long([4])],
    [_long([0, 1]), None, _long([4, -5])],
    [_long([0, 1]), None, None, _long([[0], [1], [1]])],
    [_long([1]), _long([2]), _long([3]), _long([0])],
    [_long(1), _long(2), _long(3), _long(0)],
    [_long([])],
    [None, _long([]), _long([0])],
    [_mask(3)],
    [None, _mask(4)],
    [_mask(3, 4)],
    [None, _mask(4, 5)],
    [_mask(3, 4, 5, 2)],
    [op_tester.with_dim_order(_mask(3, 4, 5, 2), (0, 2, 3, 1))],
    [_mask(3, 4, 5), None],
    [_mask(3, 4), _long(4)],
    [_mask(3, 4), None, _long([1])],
    [torch.tensor([True, False, True]), _long([[3, 2]])],
    [torch.tensor([False, True, False]), _long([3, 2, 1])],
    [torch.tensor([True, False, True]), None, _mask(5, seed=1) & False],
    [torch.tensor([True, False, True]), None, torch.tensor([True, False, False, True, False])],
    [torch.tensor([True, False, True]), None, torch.tensor([False, False, False, True, False])],
    [torch.zeros(3, dtype=torch.bool)],
    # Refused: out of bounds,
    [_long([0, 3])],
    [_long([0, -4])],
    [_long([0, (1 << 63) - 1])],
    [_long([0, -1 << 63])],
    [_long([4]).int()],
    [None, _long([[4]])],
    [_long([0]), _long([0]), _long([5])],
    # not broadcast,
    [_long([0, 1]), _long([0, 1, 2])],
    [torch.tensor([True, True, True]), _long([0, 1])],
    # too many,
    [_long([0])] * 5,
    [None, None, None, None, _long([0])],
    [_mask(3, 4, 5), _long([0]), _long([0])],
    [_mask(3, 4), _mask(5, 2), None],
    # masks of another shape,
    [_mask(4)],
    [_mask(1)],
    [_mask(3, 5)],
    # not indices.
    [],
    [None],
    [torch.tensor([1.0])],
    [_long([1]).short()],
)


def _values_for(x: torch.Tensor, indices: list[torch.Tensor | None]) -> list[torch.Tensor]:
    """Values to put: one for each position, one for all, and one for those that differ in the last dimension only."""
    try:
        shape = torch.ops.aten.index.Tensor(x, indices).shape
    except (RuntimeError, IndexError):
        shape = torch.Size((1,))
    values = [op_tester.make_tensor(shape, x.dtype), torch.tensor(7, dtype=x.dtype)]
    return [*values, op_tester.make_tensor(shape[-1:], x.dtype)]


class OpIndexPutTest(op_tester.OpTest):
    def test_indices(self) -> None:
        tester = self.op("aten::index_put.out")
        for order in op_tester.dim_orders(4):
            x = op_tester.make_tensor((3, 4, 5, 2), torch.float32, dim_order=order)
            for indices in _INDICES:
                for values in _values_for(x, indices):
                    for accumulate in (False, True):
                        tester.judge(x, indices, values, accumulate, exact=True)

    def test_out_dim_orders(self) -> None:
        tester = self.op("aten::index_put.out")
        x = op_tester.make_tensor((3, 4, 5, 2), torch.float32)
        values = op_tester.make_tensor((3, 2, 2, 5, 2), torch.float32, dim_order=(0, 2, 3, 4, 1))
        for order in op_tester.dim_orders(4):
            tester.check(x, [None, _long([[0, 1], [2, 3]])], values, out_dim_order=order, static=True, exact=True)

    def test_repeated_positions_are_added_up(self) -> None:
        tester = self.op("aten::index_put.out")
        for dtype in op_tester.ALL_DTYPES:
            x = op_tester.make_tensor((3, 5), dtype)
            tester.check(x, [_long([0, 2, 0, 0])], op_tester.make_tensor((4, 5), dtype), True, exact=True)
            tester.check(x, [_long([0, 2, 0, 0]), _long(1)], op_tester.make_tensor((), dtype), True, exact=True)

    def test_dtypes(self) -> None:
        tester = self.op("aten::index_put.out")
        indices = [_long([2, 0])]
        for dtype in op_tester.ALL_DTYPES:
            x = op_tester.make_tensor((3, 5), dtype)
            for values_dtype in op_tester.ALL_DTYPES:
                tester.judge(x, indices, op_tester.make_tensor((5,), values_dtype), exact=True)
            self.judge_out_dtype(tester, x, indices, x[0], out_dtype=torch.float32, exact=True)
        for dtype in op_tester.UNSUPPORTED_DTYPES:
            x = torch.ones((3, 5), dtype=dtype)
            tester.check_rejected(x, indices, x[0], outs=[x])

    def test_values_that_do_not_broadcast(self) -> None:
        tester = self.op("aten::index_put.out")
        x = op_tester.make_tensor((3, 4), torch.float32)
        for shape in ((3,), (1, 2, 4), (4, 1), (2, 3), (0,)):
            tester.check_rejected(x, [_long([2, 0])], torch.ones(shape))

    def test_in_place(self) -> None:
        tester = self.op("aten::index_put_")
        for order in op_tester.dim_orders(4):
            for indices in _INDICES:
                for accumulate in (False, True):
                    x = op_tester.make_tensor((3, 4, 5, 2), torch.float32, dim_order=order)
                    values = _values_for(x, indices)[0]
                    try:
                        expected = torch.ops.aten.index_put(x, indices, values, accumulate)
                    except (RuntimeError, IndexError):
                        expected = x.clone()
                        tester.check_rejected(x, indices, values, accumulate, outs=[])
                    else:
                        tester.run(x, indices, values, accumulate, outs=[])
                        tester.accepted += 1
                    torch.testing.assert_close(x, expected, rtol=0, atol=0)


if __name__ == "__main__":
    absltest.main()
