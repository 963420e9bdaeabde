"""Tests of the place of private installs."""

import contextlib
import errno
import io
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from unittest import mock

from tools.launcher import cache, errors

# Starts an install that runs a program for SECONDS, which writes into the install to its end.
_SLOW_INSTALL = """\
import pathlib, subprocess, sys
sys.path.insert(0, sys.argv[1])
from tools.launcher import cache

def install(prefix, lock):
    prefix.mkdir()
    command = f"touch started; sleep {sys.argv[3]}; touch late"
    subprocess.run(["sh", "-c", command], cwd=prefix, pass_fds=[lock], check=True)

cache.ensure(pathlib.Path(sys.argv[2]), install)
"""


class CacheTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.installs = pathlib.Path(folder.name) / "cache/rules_executorch"
        self.prefix = self.installs / "bazel-7-1"
        self.times_installed = 0

    def install(self, prefix: pathlib.Path, lock: int) -> None:
        os.fstat(lock)
        self.times_installed += 1
        bazel = cache.bazel_of(prefix)
        bazel.parent.mkdir(parents=True)
        bazel.touch()

    def broken_install(self, prefix: pathlib.Path, lock: int) -> None:
        prefix.mkdir()
        (prefix / "part").touch()
        raise errors.LauncherError("the download broke off")

    def test_installs_once(self) -> None:
        for _ in range(2):
            cache.ensure(self.prefix, self.install)
            self.assertTrue((self.prefix / "bin/bazel").exists())
        self.assertEqual(self.times_installed, 1)

    def test_failed_install_leaves_nothing(self) -> None:
        with self.assertRaisesRegex(errors.LauncherError, "the download broke off"):
            cache.ensure(self.prefix, self.broken_install)
        self.assertFalse(self.prefix.exists())
        cache.ensure(self.prefix, self.install)

    def test_removes_broken_installs_only(self) -> None:
        (self.installs / "bazel-7-0/root").mkdir(parents=True)
        (self.installs / "bazel-7-2/bin").mkdir(parents=True)
        (self.installs / "bazel-7-2/bin/bazel").touch()
        (self.prefix / "root").mkdir(parents=True)
        cache.ensure(self.prefix, self.install)
        self.assertEqual({path.name for path in self.installs.glob("bazel-*")}, {"bazel-7-1", "bazel-7-2"})
        self.assertFalse((self.prefix / "root").exists())

    def test_no_place(self) -> None:
        with self.assertRaisesRegex(errors.LauncherError, "set HOME or XDG_CACHE_HOME to an absolute path"):
            cache.ensure(pathlib.Path("rules_executorch/bazel-7-1"), self.install)

    def test_place_that_is_no_folder(self) -> None:
        self.installs.parent.parent.joinpath("cache").touch()
        with self.assertRaisesRegex(errors.LauncherError, "cannot install Bazel under .*: Not a directory"):
            cache.ensure(self.prefix, self.install)

    def test_unwritable_place(self) -> None:
        denied = PermissionError(errno.EACCES, "Permission denied")
        with (
            mock.patch.object(pathlib.Path, "mkdir", side_effect=denied),
            self.assertRaisesRegex(errors.LauncherError, "Permission denied; make it writable, or set XDG_CACHE_HOME"),
        ):
            cache.ensure(self.prefix, self.install)

    def test_full_disk(self) -> None:
        def install(prefix: pathlib.Path, lock: int) -> None:
            prefix.mkdir()
            raise OSError(errno.ENOSPC, "No space left on device")

        with self.assertRaisesRegex(errors.LauncherError, "No space left on device; free some space, or set"):
            cache.ensure(self.prefix, install)
        self.assertFalse(self.prefix.exists())

    def test_two_at_once(self) -> None:
        started = threading.Event()
        proceed = threading.Event()

        def install(prefix: pathlib.Path, lock: int) -> None:
            started.set()
            proceed.wait(60)
            self.install(prefix, lock)

        said = io.StringIO()
        first = threading.Thread(target=cache.ensure, args=(self.prefix, install))
        second = threading.Thread(target=cache.ensure, args=(self.prefix, self.install))
        with contextlib.redirect_stderr(said):
            first.start()
            started.wait(60)
            second.start()
            while not said.getvalue():
                time.sleep(0.01)
            proceed.set()
            first.join()
            second.join()
        self.assertEqual(said.getvalue(), "tools/bazel: another run is installing Bazel: waiting for it\n")
        self.assertEqual(self.times_installed, 1)

    def test_killed_in_the_middle(self) -> None:
        repository = pathlib.Path(cache.__file__).parents[2]
        command = [sys.executable, "-B", "-c", _SLOW_INSTALL, str(repository), str(self.prefix), "1"]
        with subprocess.Popen(command) as killed:
            while not (self.prefix / "started").exists():
                self.assertIsNone(killed.poll())
                time.sleep(0.01)
            killed.send_signal(signal.SIGKILL)
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            cache.ensure(self.prefix, self.install)
        # Its program was still at work.
        self.assertIn("waiting for it", said.getvalue())
        self.assertEqual([path.name for path in self.prefix.iterdir()], ["bin"])


if __name__ == "__main__":
    unittest.main()
