"""Tests of the comparison of programs with eager PyTorch, node by node, with the kernels of the runner."""

from __future__ import annotations

import json
import math
import os
import subprocess
from pathlib import Path
from typing import Any

from absl.testing import absltest

from profiles import numbers_table

_MODELS = Path("profiles/tests/numbers_models.py")


def _line(code: str) -> str:
    """The place of a line of the models' file."""
    lines = _MODELS.read_text("utf-8").splitlines()
    (number,) = (number for number, line in enumerate(lines, 1) if line.strip() == code)
    return f"{_MODELS}:{number}"


class NumbersTest(absltest.TestCase):
    def _compared(self, name: str) -> tuple[list[dict[str, Any]], Path]:
        folder = Path(self.create_tempdir().full_path)
        command = [str(Path(os.environ[name]).absolute()), "--json=table.json", "--text=table.txt", "--page=page.html"]
        environment = {**os.environ, "BUILD_WORKING_DIRECTORY": str(folder)}
        done = subprocess.run(command, capture_output=True, check=False, env=environment, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        rows = json.loads((folder / "table.json").read_text())
        self.assertLen((folder / "table.txt").read_text().splitlines(), len(rows) + 1)
        self.assertIn(f"page {folder / 'page.html'}", done.stdout)
        return rows, folder / "page.html"

    def test_wrong_kernel_is_first(self) -> None:
        rows, page = self._compared("WRONG")
        first = rows[0]
        self.assertEqual(first["operator"], "numbers_test::twice.out")
        self.assertEqual(first["line"], _line("x = torch.ops.numbers_test.twice(x)"))
        self.assertEqual(first["eager"], ["twice"])
        self.assertEqual(first["tensors"], ["float32 [2, 16]"])
        self.assertFalse(first["is_close"])
        # The kernel multiplies by 2.1 instead of 2: the noise is a twentieth of the signal.
        self.assertAlmostEqual(first["snr"], 20 * math.log10(20), delta=0.1)
        # What comes before is as in PyTorch, and what comes after has the fault of its input.
        by_number = sorted(rows, key=lambda row: row["instruction"])
        at = by_number.index(first)
        self.assertTrue(all(row["is_close"] and row["snr"] > 100 for row in by_number[:at]))
        self.assertTrue(all(row["snr"] < 60 and row["drop"] < first["drop"] / 2 for row in by_number[at + 1 :]))
        self.assertIn("<b>numbers_test::twice.out</b>", page.read_text().partition("</li>")[0])

    def test_failing_check_prints_the_command(self) -> None:
        done = subprocess.run(
            [Path(os.environ["WRONG_RUNNER"]).absolute(), "--check"], capture_output=True, check=False, text=True
        )
        self.assertEqual(done.returncode, 1)
        self.assertIn("bazel run //profiles/tests:wrong_runner.numbers\n", done.stderr)

    def test_all_passes(self) -> None:
        rows, _ = self._compared("IMAGES")
        self.assertTrue(all(row["is_close"] and row["snr"] > 100 for row in rows), rows)
        of = {row["eager"][0]: row for row in rows}
        # Batch norms and activations are fused into convolutions: the last node of each is compared.
        self.assertContainsSubset(["relu6", "relu6_1", "batch_norm_2", "add", "mean", "linear"], of)
        self.assertNotIn("batch_norm", of)
        self.assertEqual(of["relu6"]["tensors"], ["float32 [1, 16, 16, 16]"])
        self.assertEqual(of["relu6"]["pass"], "activations")
        self.assertEqual(of["linear"]["line"], _line("logits: torch.Tensor = self.classify(x.mean((2, 3)))"))

    def test_quantized(self) -> None:
        rows, _ = self._compared("QUANTIZED_IMAGES")
        of = {row["eager"][0]: row for row in rows if row["snr"] is not None}
        self.assertContainsSubset(["x", "relu6", "relu6_1", "batch_norm_2", "add", "mean", "linear"], of)
        # Bytes are compared with the floats of the model before the quantization. 8 bits of a normal distribution
        # within 4 standard deviations have about 40 dB.
        self.assertEqual(of["relu6"]["tensors"], ["int8 [1, 16, 16, 16]"])
        self.assertEqual(of["relu6"]["line"], _line("x = functional.relu6(self.stem_norm(self.stem(x)))"))
        self.assertBetween(of["x"]["snr"], 35, 50)
        for row in of.values():
            self.assertBetween(row["snr"], 15, 50, row)

    def test_recurrent(self) -> None:
        rows, _ = self._compared("RECURRENT")
        of = {row["eager"][0]: row for row in rows}
        self.assertContainsSubset(["lstm", "linear", "sum_1", "add"], of)
        self.assertTrue(all(row["snr"] > 100 for row in rows), rows)
        self.assertIn("float32 [1, 5, 16]", of["lstm"]["tensors"])

    def test_backend(self) -> None:
        rows, _ = self._compared("LOWERED")
        delegates = [row for row in rows if row["operator"] == "XnnpackBackend"]
        self.assertNotEmpty(delegates)
        self.assertTrue(all(row["snr"] is not None and row["snr"] > 80 for row in delegates), rows)


class TableTest(absltest.TestCase):
    def test_drop_is_below_the_inputs(self) -> None:
        nodes = {
            str(number): {"eager": ["n"] if number != 1 else [None], "inputs": inputs, "is_nested": False, "pass": ""}
            for number, inputs in enumerate([[], [0], [1], [2]])
        }
        lines = "\n".join(
            json.dumps(
                {
                    "sample": 0,
                    "instruction": number,
                    "result": 0,
                    "dtype": "float32",
                    "sizes": [2],
                    "comparable": True,
                    "close": close,
                    "snr": snr,
                    "max_difference": 1.0,
                }
            )
            for number, snr, close in ((0, 140.0, True), (2, 40.0, False), (3, -math.inf, False))
        )
        found = numbers_table.rows(lines, nodes, {}, {}, is_complete=True)
        self.assertEqual([row.number for row in found], [2, 3, 0, 1])
        # Through the instruction without a value.
        self.assertEqual([row.drop for row in found], [100.0, 40.0 - numbers_table.WORST, 10.0, 0.0])
        self.assertEqual(found[-1].why, "no node of torch.export's graph has this value")


if __name__ == "__main__":
    absltest.main()
