"""CPU time of one `codegen generate` for the whole portable functions.yaml, beside ExecuTorch's own parsing of it.

    tools/bazel run //tools/bench:codegen_bench

Each measurement is a process of its own, from its start to its end; ours is the tool as an action runs it without a
worker, launcher included.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import executorch.codegen
import torchgen
from absl import app, flags

from codegen import main as main_module

_RUNS = flags.DEFINE_integer("runs", 9, "How often to measure each.", lower_bound=1)

_PORTABLE = Path(executorch.codegen.__file__).parents[1] / "kernels" / "portable" / "functions.yaml"
_CODEGEN = Path(main_module.__file__).with_name("codegen")
_NATIVE = Path(torchgen.__file__).parent / "packaged" / "ATen" / "native"

_THEIR_PARSE = f"""
from executorch.codegen.gen import parse_yaml_files
from torchgen.selective_build.selector import SelectiveBuilder
parsed, _ = parse_yaml_files(
    tags_yaml_path={str(_NATIVE / "tags.yaml")!r},
    aten_yaml_path={str(_NATIVE / "native_functions.yaml")!r},
    native_yaml_path={str(_PORTABLE)!r},
    custom_ops_yaml_path=None,
    selector=SelectiveBuilder.get_nop_selector(),
    use_aten_lib=False,
)
assert parsed.native_functions
"""


def main(argv: Sequence[str]) -> None:
    if len(argv) > 1:
        raise app.UsageError("This takes no arguments.")
    with tempfile.TemporaryDirectory() as directory:
        selection = f"{directory}/selected_operators.yaml"
        two = f"{directory}/two_operators.yaml"
        _run([_CODEGEN, "select", "--ops=aten::add.out", "--ops=aten::mul.out", f"--output={two}"])
        _run([_CODEGEN, "select", "--include_all_operators", f"--output={selection}"])
        generate: list[str | Path] = [
            _CODEGEN,
            "generate",
            "--max_kernels=2000",
            "--max_kernels=2000",
            "--label=//:portable",
            f"--functions_yaml={_PORTABLE}",
            f"--boxed_kernels={directory}/boxed_kernels",
            f"--kernel_table={directory}/KernelTable.cpp",
            f"--registration={directory}/RegisterKernels.cpp",
            f"--native_functions={directory}/NativeFunctions.h",
            f"--functions={directory}/Functions.h",
            f"--manifest={directory}/registered.json",
        ]
        measured = _measure(
            {
                "two": lambda: _run([*generate, f"--selection={two}"]),
                "theirs": lambda: _run([sys.executable, "-c", _THEIR_PARSE]),
                "ours": lambda: _run([*generate, f"--selection={selection}"]),
            },
            _RUNS.value,
        )
        lines = (Path(directory) / "registered.json").read_text().count('"schema"')
    print(f"{lines} operators of ExecuTorch's portable functions.yaml; CPU seconds of {_RUNS.value} runs each\n")
    print(f"{'':44}{'median':>8}{'least':>8}{'most':>8}")
    for name, title in (
        ("two", "codegen generate, two operators selected"),
        ("ours", "codegen generate: parse, select, write"),
        ("theirs", "ExecuTorch's parse_yaml_files: parse"),
    ):
        seconds = measured[name]
        print(f"{title:44}{statistics.median(seconds):8.3f}{min(seconds):8.3f}{max(seconds):8.3f}")
    ratio = statistics.median(measured["theirs"]) / statistics.median(measured["ours"])
    print(f"\nratio of the medians: {ratio:.1f}")


def _measure(functions: dict[str, Callable[[], float]], runs: int) -> dict[str, list[float]]:
    """The seconds of each run. The functions take turns, so that a busy moment of the machine hits all of them."""
    seconds: dict[str, list[float]] = {name: [] for name in functions}
    for function in functions.values():
        function()  # Fills the file cache.
    for _ in range(runs):
        for name, function in functions.items():
            seconds[name].append(function())
    return seconds


def _run(arguments: Sequence[str | Path]) -> float:
    """Runs a command and gives the CPU seconds it took, in user and system mode."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    subprocess.run(arguments, check=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    app.run(main)
