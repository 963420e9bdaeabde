"""The export tool as a persistent worker of Bazel. bazel_worker/protocol.py has the protocol.

The worker imports PyTorch once, which takes longer than most exports. For each request, the worker forks a process. The
process works as a process that Bazel starts for one export, and leaves no state behind. The worker itself runs no code
of a model. The worker has one thread, so that no lock is taken during a fork. (OpenBLAS, which numpy loads, ends its
threads before a fork, and starts them again for the next product.)

Without a sandbox, a worker sees the whole execution root, and a model could import undeclared files. So the process of
a request works in a folder with links to the request's inputs.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NoReturn, Protocol, TextIO

from bazel_worker import protocol
from diagnostics.errors import shown
from export.process import system_limits

_CHUNK = 1 << 16


class Tool(Protocol):
    """The tool whose requests a worker answers."""

    def prepare(self, files: Iterable[Path]) -> None:
        """Imports modules for a request and for later ones, in the worker itself.

        Args:
            files: the input files of the request.
        """

    def run(self, arguments: Sequence[str]) -> int:
        """Runs one command line in a forked process. Returns the exit code, or raises SystemExit with the exit code."""


@dataclass(slots=True)
class _Export:
    """A running request.

    Attributes:
        request: the request.
        folder: the folder of the process, with the links to inputs and the temporary files.
        output: the file with the output of the process.
        canceled: whether Bazel canceled the request.
    """

    request: protocol.Request
    folder: Path
    output: IO[bytes]
    canceled: bool = False


def serve(start: Callable[[], Tool], flags: Callable[[Path], Sequence[str]], outputs: Sequence[str]) -> None:
    """Answers the requests on this process's stdin until it ends, or Bazel deletes the working directory.

    Args:
        start: imports the common modules. Returns the tool.
        flags: given the folder that outputs are relative to, returns flags to add to a request's command line.
        outputs: the prefixes of the arguments with output paths.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory(prefix="export_") as folder, protocol.streams() as streams:
        os.environ["TMPDIR"] = tempfile.tempdir = folder
        worker = _Worker(streams, start(), flags, tuple(outputs), Path(folder))
        worker.answer_all()


class _Worker:
    def __init__(
        self,
        streams: tuple[TextIO, TextIO],
        tool: Tool,
        flags: Callable[[Path], Sequence[str]],
        outputs: tuple[str, ...],
        folder: Path,
    ) -> None:
        self._requests, self._responses = streams
        self._tool = tool
        self._flags = flags
        self._outputs = outputs
        self._folder = folder
        self._exports: dict[int, _Export] = {}  # By the ids of their processes.
        # When a process ends, Python writes to `_wakeup`, which ends the `select` that waits for `_ended`.
        self._ended, self._wakeup = os.pipe()
        os.set_blocking(self._wakeup, False)

    def answer_all(self) -> None:
        """Answers requests until the stream ends, or the working directory is deleted.

        Then ends the requests that still run, which Bazel has given up.
        """
        directory = protocol.WorkingDirectory()
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._wakeup, warn_on_full_buffer=False)
        unread = b""
        try:
            while not directory.is_deleted():
                ready, _, _ = select.select([self._requests.fileno(), self._ended], (), (), directory.INTERVAL)
                if self._ended in ready:
                    os.read(self._ended, _CHUNK)
                    self._answer_ended()
                if self._requests.fileno() in ready:
                    chunk = os.read(self._requests.fileno(), _CHUNK)
                    if not chunk:
                        break
                    *lines, unread = (unread + chunk).split(b"\n")
                    for line in lines:
                        if line.strip():
                            self._take(line.decode(errors="surrogateescape"))
        finally:
            for process in self._exports:
                _kill(process)
                os.waitpid(process, 0)

    def _take(self, line: str) -> None:
        try:
            request = protocol.read(line)
        except protocol.BadRequestError as error:
            protocol.respond(self._responses, error.id, 1, shown(f"export: {error}") + "\n")
            return
        written = self._written(request)
        for process, export in self._exports.items():
            if request.cancel and export.request.id == request.id:
                export.canceled = True
                _kill(process)
            elif not request.cancel and written & self._written(export.request):
                # After an interrupted build, Bazel may repeat a request. Only the process of the new request may write
                # the outputs.
                _kill(process)
        if not request.cancel:
            self._start(request)

    def _written(self, request: protocol.Request) -> set[tuple[str, str]]:
        return {(request.directory, argument) for argument in request.arguments if argument.startswith(self._outputs)}

    def _start(self, request: protocol.Request) -> None:
        base = Path(request.directory).absolute()
        self._tool.prepare(base / path for path in request.digests)
        self._folder.mkdir(exist_ok=True)  # A cleaner of temporary files can have deleted the folder.
        export = _Export(request, Path(tempfile.mkdtemp()), tempfile.TemporaryFile())  # noqa: SIM115  # Closed when the request is answered.
        for stream in (sys.stdout, sys.stderr):
            stream.flush()  # Otherwise, the forked process would print buffered output again.
        process = os.fork()
        if not process:
            self._work(export)
        self._exports[process] = export

    def _work(self, export: _Export) -> NoReturn:
        """Runs a request in its forked process, and always ends the process."""
        code = 1
        try:
            os.setsid()  # With its own group, the process can be ended together with the model's child processes.
            signal.set_wakeup_fd(-1)
            for number in (signal.SIGCHLD, signal.SIGTERM):
                signal.signal(number, signal.SIG_DFL)
            for descriptor in (1, 2):
                os.dup2(export.output.fileno(), descriptor)
            of_exports = (other.output.fileno() for other in self._exports.values())
            own = (self._requests.fileno(), self._responses.fileno(), self._ended, self._wakeup)
            for descriptor in (*own, *of_exports):
                os.close(descriptor)
            base = Path(export.request.directory).absolute()
            _link(export.request.digests, base, export.folder / "inputs")
            self._use_temporary_folder(export.folder / "tmp")
            os.chdir(export.folder / "inputs")
            code = self._tool.run([*self._flags(base), *export.request.arguments])
        except SystemExit as end:
            if isinstance(end.code, str):
                print(end.code, file=sys.stderr)
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        except BaseException:
            traceback.print_exc()
        finally:
            with contextlib.suppress(BaseException):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(code)

    def _use_temporary_folder(self, folder: Path) -> None:
        """Moves temporary files and caches of a request's process to a folder.

        PyTorch's import sets environment variables of caches to paths in the worker's folder.
        """
        folder.mkdir()
        tempfile.tempdir = str(folder)
        for name, value in os.environ.items():
            if Path(value).is_relative_to(self._folder):
                os.environ[name] = str(folder / Path(value).relative_to(self._folder))

    def _answer_ended(self) -> None:
        for process, export in list(self._exports.items()):
            if not os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                continue
            _kill(process)  # Ends child processes that the model left behind.
            status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
            export.output.seek(0)
            output = export.output.read().decode(errors="replace")
            if status < 0:
                if status == -signal.SIGKILL:
                    output += f"{system_limits.killed('export', 'the process')}\n"
                else:
                    output += f"export: the process was ended by signal {-status}\n"
                status = 128 - status
            del self._exports[process]
            export.output.close()
            shutil.rmtree(export.folder, ignore_errors=True)
            protocol.respond(self._responses, export.request.id, status, output, canceled=export.canceled)


def _link(inputs: Mapping[str, str], base: Path, folder: Path) -> None:
    """Makes a folder with links to all inputs, and to no other files."""
    folder.mkdir()
    for path in sorted(inputs):
        link = folder / path
        with contextlib.suppress(FileExistsError):  # The folder of an input may be an input itself.
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(base / path)


def _kill(process: int) -> None:
    """Ends a request's process and all of its child processes."""
    # Before os.setsid(), the process has no group of its own.
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(process, signal.SIGKILL)
