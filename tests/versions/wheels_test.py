"""The wheels of the examples run in other Pythons than that of the build, and with a newer PyTorch."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from absl.testing import absltest

_MAIN = Path("examples/python_library/main.py")
_OPERATORS = """
import other_matmul_ops
import torch
x = torch.arange(6.0).reshape(2, 3)
y = torch.ops.other_custom_ops.matmul(x, x.T)
assert torch.equal(y, x @ x.T), y
try:
    torch.ops.other_custom_ops.matmul(x, x)
except RuntimeError as error:
    assert "the inner sizes 3 and 2 differ" in str(error), error
else:
    raise AssertionError("the sizes do not fit")
print(torch.__version__)
"""


class WheelsTest(absltest.TestCase):
    def _run(self, *command: str | Path) -> str:
        # Without the packages of the test's own Python.
        environment = {"HOME": self.create_tempdir().full_path, "PATH": os.environ["PATH"]}
        done = subprocess.run(command, capture_output=True, check=False, env=environment, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def _with_wheel(self, python: str, wheel: str, *options: str) -> Path:
        """Installs a wheel into an environment of a Python, whose pip checks the tags and the requirements."""
        python = str(Path(os.environ[python]).resolve())
        folder = Path(self.create_tempdir().full_path)
        self._run(python, "-m", "venv", "--without-pip", "--system-site-packages", folder)
        command = folder / "bin/python"
        pip = [python, "-m", "pip", f"--python={command}", "--isolated", "install", "--no-index", "--quiet"]
        self._run(*pip, *options, Path(os.environ[wheel]).absolute())
        return command

    def test_operators_with_a_newer_pytorch(self) -> None:
        # Debian's sympy, a requirement of PyTorch, requires another mpmath than Debian's.
        python = self._with_wheel("PYTHON_3_14", "OPERATORS", "--no-deps")
        version = self._run(python, "-c", _OPERATORS)
        self.assertGreaterEqual(tuple(map(int, version.split(".")[:2])), (2, 14))

    def test_program(self) -> None:
        for minor in (13, 14, 15):
            with self.subTest(minor=minor):
                python = self._with_wheel(f"PYTHON_3_{minor}", "PROGRAM")
                self.assertIn(f"Python 3.{minor}.", self._run(python, "--version"))
                self.assertIn("sums: [1.0, 1.0, 1.0]\n", self._run(python, _MAIN))


if __name__ == "__main__":
    absltest.main()
