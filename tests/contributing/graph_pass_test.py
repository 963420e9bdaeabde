"""The graph pass that CONTRIBUTING.md shows does what it says of itself."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from unittest import mock

from absl.testing import absltest
from torch.export import ExportedProgram
from torch.fx import Node

import export
from export.graph_passes import calls, graphs, passes
from export.graph_passes.graph_pass import Change, GraphPass, Stage
from export.graph_passes.tests.pass_test_case import PassTestCase, model_file


class ContributingTest(PassTestCase):
    def test_the_pass(self) -> None:
        page = (Path(export.__path__[0]).parent / "CONTRIBUTING.md").read_text()
        section = page.partition("### A graph pass\n")[2].partition("\n### ")[0]
        (code,) = re.findall(r"^```python\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
        names: dict[str, Any] = {one.__name__: one for one in (Change, ExportedProgram, GraphPass, Node, Stage)} | {
            "Neg": calls.Neg,
            "graphs": graphs,
        }
        exec(code, names)
        with mock.patch.object(passes, "PASSES", passes.ordered([*passes.PASSES, names["PASS"]])):
            exported = self.export(model_file("return (-(-x)) * 2 + (-x)", "torch.rand(2)"), ["negations"])
        self.check_values(exported)
        self.assertEqual(self.changes(exported, "negations"), ["two negations made none"])


if __name__ == "__main__":
    absltest.main()
