"""Memory reports of real programs, against what the runner and the system measure."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from absl.testing import absltest


def _programs() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields each program with its report."""
    for each in os.environ["PROGRAMS"].split():
        report, _, program = each.partition("=")
        yield program, json.loads(Path(report).read_text())


def _measured(program: str, *flags: str) -> dict[str, int]:
    """Runs a program once, and returns what the runner prints of its memory."""
    command = [os.environ["RUNNER"], f"--program={program}", "--memory", "--print=0", "--threads=1", *flags]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    lines = text.partition("\nmemory\n")[2].splitlines()
    return {name: int(size.removesuffix(" bytes")) for name, size in (re.split(r"  +", line.strip()) for line in lines)}


class MemoryTest(absltest.TestCase):
    def test_report_against_the_runner(self) -> None:
        for program, report in _programs():
            with self.subTest(program):
                measured = _measured(program)
                self.assertEqual(report["planned"], measured["planned memory"])
                self.assertEqual(report["program_bytes"], measured["program file"])
                self.assertEqual(report["program_bytes"], Path(program).stat().st_size)

    def test_sum_against_the_system(self) -> None:
        for program, _ in _programs():
            for flag, name in (("--load=read", "program file"), ("--load=mmap", "program file, mapped")):
                with self.subTest(f"{program} {flag}"):
                    measured = _measured(program, flag)
                    self.assertGreater(measured[name], 0)
                    system = measured["process at most, by the system"]
                    self.assertAlmostEqual(measured["sum"] / system, 1, delta=0.05)

    def test_plan_of_a_real_export(self) -> None:
        for program, report in _programs():
            for method in report["methods"]:
                with self.subTest(f"{program} {method['name']}"):
                    self._check_plan(method)

    def _check_plan(self, method: dict[str, Any]) -> None:
        self.assertLessEqual(method["peak_bytes"], method["planned"])
        self.assertEqual(method["peak_bytes"], max(method["in_use"]))
        tensors = method["tensors"]
        self.assertNotEmpty(tensors)
        for tensor in tensors:
            self.assertLessEqual(tensor["offset"] + tensor["bytes"], method["memories"][tensor["memory"] - 1])
        # Contents that are in use at one time share bytes only if one lies in the other, as a view does.
        for i, one in enumerate(tensors):
            for other in tensors[i + 1 :]:
                if one["memory"] != other["memory"] or other["first"] > one["last"] or one["first"] > other["last"]:
                    continue
                begin = max(one["offset"], other["offset"])
                end = min(one["offset"] + one["bytes"], other["offset"] + other["bytes"])
                self.assertIn(max(end - begin, 0), (0, one["bytes"], other["bytes"]), (one, other))

    def test_state(self) -> None:
        reports = {report["label"]: report for _, report in _programs()}
        (method,) = reports["//examples/tiny_llama:model"]["methods"]
        state = [tensor for tensor in method["tensors"] if tensor["name"].startswith("state")]
        # Two layers have keys and values, of 64 positions, which the program keeps from token to token.
        self.assertEqual([t["bytes"] for t in state if t["tensor"] == "float32 [1, 2, 64, 16]"], [8192] * 4)
        for tensor in state:
            self.assertEqual((tensor["first"], tensor["last"]), (0, len(method["instructions"]) - 1))

    def test_lines_of_python(self) -> None:
        for program, report in _programs():
            (method, *_) = report["methods"]
            with_line = [text for text in method["instructions"] if re.search(r"\.py:\d+", text)]
            self.assertNotEmpty(with_line, program)

    def test_what_if(self) -> None:
        reports = {report["label"]: report for _, report in _programs()}
        (other,) = reports["//examples/models:lstm"]["what_if"]
        report = reports[other["label"]]
        self.assertEqual(other["program_bytes"], report["program_bytes"])
        self.assertEqual(other["planned"], [["forward", report["planned"]]])


if __name__ == "__main__":
    absltest.main()
