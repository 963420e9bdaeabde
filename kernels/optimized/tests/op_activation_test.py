"""Tests of op_activation.cpp, against PyTorch's functions. Layers apply the same functions to their results."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping

import torch
from absl.testing import absltest
from torch.nn import functional

from kernels.optimized.tests import declared_dim_orders
from kernels.optimized.tests.own_schemas import SCHEMAS
from kernels.testing import op_tester

# The functions of a tensor and two parameters, and pairs of parameters.
_NONE = ((0.0, 0.0),)
_ACTIVATIONS: Mapping[str, tuple[Callable[[torch.Tensor, float, float], torch.Tensor], tuple[tuple[float, float], ...]]]
_ACTIVATIONS = {
    "celu": (lambda x, alpha, _: functional.celu(x, alpha), ((1.0, 0.0), (0.5, 0.0), (-2.0, 0.0))),
    "clamp": (torch.clamp, ((-1.0, 2.0), (0.0, float("inf")), (3.0, 1.0))),
    "elu": (torch.ops.aten.elu, ((1.0, 1.0), (0.5, 2.0), (1.6732632423543772, 1.0507009873554805))),
    "gelu": (lambda x, *_: functional.gelu(x), _NONE),
    "gelu_tanh": (lambda x, *_: functional.gelu(x, approximate="tanh"), _NONE),
    "hardshrink": (lambda x, lambd, _: functional.hardshrink(x, lambd), ((0.5, 0.0), (0.0, 0.0), (-1.0, 0.0))),
    "hardsigmoid": (lambda x, *_: functional.hardsigmoid(x), _NONE),
    "hardswish": (lambda x, *_: functional.hardswish(x), _NONE),
    "leaky_relu": (lambda x, slope, _: functional.leaky_relu(x, slope), ((0.01, 0.0), (-2.0, 0.0), (0.0, 0.0))),
    "logsigmoid": (lambda x, *_: functional.logsigmoid(x), _NONE),
    "mish": (lambda x, *_: functional.mish(x), _NONE),
    "sigmoid": (lambda x, *_: torch.sigmoid(x), _NONE),
    "silu": (lambda x, *_: functional.silu(x), _NONE),
    "softplus": (functional.softplus, ((1.0, 20.0), (2.0, 5.0), (-1.0, 20.0))),
    "softshrink": (lambda x, lambd, _: functional.softshrink(x, lambd), ((0.5, 0.0), (0.0, 0.0))),
    "softsign": (lambda x, *_: functional.softsign(x), _NONE),
    "swish": (lambda x, beta, _: x * torch.sigmoid(beta * x), ((1.702, 0.0), (-0.5, 0.0))),
    "tanh": (lambda x, *_: torch.tanh(x), _NONE),
    "tanhshrink": (lambda x, *_: functional.tanhshrink(x), _NONE),
    "threshold": (functional.threshold, ((0.0, 0.0), (0.5, -2.0))),
}
_DTYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16)


def _reference(x: torch.Tensor, activation: str, minimum: float, maximum: float) -> torch.Tensor:
    """PyTorch's result in float64, rounded once."""
    if not x.is_floating_point() or activation not in _ACTIVATIONS:
        raise ValueError("expected a floating-point input and the name of an activation")
    return _ACTIVATIONS[activation][0](x.double(), minimum, maximum).to(x.dtype)


class OpActivationTest(op_tester.OpTest):
    def setUp(self) -> None:
        super().setUp()
        name = "rules_executorch::activation.out"
        self.activation = self.op(name, schema=SCHEMAS[name], reference=_reference)

    def test_values(self) -> None:
        for dtype, (name, (_, parameters)) in itertools.product(_DTYPES, _ACTIVATIONS.items()):
            for first, second in parameters:
                for low, high in ((-8, 8), (-0.25, 0.25), (-120, 120)):
                    x = op_tester.make_tensor((3, 333), dtype, low=low, high=high)
                    # The difference of x and a number near x has the rounding error of x.
                    tolerances = {"atol": 1e-6 * high} if name == "tanhshrink" and dtype == torch.float32 else {}
                    self.activation.check(x, name, first, second, **tolerances)

    def test_special_values(self) -> None:
        """Infinities, NaN and zeros as PyTorch, which multiplies infinity by 0."""
        for dtype, (name, (_, parameters)) in itertools.product(_DTYPES, _ACTIVATIONS.items()):
            x = torch.tensor([float("inf"), float("-inf"), float("nan"), 0.0, -0.0, 1.0], dtype=dtype)
            for first, second in parameters:
                self.activation.check(x, name, first, second)

    def test_is_pytorchs(self) -> None:
        """Compares with PyTorch in the same dtype."""
        for dtype, (name, (function, parameters)) in itertools.product(_DTYPES, _ACTIVATIONS.items()):
            x = op_tester.make_tensor((5, 100), dtype, low=-6, high=6)
            for first, second in parameters:
                expected = function(x, first, second)
                # PyTorch rounds each step to half precision.
                loose = {torch.float16: 2e-3, torch.bfloat16: 2e-2}.get(dtype, 1e-6)
                self.activation.judge_results([expected], x, name, first, second, rtol=loose, atol=loose)

    def test_shapes(self) -> None:
        for shape in ((), (0,), (1,), (17,), (2, 3, 4, 5), (40_000,)):
            self.activation.check(op_tester.make_tensor(shape, torch.float32, low=-6, high=6), "hardswish", 0.0, 0.0)

    def test_dim_orders(self) -> None:
        for shape in ((2, 3, 4, 5), (3, 1, 8, 16), (1, 4, 1, 1)):
            x = op_tester.make_tensor(shape, torch.float32, low=-6, high=6)
            declared_dim_orders.check(self.activation, x, "mish", 0.0, 0.0)

    def test_rejected(self) -> None:
        x, out = torch.ones(2, 3), torch.ones(2, 3)
        for name, bound in (("none", 0.0), ("relu2", 0.0), ("", 0.0), ("clamp", float("nan"))):
            self.activation.check_rejected(x, name, 0.0, bound, outs=[out])
        for dtype in op_tester.ALL_DTYPES:
            if not dtype.is_floating_point:
                self.activation.check_rejected(x.to(dtype), "tanh", 0.0, 0.0, outs=[out.to(dtype)])
            if dtype != torch.float32:
                self.activation.check_rejected(x, "tanh", 0.0, 0.0, outs=[out.to(dtype)])


if __name__ == "__main__":
    absltest.main()
