"""Tests of the fuzzer's loop."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence
from pathlib import Path

from absl.testing import absltest

from export.fuzz.check import Check, Counts, Failure, Module
from export.fuzz.functions import functions
from export.fuzz.main import Fuzzer


class _FailsOnce(Check):
    """A check of which only the first module fails, and only among all selections of passes."""

    def __init__(self, counts: Counts) -> None:
        super().__init__(Path(), counts)
        self._count = 0

    def __call__(self, module: Module, only: Sequence[tuple[str, ...]] = ()) -> list[Failure]:
        self._count += 1
        return [Failure(("all",), "linear", "wrong", "element 0 is 1, not 2", "source")] if self._count == 1 else []


class FuzzerTest(absltest.TestCase):
    def test_failures_that_depend_on_the_checks_before(self) -> None:
        counts = Counts()
        folder = Path(self.create_tempdir().full_path, "new")
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            Fuzzer(_FailsOnce(counts), counts, folder).run(3, seed=1)
        self.assertIn("linear with all: wrong", printed.getvalue())
        self.assertLen(list(folder.iterdir()), 1)
        self.assertEqual((3, 1), (counts.modules, sum(counts.failed.values())))

    def test_functions(self) -> None:
        counts = Counts()
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            Fuzzer(_FailsOnce(counts), counts, None).run_all(functions("^abs$", 2))
        self.assertIn("linear with all: wrong", printed.getvalue())
        self.assertGreater(counts.modules, 2)
        self.assertEqual(sum(counts.failed.values()), 1)


if __name__ == "__main__":
    absltest.main()
