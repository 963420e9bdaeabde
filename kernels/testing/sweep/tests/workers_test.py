"""Tests that a crash of a child process is reported with its last progress, and that the other processes continue."""

import ctypes
import mmap
import os
import signal
import time

import torch
from absl.testing import absltest

from kernels.testing.guarded_memory import GuardedMemory
from kernels.testing.sweep import workers


def _work(item: str, progress: mmap.mmap) -> str:
    progress[: len(item) + 1] = item.encode() + b"\0"
    if item == "abort":
        os.abort()
    if item == "hang":
        time.sleep(60)
    if item == "raise":
        raise ValueError(item)
    if item == "read beyond":
        x = torch.arange(3, dtype=torch.int16)
        address = GuardedMemory().place(x)
        if ctypes.string_at(address, 6) == x.numpy().tobytes():
            ctypes.string_at(address, 7)
    return item.upper()


class WorkersTest(absltest.TestCase):
    def _run(self, *items: str, timeout: float = 60) -> dict[str, object]:
        return dict(workers.run(_work, items, jobs=2, timeout=timeout))

    def test_results(self) -> None:
        self.assertEqual(self._run("a", "b", "c"), {"a": "A", "b": "B", "c": "C"})

    def test_death(self) -> None:
        results = self._run("a", "abort", "b")
        self.assertEqual(results, {"a": "A", "abort": workers.Death("SIGABRT", "abort"), "b": "B"})

    def test_timeout(self) -> None:
        death = workers.Death(signal.Signals.SIGALRM.name, "hang")
        self.assertEqual(self._run("hang", timeout=0.5), {"hang": death})

    def test_exception(self) -> None:
        with self.assertRaisesRegex(RuntimeError, "raise"):
            self._run("raise")

    def test_guarded_memory(self) -> None:
        results = self._run("read beyond")
        self.assertEqual(results, {"read beyond": workers.Death("SIGSEGV", "read beyond")})


if __name__ == "__main__":
    absltest.main()
