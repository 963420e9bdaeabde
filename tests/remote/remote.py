"""Builds with every action on a remote execution engine that this test starts, and ends, on this machine.

tools/bazel run //tests/remote
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import re
import signal
import subprocess
import time

from absl.testing import absltest

from tools.remote import engine

_WORKSPACE = pathlib.Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", "."))
# The repositories that a pip install makes, and those with links into them.
_REPOSITORIES = ("executorch_codegen_python", "executorch_python", "executorch_runtime")
# "INFO: 12 processes: 3 remote cache hit, 5 internal, 4 remote."
_PROCESSES = re.compile(r"^INFO: \d+ process(?:es)?: (.*)\.$", re.MULTILINE)


class Build:
    """A running command of Bazel."""

    def __init__(self, command: list[str], log: pathlib.Path) -> None:
        self._start = time.monotonic()
        self._log = log
        with log.open("w") as output:
            self._process = subprocess.Popen(command, cwd=_WORKSPACE, stdout=output, stderr=output, text=True)

    def end(self) -> tuple[dict[str, int], float]:
        """Waits for the end; returns how many processes there were of each kind, and the seconds.

        Raises:
            AssertionError: the command failed.
        """
        code = self._process.wait()
        seconds = time.monotonic() - self._start
        text = self._log.read_text()
        if code != 0:
            raise AssertionError(f"Bazel exited with {code}:\n{text[-5000:]}")
        found = _PROCESSES.search(text)
        parts = found.group(1).split(", ") if found else []
        return {kind: int(number) for number, kind in (part.split(" ", 1) for part in parts)}, seconds


class RemoteTest(absltest.TestCase):
    stack: contextlib.ExitStack
    engine: engine.Engine
    bases: list[list[str]]
    runs = 0

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        # As Ctrl-C: the engine ends.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        cls.stack = contextlib.ExitStack()
        cls.addClassCleanup(cls.stack.close)
        folder = cls.stack.enter_context(engine.folder())
        cls.engine = cls.stack.enter_context(engine.Engine(folder, jobs=1))
        cls.engine.start(workers=1)
        outer = subprocess.run(
            ["tools/bazel", "info", "output_base"], cwd=_WORKSPACE, check=True, capture_output=True, text=True
        ).stdout.strip()
        overrides = [
            f"--override_repository={path.name}={path}"
            for path in pathlib.Path(outer, "external").iterdir()
            if path.name.endswith(tuple(sign + name for name in _REPOSITORIES for sign in "~+"))
        ]
        cls.bases = []
        for name in ("one", "two"):
            base = folder / name
            startup = ["tools/bazel", f"--output_base={base}", "--max_idle_secs=60", "--host_jvm_args=-Xmx1500m"]
            cls.bases.append([*startup, "%s", *overrides])
            cls.stack.callback(subprocess.run, [*startup, "shutdown"], cwd=_WORKSPACE, capture_output=True)

    def _build(self, command: str, target: str, base: int = 0) -> Build:
        """Begins a command in one of the two output bases."""
        self.__class__.runs += 1
        return Build(
            [
                *(argument.replace("%s", command) for argument in self.bases[base]),
                *self.engine.bazel_flags,
                f"--repo_env=EXECUTORCH_PYTHON={self.engine.python}",
                "--disk_cache=",
                "--experimental_convenience_symlinks=ignore",
                "--color=no",
                "--noshow_progress",
                target,
            ],
            self.engine.folder / f"build{self.runs}.log",
        )

    def _check_two_bases(self, command: str, target: str) -> None:
        """All actions run remotely, and none again for a second output base."""
        kinds, seconds = self._build(command, target).end()
        print(f"{target}: {kinds}, {seconds:.0f} s", flush=True)
        self.assertLessEqual(set(kinds), {"internal", "remote", "remote cache hit"})
        self.assertGreater(kinds.get("remote", 0), 0)
        kinds, seconds = self._build(command, target, base=1).end()
        print(f"{target}, a second output base: {kinds}, {seconds:.0f} s", flush=True)
        self.assertEqual(set(kinds), {"internal", "remote cache hit"})

    def test_export(self) -> None:
        self._check_two_bases("build", "//examples/quickstart:model")


if __name__ == "__main__":
    absltest.main()
