"""Times builds in a fresh clone with empty caches: the README's first command by steps, and builds after a change.

tools/bazel run //tools/bench:build_bench -- --before=COMMIT     # minutes, on a machine that has nothing else to do

The clone has the commit HEAD; with --before, an earlier commit is timed first. Clones and caches are in temporary
directories.
"""

from __future__ import annotations

import contextlib
import dataclasses
import gzip
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence

from absl import app, flags

from tools.bench import report

_RUNS = flags.DEFINE_integer("runs", 5, "How often to build after a change.", lower_bound=1)

_MODELS = flags.DEFINE_list(
    "models", "gpt2_small,mobilenet_v2,resnet18,whisper_tiny_encoder", "The models of examples/models to export."
)

_BEFORE = flags.DEFINE_string("before", "", "An earlier commit to compare with; empty for none.")

_COMMAND = "tools/bazel run //tools/bench:build_bench"
_TARGET = "//examples/quickstart"
# The page leaves out steps of fewer seconds.
_LEAST_SECONDS = 0.5


class Clone:
    """A fresh clone of a commit with empty caches, and the Bazel server that runs in the clone."""

    def __init__(self, directory: pathlib.Path, commit: str) -> None:
        self.root = directory / "clone"
        source = os.environ["BUILD_WORKSPACE_DIRECTORY"]
        subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", source, str(self.root)], check=True)
        subprocess.run(["git", "checkout", "--quiet", "--detach", commit], cwd=self.root, check=True)
        self._environment = {**os.environ, "XDG_CACHE_HOME": str(directory / "cache")}

    def bazel(self, *arguments: str) -> tuple[float, str]:
        """Runs tools/bazel; returns seconds and stdout.

        Raises:
            SystemExit: the command failed; with its output.
        """
        start = time.monotonic()
        result = subprocess.run(
            ["tools/bazel", *arguments], cwd=self.root, env=self._environment, capture_output=True, text=True
        )
        seconds = time.monotonic() - start
        if result.returncode != 0:
            sys.exit(f"tools/bazel {' '.join(arguments)}\n{result.stdout}{result.stderr}")
        return seconds, result.stdout


@contextlib.contextmanager
def _clone(commit: str) -> Iterator[Clone]:
    with tempfile.TemporaryDirectory() as directory:
        clone = Clone(pathlib.Path(directory), commit)
        try:
            yield clone
        finally:
            clone.bazel("shutdown")
            # What repository rules and actions made is read-only.
            subprocess.run(["chmod", "-R", "u+w", directory], check=False)


@dataclasses.dataclass(frozen=True)
class Step:
    """A part of a command, in seconds after the command's start. Parts overlap."""

    name: str
    begin: float
    end: float


def steps_of(profile: pathlib.Path, start: float) -> list[Step]:
    """Where the time of a command went: repositories, and actions by mnemonic.

    Args:
        profile: the JSON trace profile of a Bazel command.
        start: when Bazel was started, in seconds after the command's start.
    """
    with gzip.open(profile, "rt") as file:
        events = json.load(file)["traceEvents"]
    # Times in a profile are those since the server began with the command.
    launch = max((event["dur"] for event in events if event["name"] == "Launch Blaze"), default=0)
    spans: dict[str, tuple[float, float]] = {"Bazel: server start": (-launch, 0)}
    for event in events:
        if event.get("cat") == "Fetching repository":
            name = f"fetch {event['name'].split('~')[-1]}"
        elif event.get("cat") == "action processing":
            name = f"action {event['args']['mnemonic']}"
        else:
            continue
        begin, end = spans.get(name, (event["ts"], 0))
        spans[name] = min(begin, event["ts"]), max(end, event["ts"] + event["dur"])
    start += launch / 1e6
    return [Step(name, start + begin / 1e6, start + end / 1e6) for name, (begin, end) in spans.items()]


@dataclasses.dataclass(frozen=True)
class Times:
    """The times of a commit, in seconds.

    Attributes:
        steps: the steps of the first command.
        builds: the time of each build, by a description. The first one is the first command.
    """

    steps: list[Step]
    builds: dict[str, float]


def measure(commit: str) -> Times:
    """Times a commit: the README's first command with empty caches, then builds after a change."""
    with _clone(commit) as clone:
        seconds, steps = cold(clone)
        nothing, added = incremental(clone)
        builds = {_COLD: seconds, "a build with nothing to do": nothing, "a build with one operator more": added}
        exports = edits(clone)
        builds |= {f"export of `{model}`": of_model for model, of_model in exports.items()}
        builds["median of the exports"] = statistics.median(exports.values())
        return Times(steps, builds)


def cold(clone: Clone) -> tuple[float, list[Step]]:
    """Returns the seconds between `git clone` and the quickstart's output, and the steps."""
    with tempfile.TemporaryDirectory() as folder:
        profile = pathlib.Path(folder, "profile.gz")
        installed, _ = clone.bazel("--version")
        seconds, _ = clone.bazel("run", f"--profile={profile}", _TARGET)
        steps = [Step("Bazel: private install", 0, installed), *steps_of(profile, installed)]
        return installed + seconds, sorted(steps, key=lambda step: step.begin)


def incremental(clone: Clone) -> tuple[float, float]:
    """Returns the median seconds of a build with nothing to do, and of a build after an operator was added.

    The kernel of the operator has been compiled before.
    """
    package = clone.root / "tools/bench/incremental"
    package.mkdir()
    build = package / "BUILD.bazel"
    target = "//tools/bench/incremental:runner"
    for operators in (_ADDED, ()):
        build.write_text(_incremental(operators))
        clone.bazel("build", target)
    nothing = [clone.bazel("build", target)[0] for _ in range(_RUNS.value)]
    added = []
    for i in range(_RUNS.value):
        build.write_text(_incremental(_ADDED[i % len(_ADDED) :][:1]))
        added.append(clone.bazel("build", target)[0])
    return statistics.median(nothing), statistics.median(added)


def _incremental(more: Sequence[str]) -> str:
    """Returns the BUILD file of a runner with one operator and some more."""
    return _INCREMENTAL.format(operators=json.dumps(["aten::add.out", *more]))


def edits(clone: Clone) -> dict[str, float]:
    """Returns the seconds of a build of a program with all graph passes after an edit of the model, by model."""
    targets = {model: f"//examples/models:{model}_all_passes" for model in _MODELS.value}
    clone.bazel("build", *targets.values())
    times = {}
    for model, target in targets.items():
        file = clone.root / f"examples/models/{model}.py"
        file.write_text(f"{file.read_text()}\n# Another line.\n")
        times[model] = clone.bazel("build", target)[0]
    return times


_COLD = "the first command"
_ADDED = ("aten::mul.out", "aten::neg.out", "aten::cat.out", "aten::mean.out", "aten::sin.out")
_INCREMENTAL = """\
load("//rules:defs.bzl", "et_operator_library", "executorch_binary", "executorch_generated_lib")

et_operator_library(
    name = "operators",
    ops = {operators},
)

executorch_generated_lib(
    name = "lib",
    functions_yaml_target = "//kernels/portable:functions.yaml",
    kernel_deps = ["//kernels/portable:operators"],
    deps = [":operators"],
)

executorch_binary(
    name = "runner",
    deps = [":lib"],
)
"""


def section(now: Times, before: Times | None) -> str:
    """Returns the text for docs/benchmarks.md."""
    steps = [
        (step.name, f"{step.begin:.1f}", f"{step.end:.1f}")
        for step in now.steps
        if step.end - step.begin >= _LEAST_SECONDS
    ]
    header: tuple[str, ...] = ("build", "s")
    rows: list[tuple[str, ...]] = [(name, f"{seconds:.2f}") for name, seconds in now.builds.items()]
    command, words = _COMMAND, ""
    if before is not None:
        command += f" -- --before={_BEFORE.value}"
        words = f" The times before are those of the commit {_BEFORE.value}."
        header = ("build", "before, s", "now, s", "now / before")
        rows = [
            (name, f"{before.builds[name]:.2f}", f"{seconds:.2f}", f"{seconds / before.builds[name]:.2f}")
            for name, seconds in now.builds.items()
        ]
    return f"""\
## Builds

Made by `{command}`, on a machine with {os.cpu_count()} CPUs ({report.processor()}).

The first command of the table is the README's, `tools/bazel run {_TARGET}`, in a fresh clone with empty caches. The \
build with one operator more follows a change of a selection; the build links a runner anew. This time and the one \
with nothing to do are medians of {_RUNS.value}. Exports are builds of a \
program with all graph passes after a change of a line in the model's file.{words}

{report.table(header, rows)}

The steps of the first command, in seconds after the start. Actions of one kind are one step, from the first action to \
the last:

{report.table(("step", "from", "to"), steps)}
"""


def main(argv: Sequence[str]) -> None:
    if len(argv) > 1:
        raise app.UsageError(f"unknown argument: {argv[1]}")
    before = measure(_BEFORE.value) if _BEFORE.value else None
    text = section(measure("HEAD"), before)
    page = pathlib.Path(os.environ["BUILD_WORKSPACE_DIRECTORY"], "docs", "benchmarks.md")
    report.replace_section(page, "builds", text)
    print(text)


if __name__ == "__main__":
    app.run(main)
