"""Tests that every command says what it does."""

from __future__ import annotations

import subprocess
import sys

from absl.testing import absltest

_COMMANDS = sys.argv[1:]


class HelpTest(absltest.TestCase):
    def test_help(self) -> None:
        for command in _COMMANDS:
            with self.subTest(command):
                result = subprocess.run([f"./{command}", "--help"], capture_output=True, text=True, timeout=100)
                # absl's commands end with 1.
                self.assertIn(result.returncode, (0, 1))
                self.assertNotIn("Traceback", result.stderr)
                self.assertRegex(result.stdout, r"\w+ \w+ \w+")
                # Colors are for terminals.
                self.assertNotIn("\x1b", result.stdout + result.stderr)


if __name__ == "__main__":
    absltest.main(argv=sys.argv[:1])
