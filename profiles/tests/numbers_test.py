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


# The kernel of `twice` multiplies by 2.1 instead of 2: the noise is a twentieth of the signal.
_OF_TWICE = 20 * math.log10(20)


def _line(code: str) -> str:
    """The place of a line of the models' file."""
    lines = _MODELS.read_text("utf-8").splitlines()
    (number,) = (number for number, line in enumerate(lines, 1) if line.strip() == code)
    return f"{_MODELS}:{number}"


def _result(number: int, snr: float, *, run: int = 0, close: bool = False, quantized: float = math.inf) -> str:
    """A line of the runner: the difference of a result of an instruction."""
    return json.dumps(
        {
            "sample": 0,
            "instruction": number,
            "run": run,
            "result": 0,
            "dtype": "float32",
            "sizes": [2],
            "comparable": True,
            "close": close,
            "snr": snr,
            "quantized_snr": quantized,
            "max_difference": 1.0,
        }
    )


def _node(*inputs: int, eager: str | None = "n", is_in_loop: bool = False) -> dict[str, Any]:
    return {
        "eager": [eager],
        "inputs": inputs,
        "is_nested": is_in_loop,
        "is_in_loop": is_in_loop,
        "is_deep": False,
        "pass": "",
    }


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
        self.assertAlmostEqual(first["snr"], _OF_TWICE, delta=0.1)
        # What comes before is as in PyTorch, and what comes after has the fault of its input.
        by_number = sorted(rows, key=lambda row: row["instruction"])
        at = by_number.index(first)
        self.assertTrue(all(row["is_close"] and row["snr"] > 100 for row in by_number[:at]))
        self.assertTrue(all(row["snr"] < 60 and row["drop"] < first["drop"] / 2 for row in by_number[at + 1 :]))
        self.assertIn("<b>numbers_test::twice.out</b>", page.read_text().partition("</li>")[0])

    def test_wrong_kernel_in_a_branch(self) -> None:
        rows, _ = self._compared("WRONG_BRANCH")
        first = rows[0]
        self.assertEqual(first["operator"], "numbers_test::twice.out")
        self.assertEqual(first["line"], _line("values = torch.ops.numbers_test.twice(values)"))
        self.assertEqual(first["eager"], ["true_graph_0.twice"])
        self.assertIsNone(first["iteration"])
        self.assertAlmostEqual(first["snr"], _OF_TWICE, delta=0.1)
        of = {name: row for row in rows for name in row["eager"]}
        for name in ("linear", "true_graph_0.tanh"):
            self.assertGreater(of[name]["snr"], 100, name)
        # The fault passes on to what follows, in the branch and behind it.
        for name in ("true_graph_0.sigmoid", "cos"):
            self.assertBetween(of[name]["snr"], 10, 60, name)
            self.assertLess(of[name]["drop"], first["drop"] / 2, name)
        self.assertEqual(
            of["false_graph_0.sin"]["why"],
            "the value has another shape, or no sample takes the branch, or PyTorch takes another",
        )

    def test_wrong_kernel_in_a_loop(self) -> None:
        rows, _ = self._compared("WRONG_LOOP")
        first = rows[0]
        self.assertEqual(first["operator"], "numbers_test::twice.out")
        self.assertEqual(first["line"], _line("sums = torch.ops.numbers_test.twice(sums)"))
        # The first sums are zeros, whose double is right. So the fault starts in iteration 1, and the further
        # iterations add to it. A value of another iteration would have less than 10 dB.
        self.assertEqual(first["iteration"], 1)
        self.assertAlmostEqual(first["snr"], _OF_TWICE, delta=0.1)
        nested = [row for row in rows if row["iteration"] is not None]
        self.assertContainsSubset(
            {"twice", "mul", "add", "tanh"}, {row["eager"][0].rpartition(".")[2] for row in nested}
        )
        for row in rows[1:]:
            if row["snr"] is not None:
                self.assertBetween(row["snr"], 10, 150, row)
                self.assertLess(row["drop"], first["drop"] / 2, row)

    def test_branch_in_a_loop_is_not_compared(self) -> None:
        rows, _ = self._compared("DEEP_LOOP")
        deep = {row["operator"]: row for row in rows if row["why"] == "in a branch or a loop inside of a loop"}
        self.assertContainsSubset(["numbers_test::twice.out", "aten::sin.out"], deep)
        self.assertTrue(all(row["snr"] is None for row in deep.values()))
        self.assertEqual(rows[0]["eager"][0].rpartition(".")[2], "mul")

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
            self.assertTrue(row["is_close"], row)

    def test_quantization_before_a_padding(self) -> None:
        rows, _ = self._compared("QUANTIZED_PADDED")
        of = {row["eager"][0]: row for row in rows if row["snr"] is not None}
        # A pass moves the quantization behind the padding before it: into the first convolution.
        self.assertEqual(of["pad"]["operator"], "rules_executorch::quantized_convolution.out")
        self.assertEqual(of["pad"]["tensors"], ["int8 [1, 16, 30, 30]"])
        for name in ("pad", "conv2d_1"):
            self.assertBetween(of[name]["snr"], 25, 50, name)
            self.assertTrue(of[name]["is_close"], name)

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
        nodes = {"0": _node(), "1": _node(0, eager=None), "2": _node(1), "3": _node(2)}
        lines = "\n".join([_result(0, 140.0, close=True), _result(2, 40.0), _result(3, -math.inf)])
        found = numbers_table.rows(lines, nodes, {}, {}, is_complete=True)
        self.assertEqual([row.number for row in found], [2, 3, 0, 1])
        # Through the instruction without a value.
        self.assertEqual([row.drop for row in found], [100.0, 40.0 - numbers_table.WORST, 10.0, 0.0])
        self.assertEqual(found[-1].why, "no node of torch.export's graph has this value")

    def test_iteration_of_the_largest_drop(self) -> None:
        """The inputs of an iteration have the ratios of the iteration before."""
        nodes = {"0": _node(), "1": _node(0, 2, is_in_loop=True), "2": _node(1, is_in_loop=True)}
        ratios = [(1, 140.0, 0), (2, 138.0, 0), (1, 100.0, 1), (2, 99.0, 1), (1, 60.0, 2), (2, 20.0, 2)]
        lines = "\n".join([_result(0, 150.0)] + [_result(number, snr, run=run) for number, snr, run in ratios])
        found = numbers_table.rows(lines, nodes, {}, {}, is_complete=True)
        self.assertEqual(
            [(row.number, row.iteration, row.drop) for row in found], [(2, 2, 40.0), (1, 2, 39.0), (0, None, 0.0)]
        )

    def test_quantization_explains(self) -> None:
        """Noise is explained up to twice that of the inputs and of the quantization together."""
        nodes = {str(number): _node(*([0] if number else [])) for number in range(5)}
        lines = "\n".join(
            [
                _result(0, 40.0, quantized=42.0),
                _result(1, 34.0, quantized=40.0),  # 40 and 40 make 37 dB.
                _result(2, 30.0, quantized=40.0),
                _result(3, 35.0),
                _result(4, 33.0),
            ]
        )
        found = numbers_table.rows(lines, nodes, {}, {}, is_complete=True)
        close = {row.number: row.is_close for row in found}
        self.assertEqual(close, {0: True, 1: True, 2: False, 3: True, 4: False})


if __name__ == "__main__":
    absltest.main()
