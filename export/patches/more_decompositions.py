"""Patch: ExecuTorch's table of decompositions has others, too, such as those of `export/lower/decompositions.py`.

**What**: replaces `_default_decomposition_table` in `executorch.exir.program._program`.

**Why**: `to_edge` and `to_edge_transform_and_lower` take no table. Operators that no kernel computes stay in a program,
although other operators compute the same.

**Effect**: without the patch, a program with one of these operators finds no kernel, and a call of `torch.linalg.inv`
fails in the lowering.

**Report**, to ExecuTorch: `EdgeCompileConfig` should have further decompositions, as it has `preserve_ops`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import Any

from executorch.exir.program import _program
from torch._ops import OpOverload

from export.patches.patch import Patch

PATCH = Patch(
    "more_decompositions",
    known={
        "executorch.exir.tracer:_default_decomposition_table": {"1.4.1": "a37d3c7a02eb", "1.5.1": "a37d3c7a02eb"},
    },
    without="programs call operators without kernels, such as aten::copysign.out",
)


def added(decompositions: Mapping[OpOverload, Callable[..., Any]]) -> contextlib.AbstractContextManager[None]:
    """Adds decompositions to each table that a lowering makes during the block."""

    def table(original: Callable[..., Any], *args: Any, **kwargs: Any) -> dict[Any, Any]:
        return {**original(*args, **kwargs), **decompositions}

    return PATCH.wrapped(_program, "_default_decomposition_table", table)
