"""How a process ended, in a word."""

from __future__ import annotations

import signal

# The C++ runtime ends a process with SIGABRT, for example when an exception leaves the initialization of a library.
_SIGNALS: dict[int, str] = {signal.SIGABRT: "aborts", signal.SIGSEGV: "crashes"}


def how_it_ended(status: int) -> str:
    """What a process does at its end: it aborts, crashes or ends.

    Args:
        status: the exit status as os.waitstatus_to_exitcode returns it: negative for a signal.
    """
    return _SIGNALS.get(-status, "ends")
