"""Tests of `codegen size` and `codegen size_limit` on a linked binary, on changed copies of it, and on other files."""

from __future__ import annotations

import functools
import json
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from absl.testing import absltest

from codegen.artifacts import size_report
from codegen.artifacts.size_report import SizeReport
from codegen.model.sizes import Part, united
from codegen.tests import case
from diagnostics.errors import InputError

_BINARY, _STRIPPED = sys.argv[1:3]
_NM = shutil.which("nm") or "nm"
_HEADER = 64
_CHANGES = 100


class SizeCommandTest(case.TestCase):
    def _measure(self, binary: str, *flags: str) -> dict[str, Any]:
        """Measures a binary; gives the JSON."""
        self.run_command(
            "size",
            "--label=//app:runner",
            f"--nm={_NM}",
            f"--binary={binary}",
            f"--text={self.directory}/size.txt",
            f"--json={self.directory}/size.json",
            f"--html={self.directory}/size.html",
            *flags,
        )
        report: dict[str, Any] = json.loads((self.directory / "size.json").read_text())
        return report

    def test_every_byte_is_counted_once(self) -> None:
        report = self._measure(_BINARY)
        listed = subprocess.run(["readelf", "-SW", _BINARY], capture_output=True, text=True, check=True).stdout
        # "[ 1] .interp PROGBITS <address> <offset> <size> <entry size> <flags> ...": A is for what is in memory.
        lines = [line.partition("]")[2].split() for line in listed.splitlines() if line.strip().startswith("[")]
        in_memory = sum(int(line[4], 16) for line in lines if len(line) > 6 and "A" in line[6])
        self.assertEqual(sum(part["bytes"] for part in report["parts"]), in_memory)
        self.assertEqual(report["bytes"], in_memory)

    def test_the_same_binary_again_has_no_changes(self) -> None:
        self._measure(_BINARY)
        baseline = self.write("baseline.json", (self.directory / "size.json").read_bytes())
        self._measure(_BINARY, f"--baseline={baseline}")
        self.assertIn("no part changed.", (self.directory / "size.txt").read_text())
        self.assertIn("No part changed.", (self.directory / "size.html").read_text())

    def test_unwinding_belongs_to_functions(self) -> None:
        parts = self._measure(_BINARY)["parts"]
        listed = subprocess.run(["readelf", "-SW", _BINARY], capture_output=True, text=True, check=True).stdout
        (whole,) = [
            int(line.split(".eh_frame ")[1].split()[3], 16) for line in listed.splitlines() if ".eh_frame " in line
        ]
        unowned = sum(part["bytes"] for part in parts if part["name"].startswith(".eh_frame:"))
        # What several functions share, and the entry of the table of calls, which is no function's.
        self.assertLess(unowned, 0.2 * whole)

    def test_what_if(self) -> None:
        (nothing,) = self._measure(_BINARY, f"--what_if=//app:other\t{_BINARY}")["what_if"]
        self.assertEqual(nothing, {"label": "//app:other", "bytes": 0, "operators": [], "parts": []})
        self.assertIn(
            "what if the models of //app:other were added: 0 bytes more, with 0 new operators",
            (self.directory / "size.txt").read_text(),
        )
        self.assert_refused(
            lambda: self._measure(_BINARY, f"--what_if=//app:other\t{_STRIPPED}"),
            f"stripped-binary {_STRIPPED}",
        )

    def test_stripped_binary(self) -> None:
        self.assert_refused(lambda: self._measure(_STRIPPED), f"stripped-binary {_STRIPPED}")

    def test_a_script(self) -> None:
        script = self.write("runner.sh", "#!/bin/sh\n")
        self.assert_refused(lambda: self._measure(script), "unreadable-binary runner.sh")

    def test_a_binary_that_was_cut_short(self) -> None:
        content = Path(_BINARY).read_bytes()
        for length in (0, 3, 4, 20, _HEADER, len(content) // 2, len(content) - 100):
            cut = self.write("cut", content[:length])
            self.assertEqual(self.places(functools.partial(self._measure, cut)), ["unreadable-binary cut"])

    def test_damaged_binaries_give_a_report_or_a_finding(self) -> None:
        content = Path(_BINARY).read_bytes()
        sections = int.from_bytes(content[40:48], "little")
        chosen = random.Random(1)
        refused = 0
        for _ in range(_CHANGES):
            damaged = bytearray(content)
            for _ in range(chosen.randint(1, 4)):
                at = chosen.choice([chosen.randrange(_HEADER), chosen.randrange(sections, len(content))])
                damaged[at] = chosen.randrange(256)
            path = self.write("damaged", bytes(damaged))
            try:
                self._measure(path)
            except InputError as error:
                refused += 1
                self.assertIn(error.findings[0].id, ("stripped-binary", "unreadable-binary", "unreadable-symbols"))
        self.assertTrue(0 < refused < _CHANGES, refused)

    def test_library_that_is_none(self) -> None:
        library = self.write("libc.so.6", "not a library")
        self.assert_refused(lambda: self._measure(_BINARY, f"--library={library}"), "unreadable-binary libc.so.6")

    def test_baseline_that_is_no_report(self) -> None:
        for content in ("[]", '{"label": "a", "parts": [{"group": "cats", "name": "", "dtype": "", "bytes": 1}]}'):
            baseline = f"--baseline={self.write('baseline.json', content)}"
            measure = functools.partial(self._measure, _BINARY, baseline)
            self.assert_refused(measure, "wrong-artifact baseline.json")

    def _limit(self, max_bytes: int) -> None:
        parts = [
            Part("operators", "aten::add.out", "Float", 300),
            Part("operators", "aten::add.out", "", 30),
            Part("operators", "aten::mm.out", "", 400),
            Part("runner", "main", "", 1000),
        ]
        report = self.write("size.json", size_report.write(SizeReport("//app:runner", united(parts), ())))
        output = self.directory / "within_limit"
        self.run_command(
            "size_limit", "--label=//app:size", f"--report={report}", f"--max_bytes={max_bytes}", f"--output={output}"
        )

    def test_limit(self) -> None:
        self._limit(1730)
        self.assert_refused(lambda: self._limit(1729), "binary-too-large //app:size")


if __name__ == "__main__":
    absltest.main(argv=sys.argv[:1])
