"""Tests that each operator of Core ATen and of the list has a way into a program, and that docs/operators.md has it."""

from __future__ import annotations

from pathlib import Path

import torch
from absl import flags
from absl.testing import absltest

from tools.operators import calls, page, ways
from tools.operators.calls import Call
from tools.operators.ways import Way

_ROOT = Path(__file__).parents[3]
_KERNELS = flags.DEFINE_spaceseplist("kernels", None, "The YAMLs of the operators with kernels.", required=True)


class OperatorsTest(absltest.TestCase):
    def test_every_operator_has_a_way(self) -> None:
        have = ways.kernels(Path(path).read_text() for path in _KERNELS.value)
        found = {name: ways.way(name, call, have) for name, call in ways.wanted(calls.calls()).items()}
        missing = {name: one.missing for name, one in found.items() if one.missing and name not in ways.WITHOUT_WAY}
        self.assertEqual({}, missing, "write a kernel, or a decomposition in export/lower/decompositions.py")
        needless = [name for name in ways.WITHOUT_WAY if not found[name].missing]
        self.assertEqual([], needless, "these operators have a way; delete their reasons")
        self.assertEqual(
            (_ROOT / page.PAGE).read_text().splitlines(),
            page.page(found).splitlines(),
            "docs/operators.md is old: tools/bazel run //tools/operators",
        )

    def test_ways(self) -> None:
        x = torch.ones(2)
        aten = torch.ops.aten
        have = {"aten::add.out", "aten::neg.out"}
        self.assertEqual(Way(("aten::add.out",)), ways.way("aten::add.Tensor", Call(aten.add.Tensor, (x, x), {}), have))
        sin = ways.way("aten::sin", Call(aten.sin.default, (x,), {}), have)
        self.assertEqual(Way(("aten::sin.out",), ("aten::sin.out",)), sin)
        numel = ways.way("aten::sym_numel", Call(aten.sym_numel.default, (x,), {}), have)
        self.assertEqual(Way(note="the product of sizes, which the runtime computes"), numel)
        self.assertIn("no call", ways.way("aten::cos", None, have).missing[0])
        refused = ways.way("aten::mm", Call(aten.mm.default, (x, x), {}), have)
        self.assertIn("RuntimeError", refused.missing[0])

    def test_page(self) -> None:
        text = page.page(
            {
                "aten::add.Tensor": Way(("aten::add.out",)),
                "aten::detach": Way(),
                "aten::sin": Way(("aten::sin.out",), ("aten::sin.out",)),
                "aten::sym_numel": Way(note="by hand"),
            }
        )
        self.assertEqual(
            [
                "| `aten::add.Tensor` | `aten::add.out` |",
                "| `aten::detach` | nothing: the result is known at the export |",
                "| `aten::sin` | none: no kernel has aten::sin.out |",
                "| `aten::sym_numel` | by hand |",
            ],
            text.splitlines()[-4:],
        )

    def test_core_aten(self) -> None:
        wanted = ways.wanted(())
        self.assertGreater(len(wanted), 150)
        self.assertIn("aten::add.Tensor", wanted)
        self.assertNotIn("aten::erfinv", wanted)


if __name__ == "__main__":
    absltest.main()
