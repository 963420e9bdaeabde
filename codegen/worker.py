"""The code generator as a worker: answers requests by the protocol of bazel_worker/protocol.py.

Requests are answered one after the other, also where Bazel sends many at once (a multiplex worker): each is a few
milliseconds of work for one CPU, which threads would not make less. What the subcommands read is kept between requests
by its digest, see codegen/cache/content_cache.py.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import TextIO

from bazel_worker import protocol
from codegen.cache import content_cache
from diagnostics.errors import shown

# Runs one command line; returns the exit code, having written what the user should know to sys.stderr.
Run = Callable[[Sequence[str]], int]


def serve(run: Run) -> None:
    """Answers the requests on this process's stdin until it ends."""
    with protocol.streams() as (requests, responses):
        answer_all(requests, responses, run)


def answer_all(requests: TextIO, responses: TextIO, run: Run) -> None:
    """Answers requests until there are no more."""
    for line in iter(requests.readline, ""):
        if line.strip():
            protocol.respond(responses, *_answer(line, run))


def _answer(line: str, run: Run) -> tuple[int, int, str]:
    """The request's id, the exit code and the output."""
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
        except Exception:  # A mistake of ours must not take the other requests with it.
            traceback.print_exc()
            exit_code = 1
    return request_id, exit_code, output.getvalue()


@contextlib.contextmanager
def _in_directory(directory: str) -> Iterator[None]:
    """Works in a directory, that of one request's sandbox, and returns to the former."""
    if not directory:
        yield
        return
    former = os.getcwd()
    os.chdir(directory)
    try:
        yield
    finally:
        os.chdir(former)
