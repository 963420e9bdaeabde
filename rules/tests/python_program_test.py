"""Tests of the launcher of a python_program: the ways to start a program."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys

from absl.testing import absltest

_PROGRAM = pathlib.Path("rules/tests/python_program")
_WITHOUT_RUNFILES = {k: v for k, v in os.environ.items() if k not in ("RUNFILES_DIR", "TEST_SRCDIR", "PYTHONPATH")}


class PythonProgramTest(absltest.TestCase):
    def assert_runs(self, program: str | pathlib.Path, folder: str, environment: dict[str, str]) -> None:
        """The program runs under the Python of this test with its own packages."""
        run = subprocess.run(
            [str(program), "a b", "*"], capture_output=True, cwd=folder, env=environment, text=True, check=False
        )
        self.assertEqual(f"{sys.executable}\n['a b', '*']\n0\nFalse\n", run.stdout, run.stderr)

    def test_in_runfiles_of_another_target(self) -> None:
        for environment in (_WITHOUT_RUNFILES, _WITHOUT_RUNFILES | {"PYTHONPATH": "/nowhere"}):
            self.assert_runs(f"./{_PROGRAM}", ".", environment)
            self.assert_runs(_PROGRAM.absolute(), "/", environment)

    def test_beside_its_runfiles(self) -> None:
        """As Bazel starts the tool of an action, by a path relative to the execution root."""
        folder = pathlib.Path(self.create_tempdir().full_path)
        shutil.copy(_PROGRAM, folder / "program")
        (folder / "program.runfiles").symlink_to(pathlib.Path.cwd().parent)
        self.assert_runs("./program", str(folder), _WITHOUT_RUNFILES)

    def test_in_runfiles_of_the_environment(self) -> None:
        folder = pathlib.Path(self.create_tempdir().full_path)
        shutil.copy(_PROGRAM, folder / "program")
        for name in ("RUNFILES_DIR", "TEST_SRCDIR"):
            self.assert_runs(folder / "program", "/", _WITHOUT_RUNFILES | {name: str(pathlib.Path.cwd().parent)})

    def test_without_runfiles(self) -> None:
        folder = pathlib.Path(self.create_tempdir().full_path)
        shutil.copy(_PROGRAM, folder / "program")
        run = subprocess.run([folder / "program"], capture_output=True, env=_WITHOUT_RUNFILES, text=True, check=False)
        self.assertEqual(run.returncode, 1)
        self.assertIn(f"{folder}/program: found no runfiles with ", run.stderr)


if __name__ == "__main__":
    absltest.main()
