"""Tests of the activation functions with parameters."""

from absl.testing import absltest

from kernels.testing import op_tester


class OpActivationsTest(op_tester.OpTest):
    def test_elu(self) -> None:
        for arguments in ((), (2,), (0.5, 1.5, 3), (-1, 2, 0.5)):
            self.check_unary(self.op("aten::elu.out"), *arguments)

    def test_leaky_relu(self) -> None:
        for arguments in ((), (0.2,), (-3,), (0,)):
            self.check_unary(self.op("aten::leaky_relu.out"), *arguments)


if __name__ == "__main__":
    absltest.main()
