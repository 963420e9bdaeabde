"""Bazel's JSON worker protocol: requests on stdin, one a line, and responses on stdout.

When Bazel ends a multiplex worker, since the tool changed or with `--worker_quit_after_build`, Bazel takes the closed
stdout for a response and prints "Could not parse json work request correctly" (bazelbuild/bazel#21972). The message is
harmless.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

# The flag with which Bazel starts a tool as a worker.
FLAG = "--persistent_worker"


@dataclass(frozen=True, slots=True)
class Request:
    """One request of Bazel's worker_protocol.proto.

    Attributes:
        id: the number of the request, which the response repeats.
        arguments: the command line.
        digests: the digests of the inputs, by path.
        directory: the working directory; empty for the worker's own.
        cancel: whether this cancels the earlier request with the same id.
    """

    id: int
    arguments: Sequence[str]
    digests: Mapping[str, str]
    directory: str
    cancel: bool


class WorkingDirectory:
    """The working directory with which Bazel started the worker.

    After an interrupted build, Bazel can delete the directory of a multiplex worker and leave the process, which then
    fails each request. Bazel starts another process once this one has ended.
    """

    # How often an idle worker looks, in seconds.
    INTERVAL = 1.0

    def __init__(self) -> None:
        self._path = os.getcwd()
        self._status = os.stat(self._path)

    def is_deleted(self) -> bool:
        """Whether the path no longer names the directory."""
        try:
            return not os.path.samestat(os.stat(self._path), self._status)
        except FileNotFoundError:
            return True


class BadRequestError(Exception):
    """A line is not a valid request. `id` is the id of the request, if the line has one."""

    def __init__(self, problem: str, request_id: int = 0) -> None:
        super().__init__(f"not a work request of Bazel's: {problem}")
        self.id = request_id


@contextlib.contextmanager
def streams() -> Iterator[tuple[TextIO, TextIO]]:
    """Returns this process's stdin and stdout, for requests and responses only.

    During the block, other code in this process and in child processes gets another stdin and stdout.
    """
    # A path may be in any encoding.
    with (
        os.fdopen(os.dup(0), encoding="utf-8", errors="surrogateescape") as requests,
        os.fdopen(os.dup(1), "w", encoding="utf-8") as responses,
    ):
        with open(os.devnull, "rb") as nothing:
            os.dup2(nothing.fileno(), 0)
        os.dup2(2, 1)
        yield requests, responses


def read(line: str) -> Request:
    """Parses the request in a line.

    Raises:
        BadRequestError: the line is not a valid request.
    """
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadRequestError(f"it is no JSON: {error or 'nested too deep'}") from error
    if not isinstance(fields, dict):
        raise BadRequestError(f"it is a {type(fields).__name__}, not an object")
    id_ = fields.get("requestId", 0)
    if not isinstance(id_, int) or isinstance(id_, bool):
        raise BadRequestError(f"requestId is {id_!r}, not a number")
    arguments, inputs, directory = (fields.get(key, ()) for key in ("arguments", "inputs", "sandboxDir"))
    if not _are(str, arguments):
        raise BadRequestError("arguments is not a list of text", id_)
    if not _are(dict, inputs) or not all(_are(str, [file.get("path"), file.get("digest", "")]) for file in inputs):
        raise BadRequestError("inputs is not a list of objects with path and digest", id_)
    if directory and not isinstance(directory, str):
        raise BadRequestError("sandboxDir is not text", id_)
    digests = {file["path"]: file.get("digest", "") for file in inputs}
    return Request(id_, arguments, digests, directory or "", fields.get("cancel") is True)


def respond(responses: TextIO, request_id: int, exit_code: int, output: str, *, canceled: bool = False) -> None:
    """Writes the response to a request.

    Args:
        responses: the stream of `streams`.
        request_id: the id of the request.
        exit_code: the exit code.
        output: the output for the user.
        canceled: whether the request was canceled by Bazel.
    """
    text = output.encode(errors="backslashreplace").decode()
    fields = {"exitCode": exit_code, "output": text, "requestId": request_id}
    json.dump(fields | ({"wasCancelled": True} if canceled else {}), responses)
    responses.write("\n")
    responses.flush()


def expanded(arguments: Sequence[str]) -> list[str]:
    """Replaces each `@file` of a command line by the lines of the file, as Bazel does for a worker.

    Raises:
        OSError: a file cannot be read.
    """
    return [line for argument in arguments for line in _expanded(argument)]


def _expanded(argument: str) -> Sequence[str]:
    if not argument.startswith("@"):
        return [argument]
    # As in Bazel, a line ends at a line feed only, and a path may be in any encoding.
    return Path(argument[1:]).read_bytes().decode(errors="surrogateescape").removesuffix("\n").split("\n")


def _are(type_: type, values: object) -> bool:
    return isinstance(values, list | tuple) and all(isinstance(value, type_) for value in values)
