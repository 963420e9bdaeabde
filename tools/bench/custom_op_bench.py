"""What a call from Python of an operator with a lean kernel costs, next to one of PyTorch's own.

tools/bazel run //tools/bench:custom_op_bench
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence

import examples.custom_ops.custom_ops_mul4_lib  # noqa: F401  (defines my_ops::mul4)
import torch
from absl import app

_CALLS = 2000
_ROUNDS = 25


def _microseconds(call: Callable[[], object]) -> float:
    """Of one call, the median over rounds."""
    rounds = []
    for _ in range(_ROUNDS):
        start = time.perf_counter()
        for _ in range(_CALLS):
            call()
        rounds.append((time.perf_counter() - start) / _CALLS * 1e6)
    return statistics.median(rounds)


def main(argv: Sequence[str]) -> None:
    del argv
    torch.set_num_threads(1)
    x, out = torch.randn(5, 2), torch.empty(5, 2)
    meta = torch.empty(5, 2, device="meta")
    rows: list[tuple[str, Callable[[], object]]] = [
        ("`my_ops::mul4`", lambda: torch.ops.my_ops.mul4.default(x)),
        ("`my_ops::mul4.out`", lambda: torch.ops.my_ops.mul4.out(x, output=out)),
        ("its fake", lambda: torch.ops.my_ops.mul4.default(meta)),
        ("`aten::mul.Tensor`", lambda: torch.ops.aten.mul.Tensor(x, x)),
        ("`aten::mul.out`", lambda: torch.ops.aten.mul.out(x, x, out=out)),
    ]
    print("| operator | us a call |\n|---|---|")
    for name, call in rows:
        print(f"| {name} | {_microseconds(call):.1f} |")


if __name__ == "__main__":
    app.run(main)
