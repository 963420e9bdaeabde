"""Tests of numbers beside tensors: lowered programs against eager modules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from absl.testing import absltest
from executorch.exir import EdgeCompileConfig, to_edge
from torch import Tensor, nn

from export.patches import scalar_dtypes


class _Calling(nn.Module):
    """Calls a function."""

    def __init__(self, function: Callable[[Tensor], Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Tensor) -> Any:
        return self.function(x)


class ScalarDtypesTest(absltest.TestCase):
    def _check(self, function: Callable[[Tensor], Tensor], x: Tensor) -> None:
        with scalar_dtypes.kept():
            exported = torch.export.export(_Calling(function), (x,))
            edge = to_edge(exported, compile_config=EdgeCompileConfig(_check_ir_validity=False))
        found, expected = edge.exported_program().module()(x), function(x)
        self.assertEqual(found.dtype, expected.dtype)
        torch.testing.assert_close(found, expected, rtol=0, atol=0)

    def test_tensors_without_dimensions(self) -> None:
        for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
            x = torch.tensor([0.3, 0.7, 1.9], dtype=dtype)
            for function in (
                lambda x: x[0] - 1.1,
                lambda x: x[0] * 0.1,
                lambda x: 0.3 / x[1],
                lambda x: torch.where(x[0] > 0.1, x[0], 0.1),
                lambda x: torch.add(x[2], 1.7, alpha=2),
                lambda x: x[1] * 3,
                lambda x: (x[1] * 0.3) * x,
            ):
                with self.subTest(str(dtype)):
                    self._check(function, x)

    def test_integers(self) -> None:
        for dtype in (torch.uint8, torch.int16, torch.int32, torch.int64):
            x = torch.tensor([3, 7, 9], dtype=dtype)
            for function in (
                lambda x: x[0] * 2,
                lambda x: x[0] + 1.5,
                lambda x: x[1] // 2,
                lambda x: x[1] & 3,
                lambda x: x[0] / 2,
                lambda x: (x[0] > 2) + 1,
            ):
                with self.subTest(str(dtype)):
                    self._check(function, x)

    def test_numbers_have_all_digits_of_float64(self) -> None:
        x = torch.tensor([0.3, 0.7], dtype=torch.float64)
        self._check(lambda x: x * 0.1 + 0.7, x)
        self._check(lambda x: torch.where(x > 0.3, x, 0.1), x)


if __name__ == "__main__":
    absltest.main()
