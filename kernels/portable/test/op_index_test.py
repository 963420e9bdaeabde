"""Tests of op_index.cpp: index.Tensor_out."""

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


class OpIndexTest(op_tester.OpTest):
    def test_indices(self) -> None:
        tester = self.op("aten::index.Tensor_out")
        for order in op_tester.dim_orders(4):
            x = op_tester.make_tensor((3, 4, 5, 2), torch.float32, dim_order=order)
            for indices in _INDICES:
                tester.judge(x, indices, exact=True)

    def test_byte_masks(self) -> None:
        x = op_tester.make_tensor((3, 4, 5, 2), torch.float32)
        self.op("aten::index.Tensor_out").check(x, [_mask(3, 4).byte() * 3], exact=True)

    def test_out_dim_orders(self) -> None:
        tester = self.op("aten::index.Tensor_out")
        x = op_tester.make_tensor((3, 4, 5, 2), torch.float32)
        for order in op_tester.dim_orders(5):
            tester.check(x, [None, _long([[0, 1], [2, 3]])], out_dim_order=order, static=True, exact=True)

    def test_empty_tensors(self) -> None:
        tester = self.op("aten::index.Tensor_out")
        for shape in ((0,), (0, 3), (3, 0), ()):
            x = op_tester.make_tensor(shape, torch.float32)
            for indices in ([_long([0])], [_long([])], [_long([7])], [None, _long([0])], [_long([0]), _long([0])]):
                tester.judge(x, indices, exact=True)

    def test_dtypes(self) -> None:
        tester = self.op("aten::index.Tensor_out")
        indices = [_long([2, 0])]
        for dtype in op_tester.ALL_DTYPES:
            x = op_tester.make_tensor((3, 5), dtype)
            tester.check(x, indices, exact=True)
            for out_dtype in op_tester.ALL_DTYPES:
                tester.judge(x, indices, out_dtype=out_dtype, exact=True)
        for dtype in op_tester.UNSUPPORTED_DTYPES:
            x = torch.ones((3, 5), dtype=dtype)
            tester.check_rejected(x, indices, outs=[x[:2]])

    def test_out_shape_is_judged(self) -> None:
        x = torch.ones((3, 5))
        self.op("aten::index.Tensor_out").check_rejected(x, [_long([2, 0])], outs=[torch.ones(10)])


if __name__ == "__main__":
    absltest.main()
