"""Bazel's JSON worker protocol: requests on stdin, one a line, and their responses on stdout, in any number.

Requests are answered one after the other, also where Bazel sends many at once (a multiplex worker): each is a few
milliseconds of work for one CPU, which threads would not make less. What the subcommands read is kept between requests
by its digest, see codegen/cache/content_cache.py.

Where Bazel ends a multiplex worker, since the generator changed or `--worker_quit_after_build`, it takes the closed
stdout for a response and prints "Could not parse json work request correctly" (bazelbuild/bazel#21972). That is all.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TextIO

from codegen.cache import content_cache

# Runs one command line; returns the exit code, having written what the user should know to sys.stderr.
Run = Callable[[Sequence[str]], int]


def serve(run: Run) -> None:
    """Answers the requests on this process's stdin until it ends."""
    # Whatever else writes to this process's stdout or reads its stdin, also in a process it starts, is kept off them.
    with os.fdopen(os.dup(0), encoding="utf-8") as requests, os.fdopen(os.dup(1), "w", encoding="utf-8") as responses:
        with open(os.devnull, "rb") as nothing:
            os.dup2(nothing.fileno(), 0)
        os.dup2(2, 1)
        answer_all(requests, responses, run)


def answer_all(requests: TextIO, responses: TextIO, run: Run) -> None:
    """Answers requests until there are no more."""
    for line in iter(requests.readline, ""):
        if line.strip():
            json.dump(_answer(json.loads(line), run), responses)
            responses.write("\n")
            responses.flush()


def _answer(request: dict[str, Any], run: Run) -> dict[str, Any]:
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        try:
            digests = {file["path"]: file.get("digest", "") for file in request.get("inputs", ())}
            with _in_directory(request.get("sandboxDir", "")), content_cache.inputs(digests):
                exit_code = run(request.get("arguments", ()))
        except Exception:  # A mistake of ours must not take the other requests with it.
            traceback.print_exc()
            exit_code = 1
    return {"exitCode": exit_code, "output": output.getvalue(), "requestId": request.get("requestId", 0)}


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
