"""Times builds in a fresh clone with empty caches: the README's first command by steps, and builds after a change.

tools/bazel run //tools/bench:build_bench     # minutes, on a machine that has nothing else to do

The clone has the commit HEAD. The clone and the caches are in a temporary directory.
"""

from __future__ import annotations

import contextlib
import dataclasses
import gzip
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence

from absl import app, flags

from tools.bench import report

_RUNS = flags.DEFINE_integer("runs", 5, "How often to build after a change.", lower_bound=1)

_MODELS = flags.DEFINE_string("models", ".*", "A regular expression of the models of examples/models to export.")

_COMMAND = "tools/bazel run //tools/bench:build_bench"
_TARGET = "//examples/quickstart"
# The page leaves out steps of fewer seconds.
_LEAST_SECONDS = 0.5


class Clone:
    """A fresh clone with empty caches, and the Bazel server that runs in it."""

    def __init__(self, directory: pathlib.Path) -> None:
        self.root = directory / "clone"
        source = os.environ["BUILD_WORKSPACE_DIRECTORY"]
        subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", source, str(self.root)], check=True)
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
def _clone() -> Iterator[Clone]:
    with tempfile.TemporaryDirectory() as directory:
        clone = Clone(pathlib.Path(directory))
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


def cold() -> tuple[float, list[Step]]:
    """Returns the seconds between `git clone` and the quickstart's output, and the steps."""
    with _clone() as clone, tempfile.TemporaryDirectory() as folder:
        profile = pathlib.Path(folder, "profile.gz")
        installed, _ = clone.bazel("--version")
        seconds, _ = clone.bazel("run", f"--profile={profile}", _TARGET)
        steps = [Step("Bazel: private install", 0, installed), *steps_of(profile, installed)]
        return installed + seconds, sorted(steps, key=lambda step: step.begin)


def incremental(runs: int) -> tuple[float, float]:
    """Returns the median seconds of a build with nothing to do, and of a build after an operator was added."""
    with _clone() as clone:
        package = clone.root / "tools/bench/incremental"
        package.mkdir()
        build = package / "BUILD.bazel"
        text = _INCREMENTAL.lstrip()
        build.write_text(text)
        target = "//tools/bench/incremental:runner"
        clone.bazel("build", target)
        nothing = [clone.bazel("build", target)[0] for _ in range(runs)]
        added = []
        for i in range(runs):
            build.write_text(text.replace('"aten::add.out"', f'"aten::add.out", "{_ADDED[i % len(_ADDED)]}"'))
            added.append(clone.bazel("build", target)[0])
        return statistics.median(nothing), statistics.median(added)


def edits() -> dict[str, tuple[float, float]]:
    """Returns the seconds of an export after a change of the model's file, by model.

    The first number is for an export in the worker, which has imported PyTorch. The second number is for an export in a
    process of its own.
    """
    with _clone() as clone:
        folder = clone.root / "examples/models"
        _, listed = clone.bazel("query", "kind(executorch_program, //examples/models:all)")
        names = [label.partition(":")[2] for label in listed.split()]
        models = [name.removesuffix(_PASSES) for name in names if name.endswith(_PASSES)]
        chosen = [model for model in models if re.fullmatch(_MODELS.value, model)]
        files = {model: folder / f"{model}.py" for model in chosen if (folder / f"{model}.py").exists()}
        times: dict[str, list[float]] = {model: [] for model in files}
        for strategy in ("worker", "sandboxed"):
            options = ("build", f"--strategy=EtExport={strategy}")
            clone.bazel(*options, *(f"//examples/models:{model}{_PASSES}" for model in files))
            for model, file in files.items():
                file.write_text(f"{file.read_text()}\n# Another line.\n")
                times[model].append(clone.bazel(*options, f"//examples/models:{model}{_PASSES}")[0])
        return {model: (worker, process) for model, (worker, process) in times.items()}


_PASSES = "_all_passes"
_ADDED = ("aten::mul.out", "aten::neg.out", "aten::cat.out", "aten::mean.out", "aten::sin.out")
_INCREMENTAL = """
load("//rules:defs.bzl", "et_operator_library", "executorch_binary", "executorch_generated_lib")

et_operator_library(
    name = "operators",
    ops = ["aten::add.out"],
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


def section(
    seconds: float, steps: Sequence[Step], nothing: float, added: float, exports: Mapping[str, tuple[float, float]]
) -> str:
    """Returns the text for docs/benchmarks.md."""
    medians = [statistics.median(times) for times in zip(*exports.values(), strict=True)]
    models = [(model, *(f"{time:.1f}" for time in times)) for model, times in sorted(exports.items())]
    models.append(("median", *(f"{median:.1f}" for median in medians)))
    rows = [
        (step.name, f"{step.begin:.1f}", f"{step.end:.1f}") for step in steps if step.end - step.begin >= _LEAST_SECONDS
    ]
    return f"""\
## Builds

Made by `{_COMMAND}`, on a machine with {os.cpu_count()} CPUs ({report.processor()}).

The README's first command, `tools/bazel run {_TARGET}`, in a fresh clone with empty caches takes {seconds:.0f} s. The \
table has its steps, in seconds after the start. Actions of one kind are one step, from the first action to the last:

{report.table(("step", "from", "to"), rows)}

A build of a runner with one operator takes {nothing:.2f} s if nothing changed. After an operator was added to the \
selection, the build takes {added:.2f} s (medians of {_RUNS.value}).

The table has the time of a build of a program with all graph passes after a change of a line in the model's file, in \
seconds:

{report.table(("model", "in the worker", "in a process"), models)}
"""


def main(argv: Sequence[str]) -> None:
    if len(argv) > 1:
        raise app.UsageError(f"unknown argument: {argv[1]}")
    text = section(*cold(), *incremental(_RUNS.value), edits())
    page = pathlib.Path(os.environ["BUILD_WORKSPACE_DIRECTORY"], "docs", "benchmarks.md")
    report.replace_section(page, "builds", text)
    print(text)


if __name__ == "__main__":
    app.run(main)
