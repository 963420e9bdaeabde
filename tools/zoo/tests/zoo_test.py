"""Three architectures from their configs to programs: a text, an image and a sound."""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from absl import app
from absl.testing import absltest, flagsaver

from tools.zoo import architectures, limited, main, measuring, page, results
from tools.zoo.measuring import Kernels
from tools.zoo.results import Row

_KERNELS = Kernels(frozenset({"aten::relu.out"}))


def _row(name: str) -> Row:
    rows: list[Row] = []
    measuring.measure(architectures.find()[name], _KERNELS, rows.append)
    return rows[-1]


class ZooTest(absltest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        torch.set_num_threads(1)

    def _check(self, name: str, kind: str) -> Row:
        row = _row(name)
        self.assertIsNone(row.problem, page.summary(row))
        self.assertEqual(kind, row.kind)
        for passes in results.PASSES:
            self.assertTrue(row.lowered[passes].is_equal, page.summary(row))
            self.assertNotIn("aten::relu.out", row.lowered[passes].missing)
            self.assertNotEmpty(row.lowered[passes].missing)  # The test's kernels are few.
        self.assertGreater(row.lowered["all"].changes, row.lowered["default"].changes)
        return row

    def test_text(self) -> None:
        row = self._check("bert", "encoder")
        self.assertIn("input_ids 1x16", row.inputs)
        self.assertIn("rules_executorch::packed_linear.out", row.lowered["all"].missing)

    def test_image(self) -> None:
        self._check("resnet", "images")

    def test_sound(self) -> None:
        self._check("data2vec-audio", "audio")

    def test_flags(self) -> None:
        state = Path(self.create_tempdir().full_path) / "state.json"
        for flag, value, found in (
            ("runner", "nowhere", "^--runner=nowhere: no such file; build //kernels/testing:runner$"),
            ("models", "bert(", r"^--models=bert\(: no regular expression: "),
        ):
            with flagsaver.flagsaver(**{flag: value}), self.assertRaisesRegex(app.UsageError, found):
                main.measure_all(state)
        self.assertFalse(state.exists())

    def test_not_made(self) -> None:
        row = _row("dinat")  # Needs a package that no lock has.
        self.assertEqual(page.Verdict.NOT_MADE, page.verdict(row), page.summary(row))
        self.assertIn("natten", page.summary(row))


class ArchitecturesTest(absltest.TestCase):
    def test_all(self) -> None:
        found = architectures.find()
        self.assertGreater(len(found), 400)
        self.assertEqual("BertForMaskedLM", found["bert"].model)
        self.assertEqual("detection", found["detr"].kind)
        self.assertEqual("segmentation", found["sam"].kind)
        self.assertEqual("image and text", found["clip"].kind)
        names = list(found)
        self.assertLess(names.index("whisper"), names.index("clip_text_model"), "parts of families come last")


class LimitedTest(absltest.TestCase):
    def _run(self, step: Callable[[Callable[[Any], None]], None], seconds: float = 60) -> limited.Ended:
        return limited.run(step, seconds)

    def test_last_counts(self) -> None:
        def step(tell: Callable[[Any], None]) -> None:
            tell(1)
            tell(2)

        self.assertEqual(limited.Ended(2, ""), self._run(step))

    def test_time(self) -> None:
        def step(tell: Callable[[Any], None]) -> None:
            tell(1)
            while True:
                pass

        self.assertEqual(limited.Ended(1, "took more than 1 s"), self._run(step, 1))

    def test_crash(self) -> None:
        self.assertEqual(
            limited.Ended(None, "the process ended with 7"), self._run(lambda _: functools.partial(os._exit, 7)())
        )

    def test_waiting(self) -> None:
        ended = self._run(lambda _: time.sleep(60), 0.1)
        self.assertStartsWith(ended.problem, "took more than 6 s")


if __name__ == "__main__":
    absltest.main()
