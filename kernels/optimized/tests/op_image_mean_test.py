"""Tests of op_image_mean.cpp, against PyTorch's mean over rows and columns."""

from __future__ import annotations

import itertools

import torch
from absl.testing import absltest

from kernels.optimized.tests import declared_dim_orders
from kernels.optimized.tests.own_schemas import SCHEMAS
from kernels.testing import op_tester

_SHAPES = ((1, 3, 5, 7), (2, 40, 28, 28), (1, 700, 3, 3), (3, 1, 4, 4), (2, 5, 1, 1), (0, 3, 2, 2), (2, 0, 3, 3))
_DTYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16)


def _reference(images: torch.Tensor, keepdim: bool) -> torch.Tensor:
    """PyTorch's result in float64, rounded once."""
    if not images.is_floating_point() or images.dim() != 4:
        raise ValueError("expected floating-point images of four dimensions")
    return images.double().mean((2, 3), keepdim=keepdim).to(images.dtype)


class OpImageMeanTest(op_tester.OpTest):
    def setUp(self) -> None:
        super().setUp()
        name = "rules_executorch::image_mean.out"
        self.mean = self.op(name, schema=SCHEMAS[name], reference=_reference)

    def test_shapes(self) -> None:
        for dtype, shape, keepdim in itertools.product(_DTYPES, _SHAPES, (True, False)):
            images = op_tester.make_tensor(shape, dtype, low=-3, high=3).to(memory_format=torch.channels_last)
            self.mean.check(images, keepdim, rtol=1e-5, atol=1e-5)

    def test_dim_orders(self) -> None:
        for keepdim in (True, False):
            declared_dim_orders.check(self.mean, op_tester.make_tensor((2, 3, 4, 5), torch.float32), keepdim)

    def test_rejected(self) -> None:
        out = torch.ones(2, 3, 1, 1)
        for shape in ((2, 3, 4), (2, 3, 4, 5, 6), (3,)):
            self.mean.check_rejected(torch.ones(shape), True, outs=[out])
        images = torch.ones(2, 3, 4, 5).to(memory_format=torch.channels_last)
        for dtype in op_tester.ALL_DTYPES:
            if dtype != torch.float32:
                self.mean.check_rejected(images, True, outs=[out.to(dtype)])
        self.mean.check_rejected(images.int(), True, outs=[out.int()])


if __name__ == "__main__":
    absltest.main()
