"""Tests of op__embedding_bag.cpp."""

import itertools
from typing import Any

import torch
from absl.testing import absltest

from kernels.testing import op_tester

SUM, MEAN, MAX = range(3)


class OpEmbeddingBagTest(op_tester.OpTest):
    def bag(self) -> op_tester.OpTester:
        return self.op("aten::_embedding_bag.out")

    def test_modes(self) -> None:
        index = torch.tensor([1, 2, 2, 3, 0, 1])
        offset = torch.tensor([0, 2, 2, 5])
        for dtype, mode in itertools.product(op_tester.ALL_DTYPES, (SUM, MEAN, MAX)):
            for columns in (3, 200, 0):
                weight = op_tester.make_tensor((4, columns), dtype)
                for include_last, padding in itertools.product((False, True), (-1, 2)):
                    for index_dtype, offset_dtype in itertools.product((torch.int64, torch.int32), repeat=2):
                        self.bag().judge(
                            weight,
                            *(index.to(index_dtype), offset.to(offset_dtype)),
                            *(False, mode, False, None, include_last, padding),
                            rounding=op_tester.Rounding.SUM,
                        )

    def test_factors(self) -> None:
        index, offset = torch.tensor([1, 2, 2, 3, 0, 1]), torch.tensor([0, 2, 2, 6])
        for dtype in op_tester.FLOAT_DTYPES:
            weight, factors = op_tester.make_tensor((4, 5), dtype), op_tester.make_tensor((6,), dtype)
            for mode, padding, last in itertools.product((SUM, MEAN, MAX), (-1, 2), (False, True)):
                call = (weight, index, offset, False, mode, False, factors, last, padding)
                self.bag().judge(*call, rounding=op_tester.Rounding.SUM)
        self.bag().judge(weight, index, offset, False, SUM, False, factors[:5], False, -1)

    def test_dim_orders(self) -> None:
        """Tests that the second result and what include_last_offset means depend on the dim order of the weights."""
        index = torch.tensor([1, 2, 2, 3, 0, 1])
        for dtype, shape, order in itertools.product(
            op_tester.FLOAT_DTYPES, ((4, 3), (4, 1), (4, 0)), op_tester.dim_orders(2)
        ):
            weight, factors = op_tester.make_tensor(shape, dtype, dim_order=order), op_tester.make_tensor((6,), dtype)
            for end, mode, last in itertools.product((4, 6), (SUM, MEAN, MAX), (False, True)):
                for given in (None, factors):
                    call = (weight, index, torch.tensor([0, 2, end]), False, mode, False, given, last)
                    self.bag().judge(*call, rounding=op_tester.Rounding.SUM)

    def test_indices_behind_the_last_offset(self) -> None:
        """Tests that indices that no sum reads may be out of bounds."""
        weight, offset = op_tester.make_tensor((4, 3), torch.float32), torch.tensor([0, 2])
        for mode, padding, unused in itertools.product((SUM, MEAN, MAX), (-1, 2), (0, 4, -1, 2**62)):
            self.bag().judge(weight, torch.tensor([1, 2, unused]), offset, False, mode, False, None, True, padding)

    def test_special_values(self) -> None:
        values = op_tester.special_values(torch.float32)
        index, offset = torch.arange(len(values)), torch.arange(0, len(values), 3)
        for mode in (SUM, MEAN, MAX):
            self.bag().check(values[:, None].repeat(1, 2), index, offset, False, mode)

    def test_no_indices(self) -> None:
        weight = op_tester.make_tensor((4, 3), torch.float32)
        for mode, offsets in itertools.product((SUM, MEAN, MAX), ([], [0], [0, 0, 0])):
            self.bag().judge(weight, torch.tensor([]).long(), torch.tensor(offsets).long(), False, mode)

    def test_rejected(self) -> None:
        weight, index, offset = torch.ones(4, 3), torch.tensor([1, 2, 2, 3]), torch.tensor([0, 2])
        outs = [torch.empty(2, 3), torch.empty(0).long(), torch.empty(2).long(), torch.empty(2).long()]
        call: tuple[Any, ...]
        for call in (
            (weight, torch.tensor([1, 4, 0, 0]), offset),
            (weight, torch.tensor([1, -1, 0, 0]), offset),
            (weight, index, torch.tensor([1, 2])),
            (weight, index, torch.tensor([0, 5])),
            (weight, index[None], offset),
            (weight, index, offset[None]),
            (weight, index.float(), offset),
            (weight, index.to(torch.int8), offset),
            (weight, index, offset.to(torch.int8)),
            (weight[0], index, offset),
            (weight, index, offset, False, 3),
            (weight, index, offset, False, -1),
            (weight, index, offset[:0], False, SUM, False, None, True),
            (weight, index, offset[:1], False, SUM, False, None, True),
            (weight, index, offset[:0]),
            (weight, index, offset, False, MAX, False, torch.ones(4)),
            (weight, index, offset, False, SUM, False, torch.ones(3)),
            (weight, index, offset, False, SUM, False, torch.ones(4).double()),
        ):
            self.bag().check_rejected(*call, outs=outs)
        self.bag().check_rejected(weight, index, offset, outs=[outs[0].double(), *outs[1:]])
        self.bag().check_rejected(weight, index, offset, outs=[outs[0], outs[1].int(), *outs[2:]])


if __name__ == "__main__":
    absltest.main()
