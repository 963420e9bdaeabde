"""How fast linear layers with quantized weights read these, for one row of inputs, beside what memory gives at most.

    taskset --cpu-list 0 tools/bazel run //tools/bench:weight_only_bench

Weights are far larger than caches. Rounds of all layers and of machine_peak take turns; the fastest of each counts,
since whatever else the machine does makes a round longer only. Writes a section of docs/benchmarks.md.
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import torch
from absl import app, flags

from kernels.testing import op_tester
from tools.bench import report

_LIBRARY = flags.DEFINE_string("kernels", None, "The library of kernels, with the op_caller.", required=True)
_PEAK = flags.DEFINE_string("machine_peak", None, "The program that measures the machine.", required=True)
_ROUNDS = flags.DEFINE_integer("rounds", 7, "Rounds.", lower_bound=1)

_FEATURES = 4096
_BYTES = 256 << 20
_GROUP = 32
_READ = re.compile(rf"read of +{_BYTES >> 20} MB +([\d.]+) GB/s")
_SCHEMA = (
    "rules_executorch::weight_only_linear.out(Tensor input, Tensor weight, Tensor scale, Tensor? bias, *,"
    " Tensor(a!) out) -> Tensor(a!)"
)


def _weights(bits: int, groups: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Weights that take _BYTES, and their scales."""
    rows = _BYTES * 8 // bits // _FEATURES
    dtype, low, high = {4: (torch.uint8, 0, 256), 8: (torch.int8, -128, 128)}[bits]
    return torch.randint(low, high, (rows, _FEATURES * bits // 8), dtype=dtype), torch.rand(rows, groups)


def _seconds(call: Callable[[], None]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def _peak() -> float:
    """Bytes that memory gives in a second."""
    printed = subprocess.run([_PEAK.value], check=True, capture_output=True, text=True).stdout
    found = _READ.search(printed)
    assert found, printed
    return float(found.group(1)) * 1e9


def _section(seconds: dict[str, float], sizes: dict[str, int], peak: float) -> str:
    rows = []
    for name, least in seconds.items():
        rate = sizes[name] / least
        size = f"{sizes[name] / 2**20:.0f}"
        rows.append((name, size, f"{least * 1e3:.1f}", f"{rate / 1e9:.1f}", f"{100 * rate / peak:.0f}%"))
    header = ["weights", "MiB with scales", "ms", "GB/s", "of a read"]
    return (
        "## Linear layers with quantized weights\n\n"
        f"One row of {_FEATURES:,} inputs, as in decoding, one core: how fast a layer reads its weights. A program that"
        f" only reads {_BYTES >> 20} MiB (`//tools/bench:machine_peak`) gets {peak / 1e9:.1f} GB/s.\n\n"
        "    taskset --cpu-list 0 tools/bazel run //tools/bench:weight_only_bench\n\n" + report.table(header, rows)
    )


def main(argv: list[str]) -> None:
    del argv
    os.environ["OP_CALLER_LIBRARY"] = str(Path(_LIBRARY.value).resolve())
    tester = op_tester.OpTester(
        "rules_executorch::weight_only_linear.out", schema=_SCHEMA, reference=lambda x, *_: x[..., :0]
    )
    x = torch.randn(1, _FEATURES)
    sizes: dict[str, int] = {}
    seconds: dict[str, float] = {}
    peak = 0.0
    with ExitStack() as stack:
        calls = {}
        for bits, group_count in ((8, 1), (8, _FEATURES // _GROUP), (4, _FEATURES // _GROUP), (4, _FEATURES // 128)):
            name = f"{bits} bits, {'a scale a row' if group_count == 1 else f'groups of {_FEATURES // group_count}'}"
            weight, scale = _weights(bits, group_count)
            outs = [torch.empty(1, weight.shape[0])]
            calls[name] = stack.enter_context(tester.prepare(x, weight, scale, None, outs=outs))
            sizes[name] = weight.nbytes + scale.nbytes
        for _ in range(_ROUNDS.value):
            peak = max(peak, _peak())
            for name, call in calls.items():
                seconds[name] = min(seconds.get(name, float("inf")), _seconds(call.run))
    section = _section(seconds, sizes, peak)
    print(section)
    root = os.environ.get("BUILD_WORKSPACE_DIRECTORY")
    if root:
        report.replace_section(Path(root) / "docs" / "benchmarks.md", "weight_only_bench", section)


if __name__ == "__main__":
    app.run(main)
