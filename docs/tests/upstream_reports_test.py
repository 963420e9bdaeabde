"""Tests of docs/upstream_reports.md: the outputs of the scripts, and the exports of the same models by these rules."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import Any

import torch
from absl.testing import absltest, parameterized
from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer

from docs.tests import guide
from export.exporter import export

_PAGE = "docs/upstream_reports.md"
# The line of each script after the model and its inputs.
_END_OF_MODEL = "\nexported = "
_RUNS = 3


def _reports() -> list[tuple[str, str, str]]:
    """Returns the title, the script and the output of each section."""
    reports = []
    for section in Path(_PAGE).read_text().split("\n## ")[1:]:
        script, output = guide.blocks(section)
        reports.append((section.partition("\n")[0], script.text, output.text))
    return reports


class UpstreamReportsTest(parameterized.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.enter_context(contextlib.redirect_stderr(io.StringIO()))

    @parameterized.named_parameters(_reports())
    def test_output_is_that_of_the_page(self, script: str, output: str) -> None:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(script, {"__name__": "report"})
        self.assertEqual(printed.getvalue(), output)

    @parameterized.named_parameters((title, script) for title, script, _ in _reports())
    def test_export_of_these_rules(self, script: str) -> None:
        source, found, _ = script.partition(_END_OF_MODEL)
        self.assertTrue(found)
        model = Path(self.create_tempdir().full_path) / "model.py"
        model.write_text(f"{source}\n\ndef get_model():\n    return Model(), inputs\n")
        names: dict[str, Any] = {"__name__": "report"}
        exec(source, names)
        for passes in ([], ["default"]):
            # The check of the export would find the faults, too.
            exported = export(model, graph_passes=passes, with_check=False)
            method, module = _load_for_executorch_from_buffer(exported.pte), names["Model"]()
            for _ in range(_RUNS):
                actual = method.run_method("forward", names["inputs"])
                expected = module(*names["inputs"])
                expected = list(expected) if isinstance(expected, tuple) else [expected]
                torch.testing.assert_close(list(actual), expected)


if __name__ == "__main__":
    absltest.main()
