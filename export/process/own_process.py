"""Runs a step in a process of its own, so that a user's file cannot end the tool or close its output."""

from __future__ import annotations

import contextlib
import faulthandler
import io
import mmap
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
# A frame in the output of faulthandler.
_FRAME = re.compile(r'^ *File "(.+)", line (\d+) in ', re.M)
# Saved, since the user's file may replace os._exit.
_exit = os._exit


@dataclass(frozen=True)
class Outcome:
    """The outcome of a step.

    Attributes:
        report: the text that the step returned; None if the process ended before.
        how: a short description of the end of the process.
        frames: the Python frames of a crash, file and line, innermost first.
        memory: the largest memory that the process has used, in bytes.
        was_killed: whether SIGKILL ended the process.
    """

    report: str | None
    how: str
    frames: tuple[tuple[str, int], ...]
    memory: int
    was_killed: bool


def run(step: Callable[[], str], printed: IO[bytes]) -> Outcome:
    """Runs a step in a process of its own. The process ends with the step, even if the step started threads.

    Args:
        step: the function to run. Its result is the report.
        printed: the file for all output to stdout and stderr, of Python and of native code.
    """
    # A limit for the sizes of files must not cut the report.
    with mmap.mmap(-1, _MAX_REPORT) as report, tempfile.TemporaryFile() as crash:
        sys.stdout.flush()
        sys.stderr.flush()
        child = os.fork()
        if not child:
            _run(step, printed, report, crash)
        try:
            _, waited, usage = os.wait4(child, 0)
            status = os.waitstatus_to_exitcode(waited)
        except BaseException:
            os.kill(child, signal.SIGKILL)
            raise
        text = report[:].rstrip(b"\0")
        crash.seek(0)
        frames = tuple((match[1], int(match[2])) for match in _FRAME.finditer(crash.read().decode(errors="replace")))
    finished = text.startswith(_FINISHED)
    shown = text.removeprefix(_FINISHED).decode(errors="replace") if finished else None
    return Outcome(shown, _how(status), frames, usage.ru_maxrss * 1024, status == -signal.SIGKILL)


def tail(printed: IO[bytes]) -> str:
    """Returns the end of the output, and the number of bytes before it."""
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


def _run(step: Callable[[], str], printed: IO[bytes], report: mmap.mmap, crash: IO[bytes]) -> NoReturn:
    """Runs a step, writes its report, and ends the process in any case."""
    try:
        for descriptor in (1, 2):
            os.dup2(printed.fileno(), descriptor)
        sys.stdout, sys.stderr = _unbuffered(1), _unbuffered(2)
        faulthandler.enable(crash, all_threads=False)
        process = os.getpid()
        text = step().encode(errors="backslashreplace")
        if os.getpid() != process:  # The user's file forked.
            _exit(0)
        for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
            with contextlib.suppress(BaseException):  # The user's file may have replaced the streams.
                if stream:
                    stream.flush()
        report.write((_FINISHED + text)[:_MAX_REPORT])
    finally:
        _exit(0)


def _unbuffered(descriptor: int) -> io.TextIOWrapper:
    """Returns an unbuffered stream. A process that ends abruptly would lose buffered output."""
    raw = io.FileIO(descriptor, "w", closefd=False)
    return io.TextIOWrapper(raw, encoding="utf-8", errors="backslashreplace", write_through=True)


def _how(status: int) -> str:
    """Describes the end of a process by the result of os.waitstatus_to_exitcode."""
    if status >= 0:
        return f"ended with status {status}"
    try:
        return f"was ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"was ended by signal {-status}"
