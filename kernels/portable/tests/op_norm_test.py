"""Tests of native_layer_norm.out and native_group_norm.out."""

import math
from typing import Any

import torch
from absl.testing import absltest

from kernels.testing import op_tester

FLOAT_AND_PARAMETERS = [
    (dtype, parameters)
    for dtype in op_tester.FLOAT_DTYPES
    for parameters in sorted({dtype, torch.promote_types(dtype, torch.float32)}, key=str)
]


class OpNormTest(op_tester.OpTest):
    def test_layer_norm(self) -> None:
        layer_norm = self.op("aten::native_layer_norm.out")
        for dtype, parameters in FLOAT_AND_PARAMETERS:
            for shape in ((5,), (3, 5), (2, 3, 600), (2, 3, 4, 5), (0, 5)):
                for order in op_tester.dim_orders(len(shape)):
                    x = op_tester.make_tensor(shape, dtype, dim_order=order)
                    for rank in range(1, len(shape) + 1):
                        normalized = shape[-rank:]
                        weight = op_tester.make_tensor(normalized, parameters, low=-2, high=2)
                        bias = op_tester.make_tensor(normalized, parameters, low=-1, high=1)
                        for w, b in ((weight, bias), (weight, None), (None, bias), (None, None)):
                            layer_norm.check(x, normalized, w, b, 1e-5, rounding=op_tester.Rounding.CHANNEL)

    def test_layer_norm_of_large_means(self) -> None:
        x = op_tester.make_tensor((4, 300), torch.float32, low=1000, high=1001)
        self.op("aten::native_layer_norm.out").check(x, [300], None, None, 1e-5, rtol=1e-4, atol=1e-3)

    def test_layer_norm_of_special_values(self) -> None:
        layer_norm = self.op("aten::native_layer_norm.out")
        for value in (float("nan"), 0.0, 1e-40):
            layer_norm.check(torch.tensor([[1.0, value, 3.0], [5, 6, 8]]), [3], None, None, 1e-5)
        # The mean is infinite. PyTorch's mean is NaN, because PyTorch subtracts infinities.
        x = torch.tensor([[1.0, float("inf"), 3.0]])
        out, _, rstd = layer_norm.run(x, [3], None, None, 1e-5, outs=[x, x[:, :1], x[:, :1]])
        self.assertTrue(out.isnan().all() and rstd.isnan().all())
        for eps in (0.0, 1.0):
            layer_norm.check(torch.full((2, 3), 2.0), [3], None, None, eps)

    def test_layer_norm_rejected(self) -> None:
        layer_norm = self.op("aten::native_layer_norm.out")
        x, w = torch.ones(2, 3), torch.ones(3)
        for arguments in (
            (x, [2], None, None),
            (x, [3, 3], None, None),
            (x, [], None, None),
            (x, [4, 2, 3], None, None),
            (x, [3], torch.ones(2), None),
            (x, [3], None, torch.ones(1, 3)),
            (x, [3], w.double(), w.double()),
            (x, [3], w.half(), None),
            (x, [3], w, w.half()),
            (x.int(), [3], None, None),
            (x.bool(), [3], None, None),
            (x.to(torch.complex64), [3], None, None),
        ):
            layer_norm.check_rejected(*arguments, 1e-5, outs=[x.to(arguments[0].dtype), x[:, :1], x[:, :1]])
        layer_norm.check_rejected(x, [3], w, w, 1e-5, outs=[x, x[:, :1].double(), x[:, :1]])
        layer_norm.check_rejected(x, [3], w, w, 1e-5, outs=[x.half(), x[:, :1], x[:, :1]])

    def _group_norm(self) -> op_tester.OpTester:
        def reference(x: torch.Tensor, *arguments: Any) -> tuple[torch.Tensor, ...]:
            return torch.native_group_norm(x.contiguous(), *arguments)  # PyTorch supports few dim orders

        overload = torch.ops.aten.native_group_norm.out
        return self.op("aten::native_group_norm.out", schema=str(overload._schema), reference=reference)

    def test_group_norm(self) -> None:
        group_norm = self._group_norm()
        for dtype, parameters in FLOAT_AND_PARAMETERS:
            for shape in ((2, 6), (2, 6, 5), (2, 6, 3, 4), (1, 6, 20, 20), (0, 6, 4)):
                for order in op_tester.dim_orders(len(shape)):
                    x = op_tester.make_tensor(shape, dtype, dim_order=order)
                    weight = op_tester.make_tensor((6,), parameters, low=-2, high=2)
                    bias = op_tester.make_tensor((6,), parameters, low=-1, high=1)
                    size = math.prod(shape[2:])
                    # For groups with one element, PyTorch's results have rounding errors. The exact values are 0.
                    for groups in (1, 2, 6) if size > 1 else (1, 2):
                        for w, b in ((weight, bias), (weight, None), (None, None)):
                            arguments = (w, b, shape[0], 6, size, groups, 1e-5)
                            group_norm.check(x, *arguments, rounding=op_tester.Rounding.CHANNEL)

    def test_group_norm_of_channels_last(self) -> None:
        """Several strips of groups, more pixels than one sum has, and groups with more channels than a block."""
        group_norm = self._group_norm()
        for dtype, parameters in FLOAT_AND_PARAMETERS:
            for shape, groups in (
                ((2, 320, 5, 7), 32),
                ((1, 24, 9, 40), 3),
                ((1, 12, 3, 5, 30), 12),
                ((1, 520, 3, 4), 2),
                ((2, 516, 3, 4), 4),
            ):
                order = (0, *range(2, len(shape)), 1)
                x = op_tester.make_tensor(shape, dtype, dim_order=order)
                weight = op_tester.make_tensor(shape[1:2], parameters, low=-2, high=2)
                for w, b in ((weight, weight.flip(0)), (None, None)):
                    arguments = (w, b, *shape[:2], math.prod(shape[2:]), groups, 1e-5)
                    options = {"out_dim_order": order, "static": True, "rounding": op_tester.Rounding.CHANNEL}
                    group_norm.check(x, *arguments, **options)
        x = torch.rand(1, 64, 50, 50).add(1000).to(memory_format=torch.channels_last)
        options = {"out_dim_order": (0, 2, 3, 1), "static": True, "rtol": 1e-4, "atol": 1e-3}
        group_norm.check(x, None, None, 1, 64, 2500, 8, 1e-5, **options)

    def test_group_norm_rejected(self) -> None:
        group_norm = self.op("aten::native_group_norm.out")
        x, w = torch.ones(2, 6, 5), torch.ones(6)
        outs = [x, torch.ones(2, 6), torch.ones(2, 6)]
        for arguments in (
            (w, w, 2, 6, 5, 4),
            (w, w, 2, 6, 5, 0),
            (w, w, 2, 6, 5, -2),
            (w, w, 2, 3, 5, 3),
            (w, w, 3, 6, 5, 3),
            (w, w, 2, 6, 4, 3),
            (w, w, 2, 6, -5, 3),
            (w[:3], w, 2, 6, 5, 3),
            (w, w[None], 2, 6, 5, 3),
            (w.double(), w, 2, 6, 5, 3),
        ):
            group_norm.check_rejected(x, *arguments, 1e-5, outs=outs)
        most = torch.ones((2, 6) + (1,) * 14)  # the largest number of dimensions of a tensor
        group_norm.check_rejected(most, w, w, 2, 6, 1, 3, 1e-5, outs=[most, *outs[1:]])
        group_norm.check_rejected(x.int(), None, None, 2, 6, 5, 3, 1e-5, outs=[x.int(), *outs[1:]])


if __name__ == "__main__":
    absltest.main()
