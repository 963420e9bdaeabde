"""Tests of the way to the registry, with Bazel played by a script."""

import pathlib
import tempfile
import unittest

from tools.launcher.debian import process, registry


class RegistryTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def is_reached(self, script: str) -> bool:
        bazel = self.folder / "bazel"
        bazel.write_text(f"#!/bin/sh\n{script}\n")
        bazel.chmod(0o755)
        with (self.folder / "lock").open("w") as lock:
            reached = registry.is_reached([str(bazel)], self.folder / "trial", process.Commands(lock.fileno()))
        self.assertFalse((self.folder / "trial").exists())
        return reached

    def test_reached(self) -> None:
        script = f'[ -f MODULE.bazel ] && [ "$1" = --batch ] && echo "$*" > {self.folder}/arguments'
        self.assertTrue(self.is_reached(script))
        self.assertIn(" mod graph --lockfile_mode=off ", (self.folder / "arguments").read_text())

    def test_not_reached(self) -> None:
        self.assertFalse(self.is_reached("echo ERROR: Error accessing registry >&2; exit 2"))


if __name__ == "__main__":
    unittest.main()
