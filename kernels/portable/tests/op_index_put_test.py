"""Tests of op_index_put.cpp: index_put_, index_put.out."""

import torch
from absl.testing import absltest

from kernels.portable.tests.index_cases import INDICES, NO_INDICES, long
from kernels.testing import op_tester


def _values_for(x: torch.Tensor, indices: list[torch.Tensor | None]) -> list[torch.Tensor]:
    """Values: one for each position, one for all positions, and one for each index of the last dimension."""
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
            for indices in INDICES:
                for values in _values_for(x, indices):
                    for accumulate in (False, True):
                        tester.judge(x, indices, values, accumulate, exact=True)

    def test_no_indices(self) -> None:
        x = op_tester.make_tensor((3, 4, 5, 2), torch.float32)
        values = op_tester.make_tensor((5, 1), torch.float32)
        for indices in NO_INDICES:
            for accumulate in (False, True):
                (result,) = self.op("aten::index_put.out").run(x, indices, values, accumulate, outs=[x])
                self.assertTrue(torch.equal(result, x + values if accumulate else values.expand(x.shape)))
                self.op("aten::index_put_").check_rejected(x, indices, values, accumulate, outs=[])

    def test_out_dim_orders(self) -> None:
        tester = self.op("aten::index_put.out")
        x = op_tester.make_tensor((3, 4, 5, 2), torch.float32)
        values = op_tester.make_tensor((3, 2, 2, 5, 2), torch.float32, dim_order=(0, 2, 3, 4, 1))
        for order in op_tester.dim_orders(4):
            tester.check(x, [None, long([[0, 1], [2, 3]])], values, out_dim_order=order, static=True, exact=True)

    def test_repeated_positions_are_added_up(self) -> None:
        tester = self.op("aten::index_put.out")
        for dtype in op_tester.ALL_DTYPES:
            x = op_tester.make_tensor((3, 5), dtype)
            tester.check(x, [long([0, 2, 0, 0])], op_tester.make_tensor((4, 5), dtype), True, exact=True)
            tester.check(x, [long([0, 2, 0, 0]), long(1)], op_tester.make_tensor((), dtype), True, exact=True)

    def test_dtypes(self) -> None:
        tester = self.op("aten::index_put.out")
        indices = [long([2, 0])]
        for dtype in op_tester.MOVABLE_DTYPES:
            x = op_tester.make_tensor((3, 5), dtype)
            for values_dtype in op_tester.MOVABLE_DTYPES:
                tester.judge(x, indices, op_tester.make_tensor((5,), values_dtype), exact=True)
            tester.judge(x, indices, x[0], out_dtype=torch.float32, exact=True)
        for dtype in op_tester.UNSUPPORTED_DTYPES:
            x = torch.ones((3, 5), dtype=dtype)
            tester.check_rejected(x, indices, x[0], True, outs=[x])

    def test_values_that_do_not_broadcast(self) -> None:
        tester = self.op("aten::index_put.out")
        x = op_tester.make_tensor((3, 4), torch.float32)
        for shape in ((3,), (1, 2, 4), (4, 1), (2, 3), (0,)):
            tester.check_rejected(x, [long([2, 0])], torch.ones(shape))

    def test_in_place(self) -> None:
        tester = self.op("aten::index_put_")
        for order in op_tester.dim_orders(4):
            for indices in INDICES:
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
