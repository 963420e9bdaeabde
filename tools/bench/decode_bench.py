"""Measures the read bandwidth of linear layers for one row of inputs, as in decoding, and that of the memory.

    tools/bazel run //tools/bench:decode_bench

Weights are far larger than caches. Rounds of all layers and of a sum of one layer's weights, as integers of 64 bits,
take turns. The fastest round of each counts, since other load of the machine only makes a round longer. The sum only
reads, in the same process and from the same memory. Writes a section of docs/benchmarks.md.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import torch
from absl import app, flags

from export.graph_passes import layouts
from kernels.optimized.tests import own_schemas
from kernels.testing import op_tester, processor
from tools.bench import report

_LIBRARY = flags.DEFINE_string("kernels", None, "The library of kernels, with the op_caller.", required=True)
_ROUNDS = flags.DEFINE_integer("rounds", 7, "Rounds.", lower_bound=1)

_FEATURES = 4096
_BYTES = 256 << 20
_GROUP = 32


def _operator(name: str) -> op_tester.OpTester:
    return op_tester.OpTester(name, schema=own_schemas.SCHEMAS[name], reference=lambda x, *_: x[..., :0])


_FLOATS = _operator("rules_executorch::weight_only_linear.out")
_PANELS = _operator("rules_executorch::packed_linear.out")
_BYTES_OF_ROWS = _operator("rules_executorch::dynamic_linear.out")


def _weights(bits: int, groups: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns weights of _BYTES bytes, and their scales."""
    rows = _BYTES * 8 // bits // _FEATURES
    dtype, low, high = {4: (torch.uint8, 0, 256), 8: (torch.int8, -128, 128)}[bits]
    return torch.randint(low, high, (rows, _FEATURES * bits // 8), dtype=dtype), torch.rand(rows, groups)


def _panels(dtype: torch.dtype) -> torch.Tensor:
    """Returns the panels of a weight of _BYTES bytes, which are pairs for bfloat16."""
    columns = layouts.FLOAT_PANEL_COLUMNS
    weight = torch.randn(_BYTES // dtype.itemsize // columns // _FEATURES, _FEATURES, columns).to(dtype)
    return weight.reshape(len(weight), -1, columns, 2) if dtype == torch.bfloat16 else weight


def _as_panels(weight: torch.Tensor, scale: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns the same bytes in the shape of panels, and the scales."""
    columns, depth = layouts.BYTE_PANEL_COLUMNS, layouts.BYTE_PANEL_DEPTH
    panels = weight.reshape(len(weight) // columns, -1, columns, depth)
    return panels, scale.reshape(-1, scale.shape[1], columns)


def _seconds(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def _section(seconds: dict[str, float], sizes: dict[str, int], peak: float) -> str:
    rows = []
    for name, least in seconds.items():
        rate = sizes[name] / least
        size = f"{sizes[name] / 2**20:.0f}"
        rows.append((*name.split("; "), size, f"{least * 1e3:.1f}", f"{rate / 1e9:.1f}", f"{100 * rate / peak:.0f}%"))
    instruction_set = os.environ.get("EXECUTORCH_INSTRUCTION_SET") or processor.instruction_sets()[0]
    header = ["weights", "inputs", "MiB with scales", "ms", "GB/s", "share of the sum's"]
    return (
        "## Linear layers of one row\n\n"
        "The table has the bandwidth at which a layer reads its weights, for one row of"
        f" {_FEATURES:,} inputs, as in decoding, on one core. Layers whose weights are not quantized are"
        " `packed_linear`, with inputs of the weights' dtype. With *floats*, the layer is `weight_only_linear`, whose"
        " inputs are floats. With *bytes*, the layer is `dynamic_linear`, which quantizes its inputs to bytes. The"
        f" kernels are those of the instruction set `{instruction_set}` ({report.processor()}). The last"
        f" column compares the layer with a sum of {_BYTES >> 20} MiB, measured in turn with the layers, which reads"
        f" {peak / 1e9:.1f} GB/s.\n\n"
        "    tools/bazel run //tools/bench:decode_bench\n\n" + report.table(header, rows)
    )


def main(argv: list[str]) -> None:
    del argv
    os.environ["OP_CALLER_LIBRARY"] = str(Path(_LIBRARY.value).resolve())
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    torch.set_num_threads(1)
    x = torch.randn(1, _FEATURES)
    sizes: dict[str, int] = {}
    seconds: dict[str, float] = {}
    peak = 0.0
    with ExitStack() as stack:
        calls = {}
        for dtype in (torch.float32, torch.float16, torch.bfloat16):
            name = str(dtype).removeprefix("torch.")
            weight = _panels(dtype)
            out_features = layouts.FLOAT_PANEL_COLUMNS * len(weight)
            outs = [torch.empty(1, out_features, dtype=dtype)]
            prepared = _PANELS.prepare(x.to(dtype), weight, None, out_features, outs=outs)
            calls[f"{name}; {name}"] = stack.enter_context(prepared)
            sizes[f"{name}; {name}"] = weight.nbytes
        for bits, group_count in ((8, 1), (8, _FEATURES // _GROUP), (4, _FEATURES // _GROUP), (4, _FEATURES // 128)):
            groups = "one scale per row" if group_count == 1 else f"groups of {_FEATURES // group_count}"
            name = f"{bits} bits, {groups}"
            weight, scale = _weights(bits, group_count)
            outs, offset = [torch.empty(1, weight.shape[0])], torch.zeros(weight.shape[0])
            as_floats = _FLOATS.prepare(x, weight, scale, None, outs=outs)
            as_bytes = _BYTES_OF_ROWS.prepare(x, *_as_panels(weight, scale), offset, None, False, 1e-7, outs=outs)
            for inputs, prepared in (("floats", as_floats), ("bytes", as_bytes)):
                calls[f"{name}; {inputs}"] = stack.enter_context(prepared)
                sizes[f"{name}; {inputs}"] = weight.nbytes + scale.nbytes
        integers = weight.view(torch.int64)
        for _ in range(_ROUNDS.value):
            peak = max(peak, weight.nbytes / _seconds(integers.sum))
            for name, call in calls.items():
                seconds[name] = min(seconds.get(name, float("inf")), _seconds(call.run))
    section = _section(seconds, sizes, peak)
    report.publish("decode_bench", section)


if __name__ == "__main__":
    app.run(main)
