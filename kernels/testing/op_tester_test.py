"""Tests that op_tester detects errors: calls correct kernels with wrong expectations."""

import torch
from absl.testing import absltest

from kernels.testing import op_tester


class OpTesterTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.x = op_tester.make_tensor((2, 3), torch.float32)

    def test_other_values(self) -> None:
        schema = "aten::add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)"
        add = op_tester.OpTester("aten::add.out", schema=schema, reference=torch.sub)
        with self.assertRaisesRegex(AssertionError, r"aten::add.out\(float32\[2, 3\].*not close"):
            add.check(self.x, self.x)

    def test_tolerances(self) -> None:
        schema = "aten::neg.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"
        neg = op_tester.OpTester("aten::neg.out", schema=schema, reference=lambda x: -x * (1 + 5e-6))
        for options in ({}, {"exact": True}, {"rtol": 1e-7, "atol": 0}, {"rounding": op_tester.Rounding.CHANNEL}):
            with self.assertRaisesRegex(AssertionError, "aten::neg.out.*not (close|equal)"):
                neg.check(self.x, **options)
        neg.check(self.x, rounding=op_tester.Rounding.SUM)
        neg.check(self.x, rtol=1e-5)
        self.assertEqual(neg.accepted, 2)

    def test_out_dtypes(self) -> None:
        add = op_tester.OpTester("aten::add.out")
        add.judge_out_dtype(self.x, self.x, out_dtype=torch.float64)
        self.assertEqual((add.accepted, add.rejected), (1, 0))
        add.judge_out_dtype(self.x, self.x, out_dtype=torch.int32)  # PyTorch refuses this
        self.assertEqual((add.accepted, add.rejected), (1, 1))

    def test_other_shape(self) -> None:
        add = op_tester.OpTester("aten::add.out")
        with self.assertRaisesRegex(op_tester.KernelError, "error 0x"):
            add.run(self.x, self.x, outs=[self.x[0]])

    def test_kernel_accepts_what_pytorch_rejects(self) -> None:
        schema = "aten::neg.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"
        neg = op_tester.OpTester("aten::neg.out", schema=schema, reference=self.fail)
        with self.assertRaisesRegex(AssertionError, "the kernel accepts arguments that it should reject"):
            neg.judge(self.x)

    def test_kernel_fails_where_pytorch_does_not(self) -> None:
        schema = "aten::neg.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"
        neg = op_tester.OpTester("aten::neg.out", schema=schema, reference=torch.logical_not)
        with self.assertRaisesRegex(AssertionError, "the kernel fails for .*: error 0x12: Check failed"):
            neg.check(self.x.bool())

    def test_pytorch_accepts_what_should_be_rejected(self) -> None:
        with self.assertRaisesRegex(AssertionError, "PyTorch accepts aten::neg.out"):
            op_tester.OpTester("aten::neg.out").check_rejected(self.x)

    def test_no_such_kernel(self) -> None:
        schema = "aten::no_such_op.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"
        missing = op_tester.OpTester("aten::no_such_op.out", schema=schema, reference=torch.neg)
        with self.assertRaisesRegex(AssertionError, "no kernel is registered for aten::no_such_op.out"):
            missing.check(self.x)

    def test_wrong_arguments(self) -> None:
        add = op_tester.OpTester("aten::add.out")
        with self.assertRaisesRegex(TypeError, "argument other is missing"):
            add.run(self.x, outs=[self.x])
        with self.assertRaisesRegex(TypeError, "has no argument beta"):
            add.run(self.x, self.x, beta=1, outs=[self.x])
        with self.assertRaisesRegex(TypeError, "cannot pass 3 as Tensor"):
            add.run(self.x, 3, outs=[self.x])
        with self.assertRaisesRegex(ValueError, "do not match any dim order"):
            add.run(self.x[:, :2], self.x, outs=[self.x])

    def test_dim_orders(self) -> None:
        x = op_tester.with_dim_order(op_tester.make_tensor((2, 3, 4, 5), torch.float32), (0, 2, 3, 1))
        self.assertTrue(x.is_contiguous(memory_format=torch.channels_last))
        self.assertEqual(op_tester.dim_order_of(x), (0, 2, 3, 1))
        self.assertEqual(op_tester.strides_of(x.shape, (0, 2, 3, 1)), list(x.stride()))


if __name__ == "__main__":
    absltest.main()
