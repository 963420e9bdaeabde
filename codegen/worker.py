"""The code generator as a persistent worker of Bazel. bazel_worker/protocol.py has the protocol.

The worker answers requests one after another, also if Bazel sends many at once (a multiplex worker). Each request takes
a few milliseconds of one CPU, and threads would not be faster. codegen/cache/content_cache.py keeps read files between
requests, by the files' digests.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import TextIO

from bazel_worker import protocol
from codegen.cache import content_cache
from diagnostics.errors import shown

# Runs one command line. Writes messages for the user to sys.stderr, and returns the exit code.
Run = Callable[[Sequence[str]], int]


def serve(run: Run) -> None:
    """Answers the requests on this process's stdin until the stream ends, or Bazel deletes the working directory."""
    threading.Thread(target=_end_without, args=[protocol.WorkingDirectory()], daemon=True).start()
    with protocol.streams() as (requests, responses):
        answer_all(requests, responses, run)


def _end_without(directory: protocol.WorkingDirectory) -> None:
    while not directory.is_deleted():
        time.sleep(directory.INTERVAL)
    os._exit(1)  # The other thread waits for a request.


def answer_all(requests: TextIO, responses: TextIO, run: Run) -> None:
    """Answers requests until the stream ends."""
    for line in iter(requests.readline, ""):
        if line.strip():
            protocol.respond(responses, *_answer(line, run))


def _answer(line: str, run: Run) -> tuple[int, int, str]:
    """Runs a request. Returns the request's id, the exit code and the output."""
    output = io.StringIO()
    request_id = 0
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        try:
            request = protocol.read(line)
            request_id = request.id
            with _in_directory(request.directory), content_cache.inputs(request.digests):
                exit_code = run(request.arguments)
        except protocol.BadRequestError as error:
            request_id = error.id
            print(shown(f"codegen: {error}"), file=sys.stderr)
            exit_code = 1
        except Exception:  # An unexpected error must not end the worker, and with it the other requests.
            traceback.print_exc()
            exit_code = 1
    return request_id, exit_code, output.getvalue()


@contextlib.contextmanager
def _in_directory(directory: str) -> Iterator[None]:
    """Changes the working directory to a request's sandbox during the block."""
    if not directory:
        yield
        return
    former = os.getcwd()
    os.chdir(directory)
    try:
        yield
    finally:
        os.chdir(former)
