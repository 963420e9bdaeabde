"""Tests of op_copy.cpp: copy_, copy.out."""

import itertools

import torch
from absl.testing import absltest

from kernels.testing import op_tester


class OpCopyTest(op_tester.OpTest):
    def test_out(self) -> None:
        tester = self.op("aten::copy.out")
        for shape, source_shape in (*op_tester.BROADCAST_SHAPES, *op_tester.NOT_BROADCAST_SHAPES, ((2,), (1, 2))):
            for order, source_order in itertools.product(
                op_tester.dim_orders(len(shape)), op_tester.dim_orders(len(source_shape))
            ):
                x = op_tester.make_tensor(shape, torch.float32, dim_order=order)
                source = op_tester.make_tensor(source_shape, torch.float32, dim_order=source_order)
                tester.judge(x, source, exact=True)
                tester.judge(x, source, True, out_dim_order=order, static=True, exact=True)

    def test_out_dtypes(self) -> None:
        tester = self.op("aten::copy.out")
        for dtype, source_dtype in itertools.product(op_tester.MOVABLE_DTYPES, op_tester.MOVABLE_DTYPES):
            x = op_tester.make_tensor((2, 3), dtype)
            # The conversion of negative values to uint8 is not defined.
            source = op_tester.make_tensor((3,), source_dtype, low=0)
            tester.check(x, source, exact=True)
            tester.judge(x, source, out_dtype=source_dtype, exact=True)

    def test_in_place(self) -> None:
        for shape, source_shape in (*op_tester.BROADCAST_SHAPES, *op_tester.NOT_BROADCAST_SHAPES, ((2,), (1, 2))):
            for order in op_tester.dim_orders(len(shape)):
                x = op_tester.make_tensor(shape, torch.float32, dim_order=order)
                self._judge_in_place(x, op_tester.make_tensor(source_shape, torch.float32))

    def test_in_place_dtypes(self) -> None:
        for dtype, source_dtype in itertools.product(op_tester.MOVABLE_DTYPES, op_tester.MOVABLE_DTYPES):
            x = op_tester.make_tensor((2, 3), dtype)
            self._judge_in_place(x, op_tester.make_tensor((3,), source_dtype, low=0))

    def _judge_in_place(self, x: torch.Tensor, source: torch.Tensor) -> None:
        """Tests that the kernel changes `x` in the same way as PyTorch changes a copy of `x`."""
        tester = self.op("aten::copy_")
        expected = x.clone()
        try:
            expected.copy_(source)
        except RuntimeError:
            tester.check_rejected(x, source, outs=[])
        else:
            tester.run(x, source, outs=[])
            tester.accepted += 1
        torch.testing.assert_close(x, expected, rtol=0, atol=0)


if __name__ == "__main__":
    absltest.main()
