"""Runs a step in a process of its own, which has so many seconds of a processor and so much memory."""

from __future__ import annotations

import math
import multiprocessing
import os
import resource
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

_MEMORY = 12 << 30
# Others may use the processors, too: this many times its seconds may pass.
_PATIENCE = 60


@dataclass(frozen=True)
class Ended:
    """How a step ended.

    Attributes:
        last: the last that the step told; None if it told nothing.
        problem: what ended the step before its end; empty if nothing did.
    """

    last: Any
    problem: str


def run(step: Callable[[Callable[[Any], None]], None], seconds: float) -> Ended:
    """Runs a step in a copy of this process, so that what is imported need not be imported again.

    Args:
        step: takes a function by which it tells how far it is; what it tells last counts.
        seconds: the limit, of a processor's time.
    """
    # Threads do not survive a fork; PyTorch starts some only where it may have more than one.
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_child, args=(step, sender, math.ceil(seconds)))
    process.start()
    sender.close()
    end, last, problem = time.monotonic() + _PATIENCE * seconds, None, ""
    while True:
        left = end - time.monotonic()
        try:
            if not receiver.poll(max(left, 0)):
                problem = f"took more than {_PATIENCE * seconds:g} s beside other work"
                process.kill()
                break
            last = receiver.recv()
        except EOFError:
            break
    process.join()
    if not problem and process.exitcode:
        is_limit = process.exitcode in (-signal.SIGXCPU, -signal.SIGKILL)
        problem = f"took more than {seconds:g} s" if is_limit else f"the process ended with {process.exitcode}"
    return Ended(last, problem)


def _child(step: Callable[[Callable[[Any], None]], None], sender: Connection, seconds: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    # What a model prints belongs to no report.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(nowhere, descriptor)
    step(sender.send)
