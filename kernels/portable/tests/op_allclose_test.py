"""Tests of op_allclose.cpp: allclose.out and allclose.Tensor of custom_ops.yaml."""

import itertools

import torch
from absl.testing import absltest

from kernels.testing import op_tester
from kernels.testing.references import reference

NOT_SUPPORTED = 0x10  # an error code of the runtime


class OpAllcloseTest(op_tester.OpTest):
    def allclose(self) -> op_tester.OpTester:
        return self.op("aten::allclose.out", **reference("aten::allclose.out"))

    def test_dtypes(self) -> None:
        allclose = self.allclose()
        for dtype, other in itertools.product(op_tester.ALL_DTYPES, repeat=2):
            x = op_tester.make_tensor((3, 5), dtype)
            allclose.judge(x, x.to(other))
        for dtype, rtol, atol in itertools.product(op_tester.ALL_DTYPES, (0, 0.1, 1), (0, 1, 20)):
            x = op_tester.make_tensor((3, 5), dtype, low=0)
            for difference in (0, 1, 2, 10):
                y = x.clone()
                y[1, 2] = y[1, 2].item() + difference
                allclose.judge(x, y, rtol, atol)
                allclose.judge(y, x, rtol, atol)

    def test_special_values(self) -> None:
        allclose = self.allclose()
        # In PyTorch, differences of integers wrap around.
        for dtype in op_tester.FLOAT_DTYPES:
            values = op_tester.special_values(dtype)
            # In PyTorch, differences of Half and BFloat16 overflow to infinity.
            tolerances = (0, 1e300) if dtype.itemsize > 2 else (0,)
            for a, b in itertools.product(values, repeat=2):
                for equal_nan, atol in itertools.product((False, True), tolerances):
                    allclose.judge(a, b, 1e-5, atol, equal_nan)

    def test_every_element_counts(self) -> None:
        allclose = self.allclose()
        for i in range(0, 1000, 37):
            x, y = torch.ones(1000), torch.ones(1000)
            y[i] = 2
            allclose.judge(x, y)

    def test_shapes(self) -> None:
        allclose = self.allclose()
        for a_shape, b_shape in (*op_tester.BROADCAST_SHAPES, *op_tester.NOT_BROADCAST_SHAPES):
            allclose.judge(torch.ones(a_shape), torch.ones(b_shape))
            allclose.judge(torch.ones(a_shape), torch.zeros(b_shape))
        for a_order, b_order in itertools.product(op_tester.dim_orders(4), repeat=2):
            a = op_tester.make_tensor((2, 3, 4, 5), torch.float32, dim_order=a_order)
            allclose.judge(a, op_tester.with_dim_order(a, b_order))
            allclose.judge(a, op_tester.with_dim_order(a.flip(0), b_order))

    def test_out(self) -> None:
        allclose = self.allclose()
        x = torch.ones(2)
        for shape in ((), (1,), (1, 1)):
            (result,) = allclose.run(x, x, outs=[torch.zeros(shape, dtype=torch.bool)], static=True)
            self.assertTrue(result.item())
        for shape in ((0,), (2,)):
            allclose.check_rejected(x, x, outs=[torch.zeros(shape, dtype=torch.bool)], static=True)
        allclose.check_rejected(x, x, outs=[torch.zeros(())])

    def test_rejected(self) -> None:
        allclose, x, out = self.allclose(), torch.ones(2), torch.tensor(False)
        for rtol, atol in ((-1, 0), (0, -1), (float("nan"), 0), (0, float("nan"))):
            allclose.check_rejected(x, x, rtol, atol, outs=[out])
        for dtype in op_tester.UNSUPPORTED_DTYPES:
            allclose.check_rejected(x.to(dtype), x.to(dtype), outs=[out])

    def test_without_out(self) -> None:
        """Tests that the functional variant fails, because it has no memory for its result."""
        x = torch.ones(2)
        tester = self.op("aten::allclose.Tensor", **reference("aten::allclose.Tensor"))
        with self.assertRaises(op_tester.KernelError) as raised:
            tester.run(x, x, outs=[])
        self.assertEqual(raised.exception.code, NOT_SUPPORTED)


if __name__ == "__main__":
    absltest.main()
