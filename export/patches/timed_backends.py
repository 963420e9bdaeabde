"""Patch: the work of partitioners and backends is a phase of an export.

**What**: replaces `EdgeProgramManager.to_backend` of ExecuTorch by the same method with a clock.

**Why**: `to_edge_transform_and_lower` calls partitioners and backends, whose time `<name>.times.txt` shows apart.

**Effect**: without the patch, the seconds of backends are those of the phase `to_edge`.

**Report**, to ExecuTorch: `to_edge_transform_and_lower` should take a callback that gets the begin and the end of each
step.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from executorch.exir import EdgeProgramManager

from export.patches.patch import Patch
from export.process import phases

PATCH = Patch(
    "timed_backends",
    known={
        "executorch.exir.program._program:EdgeProgramManager.to_backend": {
            "1.4.1": "f1053c9a5fed",
            "1.5.1": "f1053c9a5fed",
        }
    },
    without="the phase to_edge has the seconds of backends",
)


def timed() -> contextlib.AbstractContextManager[None]:
    """Records the calls of `to_backend` during the block as the phase `backends`."""
    return PATCH.wrapped(EdgeProgramManager, "to_backend", _in_phase)


def _in_phase(to_backend: Callable[..., Any], *args: Any) -> Any:
    with phases.phase("backends"):
        return to_backend(*args)
