"""Extension modules, imported as PyTorch's tutorials import theirs."""

from __future__ import annotations

from pathlib import Path

import torch
from absl.testing import absltest

from torch_ops.tests import extension
from torch_ops.tests.extension import _C, ops
from torch_ops.tests.extension.limited import _limited  # type: ignore[attr-defined]


class ExtensionTest(absltest.TestCase):
    def test_bound_function(self) -> None:
        torch.testing.assert_close(_C.scale(torch.ones(2), by=3.0), torch.full((2,), 3.0))
        self.assertIs(vars(extension)["_C"], _C)
        self.assertEqual(Path(_C.__file__).name, "lib_C.so")

    def test_operators(self) -> None:
        torch.testing.assert_close(ops.scale(torch.ones(2), 3.0), torch.full((2,), 3.0))
        torch.testing.assert_close(torch.ops._C.twice(torch.ones(2)), torch.full((2,), 2.0))
        exported = torch.export.export(_Scale(), (torch.ones(2),))
        torch.testing.assert_close(exported.module()(torch.ones(2)), torch.full((2,), 3.0))

    def test_stable_abis(self) -> None:
        self.assertEqual(_limited.__name__.rpartition(".")[2], "_limited")
        x = torch.ones(2)
        torch.testing.assert_close(torch.ops._limited.itself(x), x)

    def test_namespaces(self) -> None:
        report = (Path(__file__).parent / "check.namespaces.txt").read_text()
        here = "//torch_ops/tests/extension"
        self.assertEqual(
            report.splitlines()[1:],
            [
                f"_C: fragment of {here}:_C (torch_ops/tests/extension/csrc/scale.cpp:14:1)",
                f"_C: impl CPU of {here}:_C (torch_ops/tests/extension/csrc/scale.cpp:16:1)",
                f"_C: library of {here}:_C (torch_ops/tests/extension/csrc/scale.cpp:12:1)",
                f"_limited: impl CPU of {here}:limited/_limited (torch_ops/tests/extension/limited/itself.cpp:22:1)",
                f"_limited: library of {here}:limited/_limited (torch_ops/tests/extension/limited/itself.cpp:20:1)",
            ],
        )


class _Scale(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return ops.scale(x, 3.0)


if __name__ == "__main__":
    absltest.main()
