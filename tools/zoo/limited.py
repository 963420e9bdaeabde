"""Runs a step in a process of its own, with limits of CPU time and memory."""

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
# The limit of elapsed time, relative to the limit of CPU time, since other processes may use the processors, too.
_PATIENCE = 60


@dataclass(frozen=True)
class Ended:
    """The end of a step.

    Attributes:
        last: the last value that the step reported; None if it reported nothing.
        problem: the reason why the step did not finish; empty if it finished.
    """

    last: Any
    problem: str


def run(step: Callable[[Callable[[Any], None]], None], seconds: float) -> Ended:
    """Runs a step in a forked process, which has all imported modules.

    Args:
        step: takes a function with which the step reports values. The last reported value counts.
        seconds: the limit of CPU time.
    """
    # Threads do not survive a fork. PyTorch starts threads only if it may use more than one.
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
    # The output of a model is discarded.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(nowhere, descriptor)
    step(sender.send)
