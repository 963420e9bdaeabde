"""Tests of copies into buffers of another dtype, shape or memory layout: decomposed programs against eager modules."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import torch
from absl.testing import absltest
from torch import Tensor, nn

from export.patches import converting_copies


class _Copying(nn.Module):
    """Copies an input into a buffer, and computes with the buffer."""

    state: Tensor

    def __init__(self, dtype: torch.dtype, sizes: tuple[int, ...] = (3, 4)) -> None:
        super().__init__()
        self.register_buffer("state", torch.zeros(sizes, dtype=dtype))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        before = self.state + 1
        self.state.copy_(x)
        return before, self.state.view(-1) + 1


def _copies(
    module: nn.Module, runs: Sequence[Tensor]
) -> tuple[int, list[tuple[Tensor, ...]], list[tuple[Tensor, ...]]]:
    """Returns the number of copies in the decomposed program, and the results of the program and of the module."""
    # The exported module shares the buffers of the module.
    eager = copy.deepcopy(module)
    with converting_copies.kept():
        program = torch.export.export(module, (runs[0],)).run_decompositions({})
    count = sum(node.target is torch.ops.aten.copy.default for node in program.graph.nodes)
    called = program.module()
    return count, [called(x) for x in runs], [eager(x) for x in runs]


class ConvertingCopiesTest(absltest.TestCase):
    def _check(self, module: nn.Module, runs: Sequence[Tensor], copies: int) -> None:
        count, actual, expected = _copies(module, runs)
        self.assertEqual(count, copies)
        for one, other in zip(actual, expected, strict=True):
            for result, wanted in zip(one, other, strict=True):
                torch.testing.assert_close(result, wanted, rtol=0, atol=0)

    def test_other_dtypes(self) -> None:
        for dtype in (torch.float16, torch.int64, torch.bool):
            with self.subTest(str(dtype)):
                self._check(_Copying(dtype), [torch.randn(3, 4) * 3 for _ in range(2)], 1)

    def test_other_shape(self) -> None:
        self._check(_Copying(torch.float32), [torch.randn(4) for _ in range(2)], 1)
        self._check(_Copying(torch.float32, (4, 4)), [torch.randn(4) for _ in range(2)], 1)

    def test_other_strides(self) -> None:
        self._check(_Copying(torch.float32), [torch.randn(4, 3).t() for _ in range(2)], 1)

    def test_plain_copies_are_removed(self) -> None:
        self._check(_Copying(torch.float32), [torch.randn(3, 4) for _ in range(2)], 0)


if __name__ == "__main__":
    absltest.main()
