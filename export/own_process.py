"""Runs a step in a process of its own, so that nothing that a user's file does there ends or silences the tool."""

from __future__ import annotations

import contextlib
import faulthandler
import io
import os
import re
import signal
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, NoReturn

_TAIL_LINES = 20
_TAIL_BYTES = 8192
_MAX_REPORT = 1 << 16
_FINISHED = b"finished\n"
# A frame as faulthandler writes it.
_FRAME = re.compile(r'^ *File "(.+)", line (\d+) in ', re.M)
# The user's file may replace it.
_exit = os._exit


@dataclass(frozen=True)
class Outcome:
    """How a step ended.

    Attributes:
        report: what the step returned; None if its process ended before.
        how: how the process ended, in a few words.
        frames: where Python was when the process crashed, the file and the line, innermost first.
    """

    report: str | None
    how: str
    frames: tuple[tuple[str, int], ...]


def run(step: Callable[[], str], printed: IO[bytes]) -> Outcome:
    """Runs a step in a process of its own, which ends with the step, whatever threads the step has started.

    Args:
        step: what to run; returns a text to report.
        printed: a file that gets all that is written to stdout and stderr, by Python and by native code.
    """
    with tempfile.TemporaryFile() as report, tempfile.TemporaryFile() as crash:
        sys.stdout.flush()
        sys.stderr.flush()
        child = os.fork()
        if not child:
            _run(step, printed, report, crash)
        try:
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        except BaseException:
            os.kill(child, signal.SIGKILL)
            raise
        text = _read(report)
        frames = tuple((match[1], int(match[2])) for match in _FRAME.finditer(_read(crash).decode(errors="replace")))
    finished = text.startswith(_FINISHED)
    return Outcome(text.removeprefix(_FINISHED).decode(errors="replace") if finished else None, _how(status), frames)


def tail(printed: IO[bytes]) -> str:
    """The last of what was printed, and how much came before it."""
    size = printed.seek(0, os.SEEK_END)
    start = max(0, size - _TAIL_BYTES)
    printed.seek(start)
    lines = printed.read(_TAIL_BYTES).decode(errors="replace").rstrip().splitlines()
    kept = lines[-_TAIL_LINES:]
    if start:
        kept.insert(0, f"... of {size:,} bytes, the last")
    elif len(lines) > _TAIL_LINES:
        kept.insert(0, f"... {len(lines) - _TAIL_LINES} lines before")
    return "\n".join(kept)


def _run(step: Callable[[], str], printed: IO[bytes], report: IO[bytes], crash: IO[bytes]) -> NoReturn:
    """Runs a step, writes its report, and ends the process in any case."""
    try:
        for descriptor in (1, 2):
            os.dup2(printed.fileno(), descriptor)
        sys.stdout, sys.stderr = _unbuffered(1), _unbuffered(2)
        faulthandler.enable(crash, all_threads=False)
        process = os.getpid()
        text = step().encode(errors="backslashreplace")
        if os.getpid() != process:  # The file has forked.
            _exit(0)
        for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
            with contextlib.suppress(BaseException):  # The file may have put others in their place.
                if stream:
                    stream.flush()
        report.write(_FINISHED + text[:_MAX_REPORT])
        report.flush()
    finally:
        _exit(0)


def _unbuffered(descriptor: int) -> io.TextIOWrapper:
    """A stream that keeps nothing back, which a process that ends at once would lose."""
    raw = io.FileIO(descriptor, "w", closefd=False)
    return io.TextIOWrapper(raw, encoding="utf-8", errors="backslashreplace", write_through=True)


def _how(status: int) -> str:
    """How a process ended, given what os.waitstatus_to_exitcode returns."""
    if status >= 0:
        return f"ended with status {status}"
    try:
        return f"was ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"was ended by signal {-status}"


def _read(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()
