"""Bundles of programs whose constants are in other files have these files, and run where they are unpacked."""

from __future__ import annotations

import os
import subprocess
import tarfile
from pathlib import Path

from absl.testing import absltest

_ARCHIVES = {Path(path).stem: Path(path) for path in os.environ["ARCHIVES"].split()}


class WeightsTest(absltest.TestCase):
    def check(self, name: str, *weights: str) -> None:
        root = Path(self.create_tempdir().full_path)
        with tarfile.open(_ARCHIVES[name]) as archive:
            archive.extractall(root, filter="data")
        self.assertCountEqual([path.name for path in root.rglob("*.weights.ptd")], weights)
        for load in ("read", "mmap"):
            command = [str(root / name / name), "--check", f"--load={load}"]
            # No name of a file of the build reaches the program.
            done = subprocess.run(command, cwd=root, capture_output=True, text=True, env={"PATH": os.environ["PATH"]})
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn("PASSED", done.stdout)

    def test_one_file(self) -> None:
        self.check("base", "base.weights.ptd")

    def test_two_files(self) -> None:
        self.check("a", "base.weights.ptd", "adapter_a.weights.ptd")


if __name__ == "__main__":
    absltest.main()
