"""Describes the end of a process in one word."""

from __future__ import annotations

import signal

# The C++ runtime ends a process with SIGABRT, for example when an exception leaves the initialization of a library.
_SIGNALS: dict[int, str] = {signal.SIGABRT: "aborts", signal.SIGSEGV: "crashes"}


def how_it_ended(status: int) -> str:
    """Returns `aborts`, `crashes` or `ends`.

    Args:
        status: the result of os.waitstatus_to_exitcode, which is negative for a signal.
    """
    return _SIGNALS.get(-status, "ends")
