"""Tests of what actions do with Python environments."""

from __future__ import annotations

import os
import pathlib
import py_compile
import subprocess
import sys

from absl.testing import absltest

_PROGRAM = "rules/private/toolchains/python_environment.py"
_PYTHON = "rules/private/toolchains/python.sh"
_VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"


def _run(*arguments: str | pathlib.Path, interpreter: str = sys.executable) -> subprocess.CompletedProcess[str]:
    command = [_PYTHON, interpreter, "-I", "-S", "-B", _PROGRAM, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


class PythonEnvironmentTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.create_tempdir().full_path)
        self.packages = self.folder / "site-packages"
        self._write("six.py", "X = 1\n")
        self._write("six-1.0.dist-info/RECORD", "six.py,sha256=aaaa,6\nsix-1.0.dist-info/RECORD,,\n")

    def _write(self, name: str, text: str) -> pathlib.Path:
        path = self.packages / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def _fingerprint(self) -> str:
        return _run("--directory", self.packages).stdout.strip()

    def test_fingerprint_is_of_what_is_installed(self) -> None:
        before = self._fingerprint()
        self.assertRegex(before, "^[0-9a-f]{32}$")
        # The order in a RECORD, and what stands beside, say nothing.
        self._write("six-1.0.dist-info/RECORD", "six-1.0.dist-info/RECORD,,\nsix.py,sha256=aaaa,6\n")
        self._write("six-1.0.dist-info/INSTALLER", "pip\n")
        self.assertEqual(before, self._fingerprint())
        self._write("six-1.0.dist-info/RECORD", "six.py,sha256=bbbb,6\nsix-1.0.dist-info/RECORD,,\n")
        changed = self._fingerprint()
        self._write("yaml-6.0.dist-info/RECORD", "yaml.py,sha256=cccc,6\n")
        self.assertEqual(len({before, changed, self._fingerprint()}), 3)

    def test_copy_has_no_bytecode_with_a_time(self) -> None:
        source = self._write("seven.py", "X = 7\n")
        for name, mode in (("timed", "TIMESTAMP"), ("hashed", "UNCHECKED_HASH")):
            py_compile.compile(
                str(source),
                str(self.packages / f"{name}.pyc"),
                invalidation_mode=py_compile.PycInvalidationMode[mode],
            )
        (self.packages / "eight.py").symlink_to(source)
        source.chmod(0o755)
        copy = self.folder / "copy"
        self.assertEqual(_run("--directory", self.packages, "--copy", copy, "--python", _VERSION).stderr, "")
        names = sorted(path.name for path in copy.iterdir())
        self.assertEqual(names, ["eight.py", "hashed.pyc", "seven.py", "six-1.0.dist-info", "six.py"])
        self.assertFalse((copy / "eight.py").is_symlink())
        self.assertTrue(os.access(copy / "seven.py", os.X_OK))

    def test_install_and_check(self) -> None:
        fingerprint = self._fingerprint()
        workers = self.folder / "workers"
        installed = pathlib.Path(_run("--directory", self.packages, "--install", workers).stdout.strip())
        self.assertEqual(installed, workers / fingerprint / "site-packages")
        self.assertEqual((installed / "six.py").read_text(), "X = 1\n")
        # A second time, nothing is copied.
        (installed / "six.py").write_text("X = 2\n")
        _run("--directory", self.packages, "--install", workers)
        self.assertEqual((installed / "six.py").read_text(), "X = 2\n")

        output = self.folder / "checked"
        check: list[str | pathlib.Path] = ["--fingerprint", fingerprint, "--output", output, "--python", _VERSION]
        self.assertEqual(_run("--directory", installed, *check).returncode, 0)
        self.assertEqual(output.read_text().strip(), fingerprint)

        (installed / "six-1.0.dist-info/RECORD").unlink()
        changed = _run("--directory", installed, *check)
        self.assertEqual(changed.returncode, 1)
        self.assertIn(f"the Python environment {installed}: expected the fingerprint ", changed.stderr)
        self.assertIn("Fix: install the environment anew.", changed.stderr)

        missing = _run("--directory", workers / "other", *check)
        self.assertEqual(missing.returncode, 1)
        self.assertIn(f"expected a Python environment {workers / 'other'} on the machine", missing.stderr)
        self.assertIn(f"Fix: on a machine with Python {_VERSION}, run the target `install`", missing.stderr)

    def test_other_version_of_python(self) -> None:
        other = _run("--directory", self.packages, "--python", "3.9")
        self.assertEqual(other.returncode, 1)
        self.assertIn("expected Python 3.9, ", other.stderr)
        self.assertIn(f"found Python {_VERSION}.", other.stderr)
        self.assertIn("Fix: give the workers Python 3.9 at this path", other.stderr)

    def test_no_interpreter(self) -> None:
        absent = _run("--directory", self.packages, interpreter="/nonexistent/python3")
        self.assertEqual(absent.returncode, 1)
        self.assertIn("has no Python interpreter /nonexistent/python3, or may not run it.", absent.stderr)
        self.assertIn("--repo_env=EXECUTORCH_PYTHON=/usr/bin/python3", absent.stderr)


if __name__ == "__main__":
    absltest.main()
