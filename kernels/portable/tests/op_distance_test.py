"""Tests of the operators that compute distances of rows: _cdist_forward.out and _pdist_forward.out."""

import itertools
from typing import Any

import torch
from absl.testing import absltest

from kernels.testing import op_tester

NORMS = (0.0, 0.5, 1.0, 2.0, 3.0, float("inf"))
# In mode 2, PyTorch computes differences. The other modes use a sum of products, which has larger rounding errors.
BY_DIFFERENCES = 2


def of_any_float(function: Any) -> Any:
    """PyTorch's function for all arguments of kernels: Half and BFloat16, computed in Float, and all dim orders."""

    def reference(*args: Any) -> torch.Tensor:
        dtypes = {arg.dtype for arg in args if isinstance(arg, torch.Tensor)}
        if len(dtypes) != 1 or not dtypes <= {*op_tester.FLOAT_DTYPES}:
            raise ValueError(f"expected tensors of the same floating-point dtype, got {dtypes}")
        (dtype,) = dtypes
        wide = torch.promote_types(dtype, torch.float32)
        result = function(*(arg.to(wide).contiguous() if isinstance(arg, torch.Tensor) else arg for arg in args))
        return result.to(dtype)

    return reference


class OpDistanceTest(op_tester.OpTest):
    def cdist(self) -> op_tester.OpTester:
        return self.op("aten::_cdist_forward.out", reference=of_any_float(torch.ops.aten._cdist_forward))

    def pdist(self) -> op_tester.OpTester:
        return self.op("aten::_pdist_forward.out", reference=of_any_float(torch.ops.aten._pdist_forward))

    def test_norms(self) -> None:
        for dtype, p in itertools.product(op_tester.ALL_DTYPES, (*NORMS, -1.0, float("nan"))):
            for rows, size in ((5, 3), (2, 1), (1, 4), (3, 600), (4, 0), (0, 3)):
                x = op_tester.make_tensor((rows, size), dtype)
                y = op_tester.make_tensor((3, size), dtype)
                self.cdist().judge(x, y, p, BY_DIFFERENCES, rtol=1e-2 if dtype.itemsize == 2 else 1e-5)
                if p >= 0:  # PyTorch accepts negative p
                    self.pdist().judge(x, p, rtol=1e-2 if dtype.itemsize == 2 else 1e-5)

    def test_modes(self) -> None:
        x, y = op_tester.make_tensor((30, 7), torch.float32), op_tester.make_tensor((40, 7), torch.float32)
        for p, mode in itertools.product(NORMS, (None, 0, 1, 2, 3, -1)):
            self.cdist().judge(x, y, p, mode, rtol=1e-4, atol=1e-4)

    def test_batches(self) -> None:
        batches = ((), (1,), (3,), (0,), (2, 1), (2, 3), (4,))
        for x_batch, y_batch in itertools.product(batches, batches):
            x = op_tester.make_tensor((*x_batch, 4, 6), torch.float32)
            y = op_tester.make_tensor((*y_batch, 5, 6), torch.float32)
            self.cdist().judge(x, y, 1.0, None)
        x = torch.ones([1] * 14 + [2, 3])
        self.cdist().check(x, x, 1.0, None)

    def test_dim_orders(self) -> None:
        for dtype in (torch.float32, torch.float16):
            for x_order, y_order, out_order in itertools.product(op_tester.dim_orders(4), repeat=3):
                x = op_tester.make_tensor((2, 3, 4, 5), dtype, dim_order=x_order)
                y = op_tester.make_tensor((2, 3, 6, 5), dtype, dim_order=y_order)
                self.cdist().check(x, y, 1.0, None, out_dim_order=out_order, static=True)
            for order in op_tester.dim_orders(2):
                self.pdist().check(op_tester.make_tensor((4, 5), dtype, dim_order=order), 1.0)

    def test_special_values(self) -> None:
        for dtype, p in itertools.product((torch.float32, torch.float64), NORMS):
            if p == 0.5:  # rounding decides whether the square of a sum of roots overflows
                continue
            values = op_tester.special_values(dtype)
            rows = torch.stack([values, torch.ones_like(values)], 1)
            # For p = infinity, PyTorch's cdist loses NaN. PyTorch's pdist propagates NaN.
            self.pdist().check(rows, p)
            if p != float("inf"):
                self.cdist().check(rows, rows, p, BY_DIFFERENCES)

    def test_rejected(self) -> None:
        cdist, pdist, x = self.cdist(), self.pdist(), torch.ones(2, 3)
        for other in (torch.ones(3), torch.ones(2, 4), torch.ones(2, 3).double()):
            cdist.check_rejected(x, other, 2.0, None, outs=[torch.ones(2, 2)])
            cdist.check_rejected(other, x, 2.0, None, outs=[torch.ones(2, 2)])
        cdist.check_rejected(x, x, 2.0, None, outs=[torch.ones(2, 2).double()])
        cdist.check_rejected(x, x, 2.0, None, outs=[torch.ones(2, 3)], static=True)
        for shape in ((3,), (), (2, 3, 4)):
            pdist.check_rejected(torch.ones(shape), 2.0, outs=[torch.ones(1)])
        pdist.check_rejected(x, -1.0, outs=[torch.ones(1)])
        pdist.check_rejected(x, float("nan"), outs=[torch.ones(1)])
        pdist.check_rejected(x, 2.0, outs=[torch.ones(1).double()])
        pdist.check_rejected(x, 2.0, outs=[torch.ones(2)], static=True)
        for dtype in op_tester.UNSUPPORTED_DTYPES:
            cdist.check_rejected(x.to(dtype), x.to(dtype), 2.0, None, outs=[torch.ones(2, 2).to(dtype)])
            pdist.check_rejected(x.to(dtype), 2.0, outs=[torch.ones(1).to(dtype)])


if __name__ == "__main__":
    absltest.main()
