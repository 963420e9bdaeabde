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
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TextIO

from codegen.cache import content_cache
from diagnostics.errors import shown

# Runs one command line; returns the exit code, having written what the user should know to sys.stderr.
Run = Callable[[Sequence[str]], int]


def serve(run: Run) -> None:
    """Answers the requests on this process's stdin until it ends."""
    # Whatever else writes to this process's stdout or reads its stdin, also in a process it starts, is kept off them.
    # A path may be in any encoding.
    with (
        os.fdopen(os.dup(0), encoding="utf-8", errors="surrogateescape") as requests,
        os.fdopen(os.dup(1), "w", encoding="utf-8") as responses,
    ):
        with open(os.devnull, "rb") as nothing:
            os.dup2(nothing.fileno(), 0)
        os.dup2(2, 1)
        answer_all(requests, responses, run)


def answer_all(requests: TextIO, responses: TextIO, run: Run) -> None:
    """Answers requests until there are no more."""
    for line in iter(requests.readline, ""):
        if line.strip():
            json.dump(_answer(line, run), responses)
            responses.write("\n")
            responses.flush()


def _answer(line: str, run: Run) -> dict[str, Any]:
    output = io.StringIO()
    request_id = 0
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        try:
            request = _request(line)
            request_id = request.id
            with _in_directory(request.directory), content_cache.inputs(request.digests):
                exit_code = run(request.arguments)
        except _BadRequestError as error:
            request_id = error.id
            print(shown(f"codegen: not a work request of Bazel's: {error}"), file=sys.stderr)
            exit_code = 1
        except Exception:  # A mistake of ours must not take the other requests with it.
            traceback.print_exc()
            exit_code = 1
    text = output.getvalue().encode(errors="backslashreplace").decode()
    return {"exitCode": exit_code, "output": text, "requestId": request_id}


@dataclass(frozen=True, slots=True)
class _Request:
    """One request, as Bazel's worker_protocol.proto describes it.

    Attributes:
        id: which request of several the response is to.
        arguments: the command line.
        digests: of the inputs, by their paths.
        directory: where to work; empty for the worker's own.
    """

    id: int
    arguments: Sequence[str]
    digests: Mapping[str, str]
    directory: str


class _BadRequestError(Exception):
    """A line is not a request. `id` is the request's, if it has any."""

    def __init__(self, problem: str, request_id: int = 0) -> None:
        super().__init__(problem)
        self.id = request_id


def _request(line: str) -> _Request:
    """The request in a line.

    Raises:
        _BadRequestError: there is none in it.
    """
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _BadRequestError(f"it is no JSON: {error or 'nested too deep'}") from error
    if not isinstance(fields, dict):
        raise _BadRequestError(f"it is a {type(fields).__name__}, not an object")
    id_ = fields.get("requestId", 0)
    if not isinstance(id_, int) or isinstance(id_, bool):
        raise _BadRequestError(f"requestId is {id_!r}, not a number")
    arguments, inputs, directory = (fields.get(key, ()) for key in ("arguments", "inputs", "sandboxDir"))
    if not _are(str, arguments):
        raise _BadRequestError("arguments is not a list of text", id_)
    if not _are(dict, inputs) or not all(_are(str, [file.get("path"), file.get("digest", "")]) for file in inputs):
        raise _BadRequestError("inputs is not a list of objects with path and digest", id_)
    if directory and not isinstance(directory, str):
        raise _BadRequestError("sandboxDir is not text", id_)
    digests = {file["path"]: file.get("digest", "") for file in inputs}
    return _Request(id_, arguments, digests, directory or "")


def _are(type_: type, values: object) -> bool:
    return isinstance(values, list | tuple) and all(isinstance(value, type_) for value in values)


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
