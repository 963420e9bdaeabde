"""One run at a time: two runs of peers_bench share the processors, and both measure wrong times."""

from __future__ import annotations

import contextlib
import fcntl
from collections.abc import Iterator
from pathlib import Path


class OtherRunError(Exception):
    """Another run uses the folder."""


@contextlib.contextmanager
def one_run(state: Path) -> Iterator[None]:
    """Holds a lock on a folder, until the block or the process ends.

    Args:
        state: the folder, which exists.
    Raises:
        OtherRunError: another process holds the lock.
    """
    with (state / "lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise OtherRunError(f"another run of peers_bench uses {state}: wait for its end, or stop it") from error
        yield
