"""Patch: the work of partitioners and backends is a phase of an export.

**What**: replaces `EdgeProgramManager.to_backend` of ExecuTorch by the same method with a clock.

**Why**: `to_edge_transform_and_lower` calls partitioners and backends, whose time `<name>.times.txt` shows apart.

**Effect**: without the patch, the seconds of backends are those of the phase `to_edge`.

**Report**, to ExecuTorch: `to_edge_transform_and_lower` should take a callback that gets the begin and the end of each
step.
"""

from __future__ import annotations

import contextlib
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
    to_backend = EdgeProgramManager.to_backend

    def to_backend_in_phase(manager: EdgeProgramManager, *args: Any) -> EdgeProgramManager:
        with phases.phase("backends"):
            return to_backend(manager, *args)

    return PATCH.applied(EdgeProgramManager, to_backend=to_backend_in_phase)
