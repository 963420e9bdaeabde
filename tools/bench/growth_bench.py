"""Measures the growth of the code generator's times, of builds, and of Bazel's memory and caches.

    tools/bazel run //tools/bench:growth_bench

For a process, the time is the CPU time of the tool as an action starts it, with the launcher. For a worker, the time is
that from a request to the response. The builds are of generated packages below tools/bench, which are removed. Writes
docs/benchmarks.md.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from absl import app, flags

from codegen.tests import programs
from tools.bench import code_generator, report

_FUNCTIONS_YAML = flags.DEFINE_string("functions_yaml", None, "A functions.yaml.", required=True)
_RUNS = flags.DEFINE_integer("runs", 25, "How often to measure each command.", lower_bound=1)
_LIBRARIES = flags.DEFINE_multi_integer("libraries", [20, 60, 200, 1000], "How many libraries to build.")
_TARGETS = flags.DEFINE_multi_integer("targets", [1000, 3000, 10000], "How many targets to analyze.")

_OPERATORS = (1, 2, 5, 10, 20, 50, 100)
_CALLS = (10, 100, 1000, 5000)
_PACKAGE = "tools/bench/growth"
# The targets of a library: the library, the headers and the selection.
_TARGETS_OF_A_LIBRARY = 3
_ONE_SHOT = ("--strategy=EtSelect=sandboxed", "--strategy=EtGenerate=sandboxed")
_BUILD = """\
load("//rules:defs.bzl", "et_operator_library", "executorch_generated_lib")

_OPERATORS = {operators}

[
    et_operator_library(
        name = "operators_{{}}".format(i),
        ops = [_OPERATORS[(i * 7 + k * 3) % len(_OPERATORS)] for k in range(1, 4 + i % 8)],
    )
    for i in range({count})
]

[
    executorch_generated_lib(
        name = "lib_{{}}".format(i),
        functions_yaml_target = "//kernels/portable:functions.yaml",
        kernel_deps = ["//kernels/portable:operators"],
        deps = [":operators_{{}}".format(i)],
    )
    for i in range({count})
]
"""


class Worker:
    """The code generator as a persistent worker."""

    def __init__(self, codegen: str, directory: str) -> None:
        self._process = subprocess.Popen(
            [codegen, "--persistent_worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=directory
        )

    def request(self, arguments: Sequence[str], inputs: Sequence[str]) -> float:
        """Sends a command line with its input files. Returns the seconds until the response."""
        assert self._process.stdin and self._process.stdout
        # Bazel gives a digest for each file. No file changes here, so paths serve as digests.
        request = {"arguments": arguments, "inputs": [{"path": path, "digest": path} for path in inputs]}
        start = time.perf_counter()
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        response: dict[str, Any] = json.loads(self._process.stdout.readline())
        seconds = time.perf_counter() - start
        if response["exitCode"] != 0:
            raise SystemExit(response["output"])
        return seconds

    def stop(self) -> None:
        self._process.communicate()


def _least(measure: Callable[[], float]) -> float:
    """Returns the smallest result of several runs, since other load of the machine only makes a run longer."""
    measure()  # Fills the caches of the file system and of the worker.
    return min(measure() for _ in range(_RUNS.value))


def _operator_names(codegen: str, functions_yaml: str, directory: str) -> list[str]:
    """Returns the operators of a YAML, from the manifest of a library with all operators."""
    subprocess.run([codegen, "select", "--include_all_operators", "--output=all.yaml"], check=True, cwd=directory)
    subprocess.run([codegen, *code_generator.generate(functions_yaml, "all.yaml")], check=True, cwd=directory)
    operators = json.loads(Path(directory, "registered.json").read_text())["operators"]
    return [operator["schema"].partition("(")[0] for operator in operators]


Rows = list[tuple[int, float, float]]


def _commands() -> tuple[Rows, Rows]:
    """Returns the seconds of `generate` by operators, and of `select` by a model's calls, in a process and a worker."""
    codegen, functions_yaml = os.path.abspath(code_generator.CODEGEN.value), os.path.abspath(_FUNCTIONS_YAML.value)
    generated: Rows = []
    selected: Rows = []
    with tempfile.TemporaryDirectory() as directory:
        worker = Worker(codegen, directory)
        names = _operator_names(codegen, functions_yaml, directory)
        for count in (*(count for count in _OPERATORS if count < len(names)), len(names)):
            selection = f"{count}.yaml"
            ops = [f"--ops={name}" for name in names[:count]]
            subprocess.run([codegen, "select", *ops, f"--output={selection}"], check=True, cwd=directory)
            command = code_generator.generate(functions_yaml, selection)
            once = _least(lambda command=command: code_generator.run([codegen, *command], directory).seconds)  # type: ignore[misc]
            served = _least(
                lambda command=command, selection=selection: worker.request(command, [functions_yaml, selection])  # type: ignore[misc]
            )
            generated.append((count, once, served))
        for calls in _CALLS:
            tensor = programs.Tensor(6, (0, 1, 2, 3))
            chain = [programs.Call(names[i % len(names)], (tensor, tensor, 1, tensor)) for i in range(calls)]
            Path(directory, f"{calls}.pte").write_bytes(programs.build({"forward": [chain]}))
            command = ["select", f"--model={calls}.pte", "--model_name=//:model", "--output=model.yaml"]
            once = _least(lambda command=command: code_generator.run([codegen, *command], directory).seconds)  # type: ignore[misc]
            served = _least(lambda command=command: worker.request(command, []))  # type: ignore[misc]
            selected.append((calls, once, served))
        worker.stop()
    return generated, selected


class Tree:
    """The source tree of this repository, with generated packages of many libraries."""

    def __init__(self, root: Path) -> None:
        self.root = root
        operators = (root / "kernels/portable/functions.yaml").read_text().split("- op: ")[1:]
        self._operators = [f"aten::{entry.split()[0]}" for entry in operators]
        self._made = 0

    def package(self, count: int) -> str:
        """Makes a new package with `count` libraries and selections. Returns its name."""
        self._made += 1
        package = f"{_PACKAGE}/{os.getpid()}_{self._made}"
        directory = self.root / package
        directory.mkdir(parents=True)
        (directory / "BUILD.bazel").write_text(_BUILD.format(operators=json.dumps(self._operators), count=count))
        return f"//{package}:all"

    def build(self, *arguments: str) -> float:
        """Runs one build. Returns the seconds."""
        start = time.monotonic()
        self._bazel("build", *arguments)
        return time.monotonic() - start

    def heap(self) -> int:
        """Returns the bytes in use in the heap of Bazel's server."""
        return int(self._bazel("info", "used-heap-size-after-gc").strip().removesuffix("MB")) * 1_000_000

    def _bazel(self, *arguments: str) -> str:
        result = subprocess.run(["tools/bazel", *arguments], cwd=self.root, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            raise SystemExit(result.stderr)
        return result.stdout


@contextlib.contextmanager
def _tree() -> Iterator[Tree]:
    tree = Tree(Path(os.environ["BUILD_WORKSPACE_DIRECTORY"]))
    try:
        yield tree
    finally:
        shutil.rmtree(tree.root / _PACKAGE, ignore_errors=True)


@dataclass(frozen=True)
class Built:
    """A build of libraries: the count, the seconds without and with workers, and the size of the disk cache."""

    libraries: int
    once: float
    served: float
    cache_bytes: int


@dataclass(frozen=True)
class Analyzed:
    """An analysis: the number of targets, the seconds, and the growth of the server's memory in bytes."""

    targets: int
    seconds: float
    heap_bytes: int


def _builds(tree: Tree) -> tuple[list[Built], list[Analyzed]]:
    analyzed = [_analyze(tree, count) for count in (_TARGETS_OF_A_LIBRARY, *_TARGETS.value)][1:]
    manifests = "--output_groups=manifest"
    tree.build(manifests, tree.package(1))
    tree.build(manifests, *_ONE_SHOT, tree.package(1))
    built: list[Built] = []
    for count in _LIBRARIES.value:
        once = tree.build(manifests, *_ONE_SHOT, tree.package(count))
        with tempfile.TemporaryDirectory() as cache:
            served = tree.build(manifests, f"--disk_cache={cache}", tree.package(count))
            size = sum(file.stat().st_size for file in Path(cache).rglob("*") if file.is_file())
        built.append(Built(count, once, served, size))
    return built, analyzed


def _analyze(tree: Tree, targets: int) -> Analyzed:
    package = tree.package(targets // _TARGETS_OF_A_LIBRARY)
    before = tree.heap()
    seconds = tree.build("--nobuild", package)
    return Analyzed(targets, seconds, tree.heap() - before)


def _shows(generated: Rows, selected: Rows, built: Sequence[Built], analyzed: Sequence[Analyzed]) -> str:
    """Returns the alternative text of the plot."""
    (least, _, served_least), (most, _, served_most) = generated[0], generated[-1]
    (fewest, _, select_least), (calls, _, select_most) = selected[0], selected[-1]
    return (
        f"Time and memory by size: in a worker, generate takes {served_least * 1e3:.1f} to {served_most * 1e3:.1f} ms"
        f" for {least} to {most} operators, select {select_least * 1e3:.1f} to {select_most * 1e3:.1f} ms for"
        f" {fewest} to {calls:,} calls; {built[-1].libraries:,} libraries build in {built[-1].served:.1f} s with a"
        f" worker and in {built[-1].once:.1f} s with a process each; {analyzed[-1].targets:,} targets are analyzed in"
        f" {analyzed[-1].seconds:.1f} s and keep {analyzed[-1].heap_bytes / 1e6:.0f} MB."
    )


def main(argv: Sequence[str]) -> None:
    if len(argv) > 1:
        raise app.UsageError(f"unknown argument: {argv[1]}")
    generated, selected = _commands()
    with _tree() as tree:
        built, analyzed = _builds(tree)
        docs = tree.root / "docs"
    docs.mkdir(exist_ok=True)

    def milliseconds(rows: Rows) -> list[tuple[str, str, str]]:
        return [(str(n), f"{once * 1e3:.0f} ms", f"{served * 1e3:.1f} ms") for n, once, served in rows]

    shows = _shows(generated, selected, built, analyzed)
    text = "\n\n".join(
        [
            "## Time and memory by size",
            "Made by `tools/bazel run //tools/bench:growth_bench` on a machine with "
            f"{os.cpu_count()} CPUs. A figure is the lowest of several runs. The time of a process is its CPU time, "
            "with the launcher. The time of a warm worker is from the request to the response.",
            report.image("growth.svg", shows),
            "`generate`, by the number of operators selected from ExecuTorch's portable `functions.yaml`:",
            report.table(("operators", "process", "worker"), milliseconds(generated)),
            "`select`, by the number of calls in a model:",
            report.table(("calls", "process", "worker"), milliseconds(selected)),
            "A build of libraries with a selection each, from analysis to the generated sources (`EtSelect` and "
            "`EtGenerate`, without compilation of C++), and the bytes that the build adds to a disk cache:",
            report.table(
                ("libraries", "processes", "worker", "disk cache"),
                [
                    (each.libraries, f"{each.once:.1f} s", f"{each.served:.1f} s", f"{each.cache_bytes / 1e6:.1f} MB")
                    for each in built
                ],
            ),
            "Loading and analysis of a package of libraries with two targets and a selection each (`build --nobuild`), "
            "and the memory that Bazel's server keeps:",
            report.table(
                ("targets", "time", "memory"),
                [(each.targets, f"{each.seconds:.1f} s", f"{each.heap_bytes / 1e6:.0f} MB") for each in analyzed],
            ),
        ]
    )
    report.replace_section(docs / "benchmarks.md", "growth", text)
    charts = {
        "generate": (
            "operators",
            "ms",
            {
                "process": [(n, once * 1e3) for n, once, _ in generated],
                "worker": [(n, served * 1e3) for n, _, served in generated],
            },
        ),
        "select": (
            "calls of a model",
            "ms",
            {
                "process": [(n, once * 1e3) for n, once, _ in selected],
                "worker": [(n, served * 1e3) for n, _, served in selected],
            },
        ),
        "build": (
            "libraries",
            "s",
            {
                "process": [(each.libraries, each.once) for each in built],
                "worker": [(each.libraries, each.served) for each in built],
            },
        ),
        "analysis": ("targets", "s", {"analysis": [(each.targets, each.seconds) for each in analyzed]}),
        "memory": ("targets", "MB", {"memory": [(each.targets, each.heap_bytes / 1e6) for each in analyzed]}),
    }
    (docs / "growth.svg").write_text(report.plot(charts, shows))
    print(text)


if __name__ == "__main__":
    app.run(main)
