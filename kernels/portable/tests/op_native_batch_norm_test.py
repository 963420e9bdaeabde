"""Tests of op_native_batch_norm.cpp: _native_batch_norm_legit_no_training.out."""

import itertools

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
            # PyTorch reads beyond the end of some of these.
            for parameters in itertools.product((v, wrong), repeat=4):
                if any(parameter is wrong for parameter in parameters):
                    batch_norm.check_rejected(x, *parameters, 0.1, 1e-5, outs=outs)
        for shape in ((), (3,)):
            batch_norm.check_rejected(torch.ones(shape), v, v, v, v, 0.1, 1e-5)
        batch_norm.check_rejected(x, v, v, v, v, 0.1, 1e-5, outs=[torch.ones(2, 3, 1), *outs[1:]])
        batch_norm.check_rejected(x, v, v, v, v, 0.1, 1e-5, outs=[x, torch.empty(0, 1), outs[2]])


if __name__ == "__main__":
    absltest.main()
