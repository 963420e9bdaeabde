#!/usr/bin/env python3
"""Times builds as a user meets them, in a fresh clone with caches of its own.

    tools/bench/build_bench.py cold          from a fresh clone with empty caches to the quickstart's output, by steps
    tools/bench/build_bench.py incremental   nothing to do; one operator added to a selection

The clone is of HEAD; it and the caches lie in a temporary directory, which is removed.
"""

from __future__ import annotations

import argparse
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
from collections.abc import Iterator

_TARGET = "//examples/quickstart"
# Steps of fewer seconds are left out.
_LEAST = 0.5


class Clone:
    """A fresh clone with empty caches, and the Bazel server that runs in it."""

    def __init__(self, directory: pathlib.Path) -> None:
        self.root = directory / "clone"
        source = pathlib.Path(__file__).resolve().parents[2]
        subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", str(source), str(self.root)], check=True)
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


def cold() -> None:
    """Prints where the time goes between `git clone` and the quickstart's output."""
    with _clone() as clone, tempfile.TemporaryDirectory() as folder:
        profile = pathlib.Path(folder, "profile.gz")
        installed, _ = clone.bazel("--version")
        seconds, output = clone.bazel("run", f"--profile={profile}", _TARGET)
        steps = [Step("Bazel: private install", 0, installed), *steps_of(profile, installed)]
        print(f"{'':<44} {'from':>7} {'to':>7}")
        for step in sorted(steps, key=lambda step: step.begin):
            if step.end - step.begin >= _LEAST:
                print(f"{step.name:<44} {step.begin:6.1f}s {step.end:6.1f}s")
        print(f"{'total':<44} {'':7} {installed + seconds:6.1f}s\n\n{output}", end="")


def incremental(runs: int) -> None:
    """Prints the median seconds of a build with nothing to do, and of one after an operator was added."""
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
        for name, seconds in (("nothing to do", nothing), ("one operator more", added)):
            print(f"{name:<20} median {statistics.median(seconds):.2f} s of {', '.join(f'{s:.2f}' for s in seconds)}")


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["cold", "incremental"])
    parser.add_argument("--runs", type=int, default=5, help="how often to build, for incremental (default 5)")
    arguments = parser.parse_args()
    if arguments.what == "cold":
        cold()
    else:
        incremental(arguments.runs)


if __name__ == "__main__":
    main()
