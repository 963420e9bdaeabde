"""Several models on one library of kernels: a binary for each, one binary for both, and operators by a flag."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess

from absl.testing import absltest

from tests.downstream import nested_bazel

_TMP = pathlib.Path(os.environ["TEST_TMPDIR"])


class FleetTest(absltest.TestCase):
    workspace: nested_bazel.Workspace

    @classmethod
    def setUpClass(cls) -> None:
        cls.workspace = nested_bazel.Workspace(nested_bazel.make_fleet(_TMP / "fleet"))
        cls.addClassCleanup(cls.workspace.__exit__)

    def _build(self, *arguments: str) -> pathlib.Path:
        self.workspace.succeed("build", *arguments)
        return self.workspace.root / "bazel-bin"

    def _run(self, binary: pathlib.Path, *programs: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([binary, *programs], cwd=self.workspace.root, capture_output=True, text=True)

    def _operators(self, report: pathlib.Path) -> list[str]:
        """The operators that a check found."""
        return [line.partition(": ")[0] for line in report.read_text().splitlines() if line.startswith("my_ops::")]

    def test_models_in_one_binary_and_in_two(self) -> None:
        output = self._build("//...")
        self.assertEqual(self._run(output / "run_mul3", "mul3.pte").stdout, "1.5\n")
        self.assertEqual(self._run(output / "run_mul4", "mul4.pte").stdout, "2\n")
        self.assertEqual(self._run(output / "run_both", "mul3.pte", "mul4.pte").stdout, "1.5\n2\n")
        # No binary has an operator that its models do not need.
        self.assertEqual(self._run(output / "run_mul3", "mul4.pte").returncode, 1)
        self.assertEqual(
            self._operators(output / "run_both_check.operators.txt"), ["my_ops::mul3.out", "my_ops::mul4.out"]
        )
        (added,) = json.loads((output / "run_mul3_size.json").read_text())["what_if"]
        self.assertEqual(added["operators"], ["my_ops::mul4.out"])
        self.assertIn("my_ops::mul4.out", [part["name"] for part in added["parts"]])
        # PyTorch is neither installed nor looked for.
        external = self.workspace.output_base / "external"
        self.assertEqual([], [path for path in external.iterdir() if "executorch_python" in path.name])

    def test_operators_by_a_flag(self) -> None:
        report = self._build("//:device_check") / "device_check.operators.txt"
        self.assertEqual(self._operators(report), ["my_ops::mul3.out", "my_ops::mul4.out"])
        report = self._build("//:device_check", "--define=device=small") / "device_check.operators.txt"
        self.assertEqual(self._operators(report), ["my_ops::mul3.out"])


if __name__ == "__main__":
    absltest.main()
