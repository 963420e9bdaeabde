"""Tests that findings are kept until the kernels, the sweep or the extent change."""

import pathlib

import torch
from absl.testing import absltest

from kernels.testing.sweep.calls import Call
from kernels.testing.sweep.findings import Findings
from kernels.testing.sweep.results import Results
from kernels.testing.sweep.sweep import Extent
from kernels.testing.sweep.trial import Outcome, Verdict

_ADD = "aten::add.out"


class ResultsTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self._library = self.create_tempfile("kernels.so", "first")
        self._folder = pathlib.Path(self.create_tempdir().full_path, "not there yet")

    def _results(self, seed: int = 0) -> Results:
        return Results(self._folder, [pathlib.Path(self._library.full_path)], Extent(seed, 16, 40, 400))

    def test_a_later_run_finds_what_was_kept(self) -> None:
        findings = Findings(failures=["wrong"])
        findings.add(Call(_ADD, (torch.ones(2), torch.ones(2)), {}), Verdict(Outcome.EQUAL))
        self._results().keep(_ADD, findings)
        self.assertEqual(self._results().find(_ADD), findings)
        self.assertIsNone(self._results().find("aten::add.Scalar_out"))

    def test_of_one_extent(self) -> None:
        self._results(seed=0).keep(_ADD, Findings(failures=["wrong"]))
        self.assertIsNone(self._results(seed=1).find(_ADD))
        self.assertIsNotNone(self._results(seed=0).find(_ADD))

    def test_of_one_library(self) -> None:
        self._results().keep(_ADD, Findings())
        self._library.write_text("second")
        self.assertIsNone(self._results().find(_ADD))
        self.assertLen(list(self._folder.iterdir()), 1)


if __name__ == "__main__":
    absltest.main()
