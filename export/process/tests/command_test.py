"""Tests of the tool as a build action runs it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from absl.testing import absltest

from export.tests.model_files import LINEAR, Files, model_file


class CommandTest(Files):
    def run_tool(self, *arguments: str, hash_seed: str = "0") -> subprocess.CompletedProcess[str]:
        path = os.pathsep.join(filter(None, [str(Path(__file__).parents[3]), *sys.path]))
        return subprocess.run(
            [sys.executable, "-m", "export.main", f"--model={self.model.name}", "--program=out.pte", *arguments],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=False,
        )

    def test_says_nothing_and_writes_the_same_bytes_every_time(self) -> None:
        library = self.folder / "library"
        library.mkdir()
        (library / "layers.py").write_text("import torch\nLinear = torch.nn.Linear\n")
        source = LINEAR.replace("torch.nn.Linear(4, 3)", "layers.Linear(4, 3)") + "\nprint('building')\n"
        self.model.write_text("import layers, warnings\nwarnings.warn('deprecated')\n" + source)
        written = []
        for seed in ("1", "2"):
            result = self.run_tool("--samples=out.ptd", "--import_path=library", hash_seed=seed)
            self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
            written.append(((self.folder / "out.pte").read_bytes(), (self.folder / "out.ptd").read_bytes()))
        self.assertEqual(written[0], written[1])
        self.assertNotIn(str(self.folder).encode(), b"".join(written[0]))
        self.assertEqual(list(self.folder.rglob("__pycache__")), [])

    def test_passes_are_the_rules_by_default(self) -> None:
        self.model.write_text(LINEAR)
        written = []
        for flags in ((), ("--graph_passes=default",), ("--graph_passes=",)):
            self.assertEqual(self.run_tool(*flags, "--passes_report=out.txt").stderr, "")
            written.append(((self.folder / "out.pte").read_bytes(), (self.folder / "out.txt").read_text()))
        self.assertEqual(written[0], written[1])
        self.assertNotEqual(written[0], written[2])

    def test_check(self) -> None:
        self.model.write_text(LINEAR)
        programs = []
        for flags, line in (
            ((), "1 of 1 samples and 3 drawn inputs have the results of the module"),
            (("--nocheck_program",), "left out"),
        ):
            result = self.run_tool(*flags, "--passes_report=out.txt", "--passes_report_json=out.json")
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertEqual((self.folder / "out.txt").read_text().splitlines()[-1], f"  check: {line}")
            checks = json.loads((self.folder / "out.json").read_text())["checks"]
            self.assertEqual(checks, {"forward": line})
            programs.append((self.folder / "out.pte").read_bytes())
        self.assertEqual(programs[0], programs[1])

    def test_traceback(self) -> None:
        self.model.write_text(model_file("def forward(self, x): return x.add_(y=1)", "(torch.ones(1),)"))
        self.assertNotIn("Traceback (most recent call last)", self.run_tool().stderr)
        self.assertIn("Traceback (most recent call last)", self.run_tool("--traceback").stderr)

    def test_failure(self) -> None:
        self.model.write_text("print('reading weights')\ndef get_model():\n    raise OSError('disk on fire')\n")
        result = self.run_tool("--label=//pkg:model")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertRegex(result.stderr, "^//pkg:model: cannot export\nmodel.py:3:")
        self.assertIn("get_model() raised OSError: disk on fire", result.stderr)
        self.assertRegex(result.stderr, re.escape("Printed during the export:\nreading weights\n") + "$")
        self.assertNotIn("Traceback", result.stderr)
        self.assertFalse((self.folder / "out.pte").exists())

    def test_pytorchs_own_warnings(self) -> None:
        branch = "print('branching')\n        return x if x.sum() > 0 else -x"
        self.model.write_text(LINEAR.replace("return self.linear(x)", branch))
        for flags, is_shown in ((), False), (("--verbose",), True):
            stderr = self.run_tool(*flags).stderr
            self.assertIn("branching\n", stderr)
            self.assertEqual("symbolic_shapes.py" in stderr, is_shown, stderr)


if __name__ == "__main__":
    absltest.main()
