"""Tests of op_searchsorted.cpp: searchsorted and bucketize, of tensors and of numbers."""

import itertools

import torch
from absl.testing import absltest

from kernels.testing import op_tester

_NUMBERS = (-1, 0, 2, 2.5, 300, 1e6, float("nan"), float("inf"), True)


class OpSearchsortedTest(op_tester.OpTest):
    def test_dtypes(self) -> None:
        search, bucketize = self.op("aten::searchsorted.Tensor_out"), self.op("aten::bucketize.Tensor_out")
        for boundary_dtype, dtype in itertools.product(op_tester.ALL_DTYPES, repeat=2):
            boundaries = op_tester.make_tensor((9,), boundary_dtype).sort().values
            for shape in ((), (3, 5)):
                x = op_tester.make_tensor(shape, dtype)
                for out_int32, right in itertools.product((False, True), repeat=2):
                    search.judge(boundaries, x, out_int32=out_int32, right=right)
                    bucketize.judge(x, boundaries, out_int32=out_int32, right=right)

    def test_lines(self) -> None:
        search = self.op("aten::searchsorted.Tensor_out")
        for order, x_order in itertools.product(op_tester.dim_orders(3), repeat=2):
            boundaries = op_tester.make_tensor((2, 3, 6), torch.float32).sort().values
            boundaries = op_tester.with_dim_order(boundaries, order)
            x = op_tester.make_tensor((2, 3, 4), torch.float32, dim_order=x_order)
            for right in (False, True):
                search.check(boundaries, x, right=right, out_dim_order=x_order)
                search.check(boundaries[0, 0].contiguous(), x, right=right)

    def test_sorter(self) -> None:
        search = self.op("aten::searchsorted.Tensor_out")
        for shape, order in (((9,), (0,)), ((2, 9), (0, 1)), ((2, 9), (1, 0))):
            boundaries = op_tester.make_tensor(shape, torch.float32)
            sorter = op_tester.with_dim_order(boundaries.argsort(), order)
            x = op_tester.make_tensor((*shape[:-1], 5), torch.float32)
            for side, right in ((None, False), (None, True), ("left", False), ("right", True), ("right", False)):
                search.check(boundaries, x, side=side, right=right, sorter=sorter)
        self.op("aten::searchsorted.Scalar_out").check(torch.tensor([3.0, 1, 2]), 1.5, sorter=torch.tensor([1, 2, 0]))

    def test_numbers(self) -> None:
        search, bucketize = self.op("aten::searchsorted.Scalar_out"), self.op("aten::bucketize.Scalar_out")
        for dtype, number in itertools.product(op_tester.ALL_DTYPES, _NUMBERS):
            boundaries = op_tester.make_tensor((9,), dtype).sort().values
            for out_int32, right in itertools.product((False, True), repeat=2):
                search.judge(boundaries, number, out_int32=out_int32, right=right)
                bucketize.judge(number, boundaries, out_int32=out_int32, right=right)

    def test_special_values(self) -> None:
        search = self.op("aten::searchsorted.Tensor_out")
        for dtype in op_tester.FLOAT_DTYPES:
            values = op_tester.special_values(dtype)
            for right in (False, True):
                search.check(values.sort().values, values, right=right)
                search.check(torch.tensor([-0.0, 0.0, 1.0], dtype=dtype), values, right=right)

    def test_shapes(self) -> None:
        search = self.op("aten::searchsorted.Tensor_out")
        for boundary_shape, shape in itertools.product(((), (0,), (3,), (2, 3), (2, 0), (1, 2, 3)), repeat=2):
            boundaries = op_tester.make_tensor(boundary_shape, torch.float32).sort().values
            search.judge(boundaries, op_tester.make_tensor(shape, torch.float32))
            self.op("aten::bucketize.Tensor_out").judge(op_tester.make_tensor(shape, torch.float32), boundaries)
            self.op("aten::bucketize.Scalar_out").judge(0.5, boundaries)

    def test_threads(self) -> None:
        boundaries = torch.arange(1000.0)
        x = torch.rand((100, 1000), generator=torch.Generator().manual_seed(0)) * 1000
        self.op("aten::searchsorted.Tensor_out").check_threads(boundaries, x)

    def test_rejected(self) -> None:
        search = self.op("aten::searchsorted.Tensor_out")
        x = torch.ones(3)
        out = x.long()
        search.check_rejected(x, x, side="middle")
        search.check_rejected(x, x, side="left", right=True)
        search.check_rejected(x, x, sorter=out[:2].clone())
        search.check_rejected(x, x, sorter=out.int())
        for index in (-1, 3):
            search.check_rejected(x, x, sorter=torch.tensor([0, 1, index]))
        search.check_rejected(x, x, outs=[out.int()])
        search.check_rejected(x, x, out_int32=True, outs=[out])
        search.check_rejected(x, x, outs=[out[:2]], static=True)
        for dtype in op_tester.UNSUPPORTED_DTYPES:
            search.check_rejected(x.to(dtype), x.to(dtype), outs=[out])


if __name__ == "__main__":
    absltest.main()
