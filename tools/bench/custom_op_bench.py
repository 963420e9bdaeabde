"""Measures calls from Python of an operator with an ExecuTorch kernel, and writes docs/benchmarks.md.

tools/bazel run //tools/bench:custom_op_bench
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence

import examples.custom_ops.custom_ops_mul4_lib  # noqa: F401  (defines my_ops::mul4)
import torch
from absl import app

from tools.bench import report

_CALLS = 2000
_ROUNDS = 25


def _microseconds(call: Callable[[], object]) -> float:
    """Returns the microseconds of one call, as the median of several rounds."""
    rounds = []
    for _ in range(_ROUNDS):
        start = time.perf_counter()
        for _ in range(_CALLS):
            call()
        rounds.append((time.perf_counter() - start) / _CALLS * 1e6)
    return statistics.median(rounds)


def section(rows: Sequence[tuple[str, str]]) -> str:
    """Returns the section of the page with the time of each call."""
    return "\n\n".join(
        [
            "## Custom operators in PyTorch",
            "The table has the time of a call from Python, for an operator with a lean kernel ([how PyTorch calls the"
            " kernel](pytorch_operators.md)) and for an operator of PyTorch. The tensors have ten elements, so the"
            f" kernels take little of the time. The calls run on one thread; a time is the median of {_ROUNDS} rounds"
            f" ({report.processor()}).",
            "    tools/bazel run //tools/bench:custom_op_bench",
            report.table(("operator", "µs per call"), rows),
        ]
    )


def main(argv: Sequence[str]) -> None:
    del argv
    torch.set_num_threads(1)
    x, out = torch.randn(5, 2), torch.empty(5, 2)
    meta = torch.empty(5, 2, device="meta")
    rows: list[tuple[str, Callable[[], object]]] = [
        ("`my_ops::mul4`", lambda: torch.ops.my_ops.mul4.default(x)),
        ("`my_ops::mul4.out`", lambda: torch.ops.my_ops.mul4.out(x, output=out)),
        ("`my_ops::mul4` of meta tensors", lambda: torch.ops.my_ops.mul4.default(meta)),
        ("`aten::mul.Tensor`", lambda: torch.ops.aten.mul.Tensor(x, x)),
        ("`aten::mul.out`", lambda: torch.ops.aten.mul.out(x, x, out=out)),
    ]
    report.publish("custom_operators", section([(name, f"{_microseconds(call):.1f}") for name, call in rows]))


if __name__ == "__main__":
    app.run(main)
