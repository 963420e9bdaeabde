"""Compares the CPU time of `codegen generate` for the portable functions.yaml with ExecuTorch's parsing of the file.

    tools/bazel run //tools/bench:codegen_bench

Each measurement is a whole process of its own. `codegen generate` runs as in an action without a worker, with the
launcher.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import executorch.codegen
import torchgen
from absl import app, flags

from tools.bench import code_generator

_RUNS = flags.DEFINE_integer("runs", 9, "How often to measure each.", lower_bound=1)

_PORTABLE = Path(executorch.codegen.__file__).parents[1] / "kernels" / "portable" / "functions.yaml"
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
    codegen = os.path.abspath(code_generator.CODEGEN.value)
    # The child processes need the import paths of this process.
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    with tempfile.TemporaryDirectory() as directory:
        for output, select in (
            ("two.yaml", ["--ops=aten::add.out", "--ops=aten::mul.out"]),
            ("all.yaml", ["--include_all_operators"]),
        ):
            code_generator.run([codegen, "select", *select, f"--output={output}"], directory)

        def seconds(*command: str) -> Callable[[], float]:
            return lambda: code_generator.run(command, directory).seconds

        measured = _measure(
            {
                "two": seconds(codegen, *code_generator.generate(str(_PORTABLE), "two.yaml")),
                "theirs": seconds(sys.executable, "-c", _THEIR_PARSE),
                "ours": seconds(codegen, *code_generator.generate(str(_PORTABLE), "all.yaml")),
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
        runs = measured[name]
        print(f"{title:44}{statistics.median(runs):8.3f}{min(runs):8.3f}{max(runs):8.3f}")
    ratio = statistics.median(measured["theirs"]) / statistics.median(measured["ours"])
    print(f"\nratio of the medians: {ratio:.1f}")


def _measure(functions: dict[str, Callable[[], float]], runs: int) -> dict[str, list[float]]:
    """Returns the seconds of each run. The functions take turns, so that other load of the machine affects all."""
    seconds: dict[str, list[float]] = {name: [] for name in functions}
    for function in functions.values():
        function()  # Fills the file cache.
    for _ in range(runs):
        for name, function in functions.items():
            seconds[name].append(function())
    return seconds


if __name__ == "__main__":
    app.run(main)
