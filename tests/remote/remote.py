"""Builds with every action on a remote execution engine that this test starts, and ends, on this machine.

tools/bazel run //tests/remote                                          # all of it
tools/bazel run //tests/remote -- RemoteTest.test_loss_of_the_database  # one test
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable

from absl.testing import absltest

from tests.remote import engine

_WORKSPACE = pathlib.Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", ".")).absolute()
# The repositories that a pip install makes, and those with links into them.
_REPOSITORIES = ("executorch_codegen_python", "executorch_python", "executorch_runtime")
# "INFO: 12 processes: 3 remote cache hit, 5 internal, 4 remote."
_PROCESSES = re.compile(r"^INFO: \d+ process(?:es)?: (.*)\.$", re.MULTILINE)
# The copy of the Python environment is sent, and not named.
_TREE = "--//rules:python_environment=tree"

_SELECTIONS = """\
load("//rules:defs.bzl", "et_operator_library", "executorch_generated_lib")

_OPERATORS = {operators}

# The bits of a number say which operators a selection has, so that no two selections are alike.
[
    et_operator_library(
        name = "operators_{{}}".format(i),
        ops = [operator for bit, operator in enumerate(_OPERATORS) if ((i + 1) >> bit) % 2],
    )
    for i in range(200)
]

executorch_generated_lib(
    name = "lib",
    functions_yaml_target = "//kernels/portable:functions.yaml",
    kernel_deps = ["//kernels/portable:operators"],
    deps = [":operators_{{}}".format(i) for i in range(200)],
)
"""
_OPERATORS = [f"aten::{name}.out" for name in ("relu", "neg", "abs", "sigmoid", "tanh", "exp", "sqrt", "floor")]

# Actions that wait: a machine of two cores runs as many of them at once as there are workers.
_STEPS = """\
[
    genrule(
        name = "step_{{}}".format(i),
        outs = ["step_{{}}.txt".format(i)],
        cmd = "sleep {seconds}; echo {name} $$(({{}} * 7)) > $@".format(i),
    )
    for i in range({count})
]
"""


def _amount(uploads: list[tuple[str, int]]) -> str:
    return f"{len(uploads)} files of {sum(size for _, size in uploads) / 1e6:.1f} MB sent"


class Build:
    """A running command of Bazel."""

    def __init__(self, command: list[str], log: pathlib.Path, workspace: pathlib.Path = _WORKSPACE) -> None:
        self._start = time.monotonic()
        self._log = log
        with log.open("w") as output:
            self._process = subprocess.Popen(command, cwd=workspace, stdout=output, stderr=output, text=True)

    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def end(self, limit: float = 3600) -> tuple[dict[str, int], float]:
        """Waits for the end, as many seconds; returns how many processes there were of each kind, and the seconds.

        Raises:
            AssertionError: the command failed.
        """
        try:
            code = self._process.wait(limit)
        except subprocess.TimeoutExpired:
            self._process.terminate()
            raise AssertionError(f"no end after {limit:.0f} s:\n{self._log.read_text()[-5000:]}") from None
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
        cls.engine = cls.stack.enter_context(engine.Engine(folder, jobs=2))
        cls.engine.start(workers=1)
        outer = subprocess.run(
            ["tools/bazel", "info", "output_base"], cwd=_WORKSPACE, check=True, capture_output=True, text=True
        ).stdout.strip()
        overrides = [
            f"--override_repository={path.name}={path}"
            for path in pathlib.Path(outer, "external").iterdir()
            if path.name.endswith(tuple(sign + name for name in _REPOSITORIES for sign in "~+"))
        ]
        python = f"--repo_env=EXECUTORCH_PYTHON={cls.engine.python}"
        cls.bases = [[*cls._bazel(f"base{i}", _WORKSPACE), "%s", *overrides, python] for i in range(2)]

    @classmethod
    def _bazel(cls, name: str, workspace: pathlib.Path) -> list[str]:
        """Bazel with an output base of its own, and startup options; its server ends with the tests."""
        base = cls.engine.folder / name
        bazel = [
            str(_WORKSPACE / "tools/bazel"),
            f"--output_base={base}",
            "--max_idle_secs=60",
            "--host_jvm_args=-Xmx1500m",
        ]
        cls.stack.callback(subprocess.run, [*bazel, "shutdown"], cwd=workspace, capture_output=True)
        return bazel

    @classmethod
    def _build(cls, command: list[str], *arguments: str, workspace: pathlib.Path = _WORKSPACE) -> Build:
        """Begins a command of Bazel, which runs every action on the engine."""
        cls.runs += 1
        flags = [
            *cls.engine.bazel_flags,
            "--disk_cache=",
            "--experimental_convenience_symlinks=ignore",
            "--color=no",
            "--noshow_progress",
            "--verbose_failures",
        ]
        return Build([*command, *flags, *arguments], cls.engine.folder / f"build{cls.runs}.log", workspace)

    def _build_here(self, base: int, command: str, *arguments: str) -> Build:
        """Begins a build of this repository, in one of two output bases."""
        bazel = [argument.replace("%s", command) for argument in self.bases[base]]
        return self._build(bazel, *arguments)

    def _check_two_bases(self, command: str, *targets: str) -> None:
        """All actions run remotely, and none again for a second output base; no file is sent twice."""
        before = len(self.engine.uploads())
        what = " ".join(targets)
        kinds, seconds = self._build_here(0, command, _TREE, *targets).end()
        print(f"{what}: {kinds}, {seconds:.0f} s", flush=True)
        self.assertLessEqual(set(kinds), {"internal", "remote", "remote cache hit"})
        self.assertGreater(kinds.get("remote", 0), 0)
        kinds, seconds = self._build_here(1, command, _TREE, *targets).end()
        sent = self.engine.uploads()[before:]
        print(f"{what}, a second output base: {kinds}, {seconds:.0f} s; {_amount(sent)}", flush=True)
        self.assertEqual(set(kinds), {"internal", "remote cache hit"})
        self.assertEqual(len(sent), len(set(sent)))

    def test_environment_of_an_image(self) -> None:
        """An environment that workers have is sent by nobody."""
        image = self.engine.folder / "image"
        install = ["tools/bazel", "run", "@executorch_python//:install", "--", str(image)]
        subprocess.run(install, cwd=_WORKSPACE, check=True, capture_output=True)
        before = len(self.engine.uploads())
        environment = f"--//rules:python_environment={image}"
        kinds, seconds = self._build_here(0, "build", environment, "//examples/quickstart:model.pte").end()
        sent = self.engine.uploads()[before:]
        print(f"an environment of an image: {kinds}, {seconds:.0f} s, {_amount(sent)}", flush=True)
        self.assertLessEqual(set(kinds), {"internal", "remote"})
        self.assertLess(sum(size for _, size in sent), 5e6)

    def test_export(self) -> None:
        self._check_two_bases("build", "//examples/quickstart:model.pte")

    def test_quickstart(self) -> None:
        self._check_two_bases("test", "//examples/quickstart/...")

    def test_mobilenet_v2(self) -> None:
        self._check_two_bases("test", "//examples/mobilenet_v2:runner", "//examples/mobilenet_v2:model_test")

    def test_200_selections(self) -> None:
        package = f"tests/remote/generated_{os.getpid()}"
        folder = _WORKSPACE / package
        folder.mkdir()
        # Of the class: after Ctrl-C, a test's own cleanups do not run.
        self.stack.callback(shutil.rmtree, folder)
        (folder / "BUILD.bazel").write_text(_SELECTIONS.format(operators=json.dumps(_OPERATORS)))
        self._check_two_bases("build", f"//{package}:all")

    def _steps(self, name: str, count: int, seconds: int) -> tuple[Build, Callable[[], None]]:
        """Begins a build of actions that wait; returns it and a check of its results."""
        workspace = self.engine.folder / f"workspace_{name}"
        workspace.mkdir()
        (workspace / "MODULE.bazel").touch()
        (workspace / "BUILD.bazel").write_text(_STEPS.format(name=name, seconds=seconds, count=count))
        bazel = self._bazel(f"base_{name}", workspace)
        info = [*bazel, "info", "--noshow_progress", "bazel-bin"]
        output = subprocess.run(info, cwd=workspace, check=True, capture_output=True, text=True).stdout.strip()

        def check() -> None:
            results = [pathlib.Path(output, f"step_{i}.txt").read_text() for i in range(count)]
            self.assertEqual(results, [f"{name} {i * 7}\n" for i in range(count)])

        return self._build([*bazel, "build"], ":all", workspace=workspace), check

    def _wait_for_actions(self, build: Build, count: int) -> None:
        """Waits until so many more actions have ended, or the build."""
        before = self._actions()
        while self._actions() < before + count and not build.has_ended():
            time.sleep(0.1)

    def _actions(self) -> int:
        return sum(map(self.engine.actions_of, self.engine.worker_names))

    def _check_loss(self, name: str, lose: Callable[[], None]) -> None:
        """Loses something in the middle of a build, which ends well all the same."""
        build, check = self._steps(name, 24, 2)
        self._wait_for_actions(build, 3)
        lose()
        kinds, seconds = build.end(limit=300)
        print(f"{name}: {kinds}, {seconds:.0f} s", flush=True)
        self.assertEqual(kinds, {"internal": 1, "remote": 24})
        check()

    def test_two_workers_share_the_load(self) -> None:
        # The first; other tests have ended theirs.
        workers = self.engine.worker_names[:1]
        took = []
        for name in ("one_worker", "two_workers"):
            before = [self.engine.actions_of(worker) for worker in workers]
            build, check = self._steps(name, 24, 4)
            kinds, seconds = build.end(limit=600)
            check()
            after = [self.engine.actions_of(worker) for worker in workers]
            ran = [more - less for more, less in zip(after, before, strict=True)]
            print(f"{name}: {kinds}, {seconds:.0f} s, by worker {ran}", flush=True)
            self.assertEqual(kinds, {"internal": 1, "remote": 24})
            self.assertGreaterEqual(min(ran), 6)
            took.append(seconds)
            if name == "one_worker":
                workers.append(self.engine.start_worker())
                self.addCleanup(self.engine.kill, workers[1])
        self.assertLess(took[1], 0.8 * took[0])

    def test_loss_of_a_worker(self) -> None:
        extra = self.engine.start_worker()
        self._check_loss("loss_of_a_worker", lambda: self.engine.kill(extra))

    def test_loss_of_the_scheduler(self) -> None:
        def lose() -> None:
            self.engine.kill("scheduler")
            time.sleep(5)
            self.engine.start_scheduler()

        self._check_loss("loss_of_the_scheduler", lose)

    def test_loss_of_the_database(self) -> None:
        def lose() -> None:
            self.engine.kill("database")
            time.sleep(5)
            self.engine.start_database()

        self._check_loss("loss_of_the_database", lose)


if __name__ == "__main__":
    absltest.main()
