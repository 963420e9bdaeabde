"""Tests of the errors for limits of the system."""

from __future__ import annotations

import errno
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from absl.testing import absltest

from diagnostics.errors import Location
from diagnostics.golden import case
from export.process import system_limits

_MODEL = """
import torch
def get_model():
    {before}
    return torch.nn.Linear(100, 100), (torch.ones(1, 100),)
"""
_WHERE = Location("model.py")


class FindingTest(case.TestCase):
    def test_errors_of_the_system(self) -> None:
        for code in (errno.ENOMEM, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EMFILE, errno.ENFILE):
            file = "/out/program.pte" if code == errno.ENOSPC else None
            found = system_limits.finding(_WHERE, OSError(code, "", file))
            assert found is not None
            self.assert_findings([found], "system-limit model.py")

    def test_cause_of_another_error(self) -> None:
        for first in (MemoryError(), RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you")):
            try:
                try:
                    raise first
                except Exception as error:
                    raise ValueError("no program") from error
            except ValueError as error:
                found = system_limits.finding(_WHERE, error)
            assert found is not None
            self.assert_findings([found], "system-limit model.py")

    def test_other_errors(self) -> None:
        for error in (ValueError(), FileNotFoundError(errno.ENOENT, "no file"), RuntimeError("not enough dims")):
            self.assertIsNone(system_limits.finding(_WHERE, error))

    def test_killed(self) -> None:
        found = system_limits.killed(_WHERE, "the process", 11 * 2**30, 16 * 2**30)
        self.assert_findings([found, system_limits.killed(_WHERE, "the process")], *["system-limit model.py"] * 2)


class ExportTest(absltest.TestCase):
    """The tool in processes with limits."""

    def _export(self, before: str, limit: Callable[[], None] | None = None) -> str:
        folder = Path(self.create_tempdir().full_path)
        (folder / "model.py").write_text(_MODEL.format(before=before))
        modules = ":".join(str(Path(path).absolute()) for path in sys.path if path)
        tool = str(Path(__file__).parents[2] / "main.py")
        done = subprocess.run(
            [sys.executable, tool, f"--model={folder}/model.py", f"--program={folder}/model.pte"],
            env={"PYTHONPATH": modules, "TMPDIR": str(folder)},
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=limit,
        )
        self.assertEqual(done.returncode, 1, done.stderr)
        return done.stderr.replace(f"{folder}/", "")

    def test_sizes_of_files(self) -> None:
        # The limit is smaller than the message, which is shown in full.
        message = self._export("", lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200)))
        self.assertRegex(message, r"^model\.py:3:1: error: .* File too large\n")
        self.assertIn("See: docs/errors.md#system-limit\n", message)

    def test_open_files(self) -> None:
        limit = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))"
        message = self._export(f"{limit}; files = [open('/dev/null') for _ in range(64)]")
        self.assertRegex(message, r"^model\.py:4:\d+: error: get_model\(\) raised OSError: .*Too many open files")
        self.assertIn("ulimit -n", message)

    def test_killed(self) -> None:
        message = self._export("memory = torch.ones(2**28); import os; os.kill(os.getpid(), 9)")
        self.assertRegex(message, r"^model\.py: error: the process that exports the model was ended by SIGKILL")
        used = float(message.partition("it had used ")[2].partition(" GiB")[0])
        self.assertGreater(used, 1)
        self.assertLess(used, 2)


if __name__ == "__main__":
    absltest.main()
