"""Tests of op_native_batch_norm.cpp."""

import itertools
from typing import Any

import torch
from absl.testing import absltest

from kernels.testing import op_tester

SHAPES = (
    (2, 3),
    (2, 3, 4),
    (2, 3, 4, 5),
    (1, 300, 2, 2),
    (2, 3, 2, 2, 2),
    (2, 1, 1, 1),
    (0, 3, 4),
    (2, 3, 0),
    (2, 0, 3),
)


def make_parameters(channels: int, dtype: torch.dtype) -> list[torch.Tensor]:
    """Weight, bias, running_mean and running_var, all different."""
    bounds = ((-2, 2), (-1, 1), (-3, 3), (0.1, 4))
    return [op_tester.make_tensor((channels,), dtype, low=low, high=high) for low, high in bounds]


class OpNativeBatchNormTest(op_tester.OpTest):
    def test_no_training_out(self) -> None:
        batch_norm = self.op("aten::_native_batch_norm_legit_no_training.out")
        for dtype, shape in itertools.product(op_tester.FLOAT_DTYPES, SHAPES):
            for order in op_tester.dim_orders(len(shape)):
                x = op_tester.make_tensor(shape, dtype, dim_order=order)
                for parameter_dtype in {dtype, torch.promote_types(dtype, torch.float32)}:
                    weight, bias, mean, var = make_parameters(shape[1], parameter_dtype)
                    for w, b in itertools.product((weight, None), (bias, None)):
                        batch_norm.check(x, w, b, mean, var, 0.1, 1e-5, rounding=op_tester.Rounding.CHANNEL)

    def test_eps(self) -> None:
        batch_norm = self.op("aten::_native_batch_norm_legit_no_training.out")
        weight, bias, mean, var = make_parameters(3, torch.float32)
        for eps, momentum in itertools.product((0, 1e-3, 1, -0.05), (0, 0.1, 1)):
            x = op_tester.make_tensor((2, 3, 4), torch.float32)
            batch_norm.check(x, weight, bias, mean, var, momentum, eps)
            batch_norm.check(x, weight, bias, mean, torch.tensor([0.0, -1.0, float("nan")]), momentum, eps)

    def test_dtypes(self) -> None:
        batch_norm = self.op("aten::_native_batch_norm_legit_no_training.out")
        dtypes = (*op_tester.FLOAT_DTYPES, torch.int32)
        for dtype, weight_dtype, mean_dtype, var_dtype in itertools.product(dtypes, repeat=4):
            x = op_tester.make_tensor((2, 3), dtype)
            weight, bias, _, _ = make_parameters(3, weight_dtype)
            _, _, mean, _ = make_parameters(3, mean_dtype)
            _, _, _, var = make_parameters(3, var_dtype)
            batch_norm.judge(x, weight, bias, mean, var, 0.1, 1e-5)
            batch_norm.judge(x, None, None, mean, var, 0.1, 1e-5)

    def test_wrong_shapes(self) -> None:
        batch_norm = self.op("aten::_native_batch_norm_legit_no_training.out")
        v = torch.ones(3)
        x = torch.ones(2, 3)
        outs = [x, torch.empty(0), torch.empty(0)]
        for wrong in (torch.ones(2), torch.ones(4), torch.ones(3, 1), torch.ones(())):
            # For some of these, PyTorch reads out of bounds.
            for parameters in itertools.product((v, wrong), repeat=4):
                if any(parameter is wrong for parameter in parameters):
                    batch_norm.check_rejected(x, *parameters, 0.1, 1e-5, outs=outs)
        for shape in ((), (3,)):
            batch_norm.check_rejected(torch.ones(shape), v, v, v, v, 0.1, 1e-5)
        batch_norm.check_rejected(x, v, v, v, v, 0.1, 1e-5, outs=[torch.ones(2, 3, 1), *outs[1:]])
        batch_norm.check_rejected(x, v, v, v, v, 0.1, 1e-5, outs=[x, torch.empty(0, 1), outs[2]])

    def batch_norm(self) -> op_tester.OpTester:
        """The operator with running statistics. The reference does not change the statistics."""

        def reference(x: Any, weight: Any, bias: Any, mean: Any, var: Any, *args: Any) -> Any:
            return torch.ops.aten._native_batch_norm_legit(x, weight, bias, mean.clone(), var.clone(), *args)

        return self.op("aten::_native_batch_norm_legit.out", reference=reference)

    def test_training(self) -> None:
        batch_norm = self.batch_norm()
        for dtype, shape in itertools.product(op_tester.FLOAT_DTYPES, SHAPES):
            for order in op_tester.dim_orders(len(shape)):
                x = op_tester.make_tensor(shape, dtype, dim_order=order)
                for parameter_dtype in {dtype, torch.promote_types(dtype, torch.float32)}:
                    weight, bias, mean, var = make_parameters(shape[1], parameter_dtype)
                    for w, b in ((weight, bias), (None, bias), (None, None)):
                        batch_norm.judge(
                            x, w, b, mean.clone(), var.clone(), True, 0.1, 1e-5, rounding=op_tester.Rounding.CHANNEL
                        )

    def test_running_statistics(self) -> None:
        batch_norm = self.batch_norm()
        for dtype, momentum, shape in itertools.product(op_tester.FLOAT_DTYPES, (0, 0.1, 1), ((8, 3), (8, 3, 2, 5))):
            x = op_tester.make_tensor(shape, dtype)
            for parameter_dtype in {dtype, torch.promote_types(dtype, torch.float32)}:
                weight, bias, mean, var = make_parameters(3, parameter_dtype)
                actual, expected = [[mean.clone(), var.clone()] for _ in range(2)]
                torch.ops.aten._native_batch_norm_legit(x, weight, bias, *expected, True, momentum, 1e-3)
                rounding = op_tester.Rounding.CHANNEL
                batch_norm.check(x, weight, bias, *actual, True, momentum, 1e-3, rounding=rounding)
                # For Half and BFloat16, the statistics of the batch are rounded before they are added.
                tolerance = {2: 1e-2, 4: 1e-5, 8: 1e-10}[parameter_dtype.itemsize]
                torch.testing.assert_close(actual, expected, rtol=tolerance, atol=tolerance)
        mean, var, v = torch.zeros(3), torch.ones(3), torch.ones(3)
        batch_norm.run(torch.ones(1, 3), v, v, mean, var, True, 0.5, 1e-5, outs=[torch.ones(1, 3), v, v])
        torch.testing.assert_close((mean, var), (v / 2, v * torch.nan), equal_nan=True)  # as in PyTorch

    def test_evaluation(self) -> None:
        batch_norm = self.batch_norm()
        weight, bias, mean, var = make_parameters(3, torch.float32)
        for shape in ((2, 3, 4), (0, 3, 4), (2, 3)):
            kept = mean.clone(), var.clone()
            batch_norm.check(op_tester.make_tensor(shape, torch.float32), weight, bias, mean, var, False, 0.1, 1e-5)
            torch.testing.assert_close((mean, var), kept, rtol=0, atol=0)

    def test_without_running_statistics(self) -> None:
        # PyTorch's out variant is wrong for inputs that are not contiguous.
        reference = torch.ops.aten._native_batch_norm_legit.no_stats
        batch_norm = self.op("aten::_native_batch_norm_legit.no_stats_out", reference=reference)
        for dtype, shape in itertools.product(op_tester.FLOAT_DTYPES, (*SHAPES, (40, 3, 30))):
            for order in op_tester.dim_orders(len(shape)):
                x = op_tester.make_tensor(shape, dtype, dim_order=order)
                for parameter_dtype in {dtype, torch.promote_types(dtype, torch.float32)}:
                    weight, bias, _, _ = make_parameters(shape[1], parameter_dtype)
                    for w, b in ((weight, bias), (None, bias), (None, None)):
                        batch_norm.judge(x, w, b, True, 0.1, 1e-5, rounding=op_tester.Rounding.CHANNEL)
        v, x = torch.ones(3), torch.ones(2, 3)
        batch_norm.check_rejected(x, v, v, False, 0.1, 1e-5, outs=[x, v, v])  # PyTorch crashes
        batch_norm.check_rejected(x, v.double(), v, True, 0.1, 1e-5, outs=[x, v, v])
        batch_norm.check_rejected(x, torch.ones(2), v, True, 0.1, 1e-5, outs=[x, v, v])
        batch_norm.check_rejected(x, v, v, True, 0.1, 1e-5, outs=[x, v.double(), v])
        batch_norm.check_rejected(x.int(), v, v, True, 0.1, 1e-5, outs=[x.int(), v, v])
        batch_norm.check_rejected(v, v, v, True, 0.1, 1e-5, outs=[v, v, v])


if __name__ == "__main__":
    absltest.main()
