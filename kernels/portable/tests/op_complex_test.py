"""Tests of the operators that take complex numbers only, or make them of real ones."""

import itertools

import torch
from absl.testing import absltest

from kernels.testing import op_tester


class OpComplexTest(op_tester.OpTest):
    def test_conj_physical(self) -> None:
        conj = self.op("aten::_conj_physical.out")
        self.check_unary(conj, exact=True, dtypes=op_tester.COMPLEX_DTYPES)
        for dtype in op_tester.ALL_DTYPES:
            x = torch.ones((2, 3), dtype=dtype)
            conj.check_rejected(x, outs=[x])

    def test_view_as_real_copy(self) -> None:
        view = self.op("aten::view_as_real_copy.out")
        for dtype in op_tester.COMPLEX_DTYPES:
            for shape in op_tester.SHAPES:
                for order in op_tester.dim_orders(len(shape)):
                    x = op_tester.make_tensor(shape, dtype, dim_order=order)
                    view.check(x, exact=True)
                    view.check(x, out_dim_order=[len(shape), *order], static=True, exact=True)
            x = op_tester.make_tensor((2, 3), dtype)
            for out_dtype in op_tester.MOVABLE_DTYPES:
                view.judge_out_dtype(x, out_dtype=out_dtype)
            view.check_rejected(x, outs=[torch.ones((2, 3, 2, 1))])
        for dtype in (*op_tester.ALL_DTYPES, *op_tester.UNSIGNED_DTYPES):
            view.check_rejected(torch.ones(3, dtype=dtype), outs=[torch.ones(3, 2)])
        most = torch.ones((1,) * 16, dtype=torch.complex64)  # the largest number of dimensions of a tensor
        view.check_rejected(most, outs=[torch.ones(2)])

    def test_complex(self) -> None:
        with_half = (torch.float16, torch.float32, torch.float64)
        self.check_binary(self.op("aten::complex.out"), exact=True, dtypes=with_half)
        self._check_dtypes("aten::complex.out", with_half)

    def test_polar(self) -> None:
        polar = self.op("aten::polar.out")
        self.check_binary(polar, dtypes=(torch.float32, torch.float64))
        self._check_dtypes("aten::polar.out", (torch.float32, torch.float64))
        for dtype in (torch.float32, torch.float64):
            x = op_tester.make_tensor((3, 200), dtype, low=-50, high=50)
            polar.check(x, x.flip(1))

    def test_view_as_complex_copy(self) -> None:
        view = self.op("aten::view_as_complex_copy.out")
        for dtype in (torch.float16, torch.float32, torch.float64):
            for shape in op_tester.SHAPES:
                for order in op_tester.dim_orders(len(shape)):
                    x = op_tester.make_tensor((*shape, 2), dtype, dim_order=[*order, len(shape)])
                    view.check(x, exact=True)
                    view.check(x, out_dim_order=order, static=True, exact=True)
            # PyTorch refuses parts that are not side by side.
            x = op_tester.make_tensor((3, 2), dtype)
            (result,) = view.run(op_tester.with_dim_order(x, [1, 0]), outs=view.expect(x))
            self.assertTrue(torch.equal(torch.view_as_real(result), x))
            for out_dtype in {*op_tester.MOVABLE_DTYPES} - {dtype.to_complex()}:
                view.check_rejected(x, outs=[torch.ones(3, dtype=out_dtype)])
        for shape in ((), (2, 3), (2, 1), (2, 0)):
            view.check_rejected(torch.ones(shape), outs=[torch.ones(2, dtype=torch.complex64)])
        for dtype in (*op_tester.ALL_DTYPES, *op_tester.COMPLEX_DTYPES, *op_tester.UNSIGNED_DTYPES):
            if dtype not in (torch.float16, torch.float32, torch.float64):
                out = torch.ones(3, dtype=torch.complex64)
                view.check_rejected(torch.ones(3, 2, dtype=dtype), outs=[out])

    def test_angle(self) -> None:
        angle = self.op("aten::angle.out")
        self.check_unary(angle, dtypes=(*op_tester.ALL_DTYPES, *op_tester.COMPLEX_DTYPES))
        parts = (0.0, -0.0, 1.0, -2.0, float("inf"), float("-inf"), float("nan"))
        for dtype in (torch.complex64, torch.complex128):
            numbers = torch.tensor([complex(*pair) for pair in itertools.product(parts, repeat=2)], dtype=dtype)
            angle.check(numbers)

    def _check_dtypes(self, name: str, supported: tuple[torch.dtype, ...]) -> None:
        """Tests that operands have one of the dtypes, the same, and that the result has the dtype of their numbers."""
        function = self.op(name)
        for a_dtype, b_dtype in itertools.product(op_tester.MOVABLE_DTYPES, repeat=2):
            if a_dtype != b_dtype or a_dtype not in supported:
                a, b = torch.ones(3, dtype=a_dtype), torch.ones(3, dtype=b_dtype)
                function.check_rejected(a, b, outs=[torch.ones(3, dtype=torch.complex64)])
        x = torch.ones(3)
        for dtype in (torch.complex128, torch.float32):
            function.check_rejected(x, x, outs=[torch.ones(3, dtype=dtype)])


if __name__ == "__main__":
    absltest.main()
