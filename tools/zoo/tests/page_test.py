from __future__ import annotations

import math
from pathlib import Path

import torch
from absl.testing import absltest

from tools.zoo import lowering, messages, page, results
from tools.zoo.page import Verdict
from tools.zoo.results import Lowered, Problem, Row


def _row(default: Lowered, everything: Lowered, none: Lowered | None = None) -> Row:
    lowered = {"default": default, "all": everything, **({"none": none} if none else {})}
    return Row("decoder", "SomeForCausalLM", "input_ids 1x16", 1000, None, 0.002, lowered)


_REFUSED = Lowered(Problem("lowering", "RuntimeError: no"))
_ROWS = {
    "fast": _row(Lowered(snr=130.0, seconds=0.001), Lowered(seconds=0.0005)),
    "inexact": _row(Lowered(snr=120.0), Lowered(snr=20.0), Lowered(snr=130.0)),
    "incomplete": _row(Lowered(missing=("aten::x.out",)), Lowered(left_out=("the graph pass y raised",))),
    "refused": _row(_REFUSED, _REFUSED, _REFUSED),
    "untraceable": Row("images", "Some", problem=Problem("torch.export", "Unsupported: x | y")),
    "unknown": Row("images", "Some", problem=Problem("config", "ValueError: z")),
    "endless": results.ended(
        Row("images", "Some", problem=Problem("torch.export", results.BEGUN)), "took more than 9 s"
    ),
}


class PageTest(absltest.TestCase):
    def test_verdicts(self) -> None:
        found = {name: page.verdict(row) for name, row in _ROWS.items()}
        self.assertEqual(
            {
                **dict.fromkeys(("fast", "inexact", "incomplete"), Verdict.LOWERED),
                "refused": Verdict.NOT_LOWERED,
                "untraceable": Verdict.NOT_EXPORTED,
                "unknown": Verdict.NOT_MADE,
                "endless": Verdict.NO_TIME,
            },
            found,
        )

    def test_whose_fault(self) -> None:
        ours = [(name, one) for name, row in _ROWS.items() for one in row.lowered if page.is_ours(row, one)]
        self.assertEqual([("inexact", "all")], ours)

    def test_counts(self) -> None:
        counts = page.counts(_ROWS)
        self.assertEqual(7, counts["models"])
        self.assertEqual(3, counts["lowered"])
        self.assertEqual(3, counts["equal to eager, `default` passes"])
        self.assertEqual(2, counts["equal to eager, `all` passes"])
        self.assertEqual(1, counts["a graph pass failed at a call"])
        self.assertEqual(1, counts["operators without a kernel"])

    def test_a_process_that_ended(self) -> None:
        """A row whose process ended while it was lowered first has no more sets of passes."""
        row = Row("decoder", "Some", lowered={"default": Lowered(Problem("lowering", "the process ended with -11"))})
        self.assertEqual(page.counts({"one": row})["equal to eager, `all` passes"], 0)
        self.assertTrue(page.is_ours(row, "default"))
        self.assertIn("| lowering: the process ended with -11 | lowering: not reached |", page.text({"one": row}, 1))

    def test_table(self) -> None:
        text = page.text(_ROWS, 9)
        for line in (
            "| `fast` | `SomeForCausalLM` | input_ids 1x16 | 1,000 | equal, 130 dB | equal | 2 | 1 | 0.5 |",
            "| `inexact` | `SomeForCausalLM` | input_ids 1x16 | 1,000 | equal, 120 dB | **differs, 20 dB** | 2 |  |  |",
            "| `refused` | `SomeForCausalLM` | `RuntimeError: no` |",
            "| `endless` | `Some` | `took more than 9 s` |",
            "## `torch.export` fails",
            "7 of 9 models have results.",
        ):
            self.assertIn(line, text.splitlines())

    def test_file(self) -> None:
        file = Path(self.create_tempdir().full_path) / "results.json"
        self.assertEqual({}, results.load(file))
        results.save(_ROWS, file)
        self.assertEqual(_ROWS, results.load(file))


class ComparisonTest(absltest.TestCase):
    def test_decibels(self) -> None:
        one = torch.ones(4)
        self.assertIsNone(lowering.least_snr([one], [one]))
        self.assertEqual(40, lowering.least_snr([one, one], [one, one * 1.01]))
        self.assertEqual(0, lowering.least_snr([one.long()], [one.long() + 1]))
        self.assertEqual(-math.inf, lowering.least_snr([one], [one.double()]))

    def test_values_that_are_not_finite(self) -> None:
        odd = torch.tensor([1.0, math.nan, math.inf, -math.inf])
        self.assertIsNone(lowering.least_snr([odd], [odd]))
        self.assertEqual(0, lowering.least_snr([odd], [odd.nan_to_num()]))
        self.assertEqual(0, lowering.least_snr([odd.nan_to_num()], [odd]))
        self.assertEqual(40, lowering.least_snr([odd], [odd * 1.01]))

    def test_messages(self) -> None:
        error = ValueError("<object at 0x7f12ab> of /home/me/python/file.py | more\nsecond line")
        self.assertEqual("ValueError: <object> of file.py / more", messages.one_line(error))
        self.assertEqual("ValueError", messages.one_line(ValueError()))
        self.assertLen(messages.one_line(ValueError("x" * 1000)), 160)


if __name__ == "__main__":
    absltest.main()
