"""Tests that docs/kernels.md matches the data of the sweep."""

import os
import pathlib

import torch
from absl.testing import absltest

from kernels.testing.sweep import page
from kernels.testing.sweep.calls import Call
from kernels.testing.sweep.findings import Findings
from kernels.testing.sweep.operators import read_operators
from kernels.testing.sweep.sweep import Extent
from kernels.testing.sweep.trial import Outcome, Verdict

_AGAIN = "run tools/bazel run //kernels/testing/sweep"


class PageTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.page = pathlib.Path(os.environ["KERNELS_PAGE"]).read_text()

    def test_every_operator_has_a_row(self) -> None:
        rows = [line.split("|")[1].strip() for line in self.page.splitlines() if line.startswith("| `")]
        operators = read_operators(os.environ["KERNEL_YAMLS"].split())
        self.assertEqual([name for name in operators if f"`{name}`" not in rows], [], _AGAIN)

    def test_departures(self) -> None:
        self.assertIn(page.render_departures(), self.page, _AGAIN)

    def test_undefined(self) -> None:
        self.assertIn(page.render_undefined(), self.page, _AGAIN)

    def test_tolerances(self) -> None:
        self.assertIn(page.render_tolerances(), self.page, _AGAIN)


class CellsTest(absltest.TestCase):
    """Tests the cells of the table: the outcome of the calls with elements of a dtype."""

    def _cell(self, *calls: tuple[Call, Outcome]) -> str:
        findings = Findings()
        for call, outcome in calls:
            findings.add(call, Verdict(outcome))
        self.assertEqual(findings.failures, [])
        rows = page.render({"aten::atan.out": findings}, Extent(0, 1, 1, 1)).splitlines()
        return next(row for row in rows if row.startswith("| `aten::atan.out` ")).split("|")[12].strip()

    def test_cells(self) -> None:
        call = Call("aten::atan.out", (torch.ones(2, dtype=torch.complex64),), {})
        empty = Call("aten::atan.out", (torch.ones(0, dtype=torch.complex64),), {})
        self.assertEqual(self._cell((call, Outcome.EQUAL)), "✓")
        self.assertEqual(self._cell((call, Outcome.KERNEL_REFUSES)), "✗")
        self.assertEqual(self._cell((call, Outcome.EQUAL), (call, Outcome.KERNEL_REFUSES)), "(✓)")
        self.assertEqual(self._cell((call, Outcome.BOTH_REFUSE)), "·")
        self.assertEqual(self._cell((empty, Outcome.EQUAL)), "·")
        self.assertEqual(self._cell((empty, Outcome.KERNEL_REFUSES)), "·")


if __name__ == "__main__":
    absltest.main()
