"""Runs work in child processes, so that a crash of a kernel does not end the sweep."""

import dataclasses
import mmap
import os
import pickle
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

_PROGRESS_BYTES = 1 << 16
_NOTED_BYTES = 64  # The number of bytes of the progress that are compared to detect a stuck child.


class Death(NamedTuple):
    """The end of a child process without a result.

    Attributes:
      cause: the name of the signal.
      progress: the last progress of the child.
    """

    cause: str
    progress: str


@dataclasses.dataclass
class _Child:
    item: Any
    pid: int
    progress: mmap.mmap
    result: str
    noted: bytes
    since: float

    def is_stuck(self, timeout: float) -> bool:
        """Whether the progress has not changed for `timeout` seconds."""
        noted = self.progress[:_NOTED_BYTES]
        if noted != self.noted:
            self.noted, self.since = noted, time.monotonic()
        return time.monotonic() - self.since > timeout


def run(
    work: Callable[[Any, mmap.mmap], Any], items: Sequence[Any], jobs: int, timeout: float
) -> Iterator[tuple[Any, Any]]:
    """Calls `work`(item, progress) for each item, each in a fork of this process, `jobs` at a time.

    Yields each item with the return value or with a Death, in the order of completion. A child is killed if its
    progress does not change for `timeout` seconds.
    """
    waiting = list(items)
    running: list[_Child] = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            while waiting or running:
                while waiting and len(running) < jobs:
                    running.append(_start(work, waiting.pop(0), os.path.join(folder, str(len(waiting)))))
                time.sleep(0.01)
                for child in [*running]:
                    pid, status = os.waitpid(child.pid, os.WNOHANG)
                    if pid:
                        running.remove(child)
                        yield child.item, _result(child, status)
                    elif child.is_stuck(timeout):
                        os.kill(child.pid, signal.SIGALRM)
        finally:
            for child in running:
                os.kill(child.pid, signal.SIGKILL)
                os.waitpid(child.pid, 0)


def _start(work: Callable[[Any, mmap.mmap], Any], item: Any, result: str) -> _Child:
    progress = mmap.mmap(-1, _PROGRESS_BYTES)
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            value = work(item, progress)
            with open(result, "wb") as file:
                pickle.dump(value, file)
            status = 0
        except Exception:  # any exception, because the parent must see the child end
            traceback.print_exc()
        finally:
            os._exit(status)
    return _Child(item, pid, progress, result, b"", time.monotonic())


def _result(child: _Child, status: int) -> Any:
    if status == 0:
        with open(child.result, "rb") as file:
            return pickle.load(file)
    code = os.waitstatus_to_exitcode(status)
    if code > 0:
        raise RuntimeError(f"{child.item}: the work failed with the exception above")
    return Death(signal.Signals(-code).name, child.progress[:].split(b"\0")[0].decode(errors="replace"))
