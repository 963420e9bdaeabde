"""Tests the output of executorch_program_test for a program with two methods, one of which is wrong."""

from __future__ import annotations

import os
import re
import subprocess

from absl.testing import absltest


def _run(test: str, *flags: str) -> tuple[int, list[str]]:
    """The status of a test, and the lines of its output on methods and the final result."""
    done = subprocess.run([os.environ[test], *flags], capture_output=True, text=True, check=False)
    return done.returncode, re.findall(r"^(?:method|PASSED|FAILED).*$", done.stdout, re.M)


class MethodsTest(absltest.TestCase):
    def test_all_methods(self) -> None:
        status, lines = _run("BOTH_METHODS")
        self.assertEqual(status, 1)
        # 0 + 1 differs from 0 * 1, and 1 + 1 differs from 1 * 1.
        self.assertEqual(lines[0], "method decode: 2 samples, 1 outputs each, 2 outputs differ")
        self.assertEqual(lines[1], "method forward: 1 samples, 1 outputs each, passed")
        self.assertRegex(lines[2], r"^FAILED: 3 samples, 3 outputs, 2 methods, allowed .*; 2 outputs differ$")

    def test_methods_of_the_attribute(self) -> None:
        status, lines = _run("ONE_METHOD")
        self.assertEqual(status, 0)
        self.assertEqual(lines[0], "method forward: 1 samples, 1 outputs each, passed")
        self.assertRegex(lines[1], r"^PASSED: 1 samples, 1 outputs, 1 methods, allowed ")

    def test_the_flag_is_stronger(self) -> None:
        for test in ("BOTH_METHODS", "ONE_METHOD"):
            status, lines = _run(test, "--method=decode")
            self.assertEqual(status, 1)
            self.assertRegex(lines[-1], r"^FAILED: 2 samples, 2 outputs, 1 methods, ")

    def test_a_profile_is_of_one_method(self) -> None:
        command = [os.environ["PROFILED"], "--profile", "--check"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("--profile is of one method, and --check runs several: decode, forward.", done.stderr)
        self.assertIn("name one with --method=NAME", done.stderr)
        done = subprocess.run([*command, "--method=forward"], capture_output=True, text=True, check=True)
        self.assertIn("aten::add.out", done.stdout)

    def test_help_says_which(self) -> None:
        for test, methods in (("BOTH_METHODS", "all"), ("ONE_METHOD", "forward")):
            text = subprocess.run([os.environ[test], "--help"], capture_output=True, text=True, check=True).stdout
            self.assertIn(f"--method=NAME       Default: forward; with --check, {methods}.", text)


if __name__ == "__main__":
    absltest.main()
