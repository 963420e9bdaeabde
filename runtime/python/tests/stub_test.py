"""What a type checker knows of a module."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy
from absl.testing import absltest

from runtime.python.tests import methods  # type: ignore[attr-defined]

# The lines that end with this comment have a mistake.
_CODE = """\
from typing import assert_type

import numpy
from methods import Dlpack, Program, affine, mixed, set_threads
from numpy.typing import NDArray

x = numpy.ones((2, 4), numpy.float32)
set_threads(2)
assert_type(affine(x), tuple[NDArray[numpy.float32], NDArray[numpy.int64]])
assert_type(Program(copy=False).count(x), NDArray[numpy.float32])
dlpack: Dlpack = x
affine(dlpack)
affine(x, x)  # wrong
affine("text")  # wrong
mixed(x, "3", x)  # wrong
Program().missing(x)  # wrong
"""


class StubTest(absltest.TestCase):
    def test_mypy(self) -> None:
        folder = Path(self.create_tempdir().full_path)
        (folder / "numpy").symlink_to(Path(numpy.__file__).parent)
        (folder / "methods.pyi").write_bytes(Path(methods.__file__).with_suffix(".pyi").read_bytes())
        (folder / "use.py").write_text(_CODE)
        found = subprocess.run(
            [sys.executable, "-m", "mypy", "--strict", "--cache-dir=/dev/null", "use.py"],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=False,
        )
        errors = {int(line) for line in re.findall(r"^use\.py:(\d+): error", found.stdout, re.MULTILINE)}
        wrong = {number for number, line in enumerate(_CODE.splitlines(), start=1) if line.endswith("# wrong")}
        self.assertEqual(errors, wrong, found.stdout + found.stderr)

    def test_the_stub_has_what_the_module_has(self) -> None:
        stub = Path(methods.__file__).with_suffix(".pyi").read_text()
        names = set(re.findall(r"^(?:def|class) (\w+)", stub, re.MULTILINE)) - {"Dlpack"}
        self.assertEqual(names, {"Program", "set_threads", *methods._METHODS})
        for name in names:
            self.assertTrue(callable(getattr(methods, name)))
        for name in methods._METHODS:
            self.assertTrue(callable(getattr(methods.Program, name)))


if __name__ == "__main__":
    absltest.main()
