"""Keeps what a step prints out of the build's log unless the step fails."""

from __future__ import annotations

import os
import sys
import tempfile
from types import TracebackType
from typing import IO

_TAIL_LINES = 20


class Captured:
    """Takes all that is written to stdout and stderr, by Python and by native code, while the context is open."""

    def __init__(self) -> None:
        # The file outlives the context: text() reads it.
        self._file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        self._saved: list[tuple[int, int]] = []

    def __enter__(self) -> Captured:
        _flush()
        for descriptor in (1, 2):
            self._saved.append((descriptor, os.dup(descriptor)))
            os.dup2(self._file.fileno(), descriptor)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        _flush()
        for descriptor, saved in self._saved:
            os.dup2(saved, descriptor)
            os.close(saved)
        self._saved.clear()

    def text(self) -> str:
        """All that was written."""
        self._file.seek(0)
        return self._file.read().decode(errors="replace")

    def tail(self) -> str:
        """The last lines written, and how many came before them."""
        lines = self.text().rstrip().splitlines()
        left_off = len(lines) - _TAIL_LINES
        return "\n".join([f"... {left_off} lines before"] * (left_off > 0) + lines[-_TAIL_LINES:])


def _flush() -> None:
    sys.stdout.flush()
    sys.stderr.flush()
