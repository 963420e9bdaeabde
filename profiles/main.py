"""Profiles a program and writes a web page: a timeline, and the time of nodes, by operator, module and line of Python.

    bazel run //package:binary.profile -- --iterations=50

Flags that are not listed here go to the binary, whose --help describes them: inputs, samples, the method. With several
numbers of threads, --threads=1,2, the program runs with each, and the page shows what each node gains. With
--etdump=FILE nothing runs: the page shows an ETDump that the same program made elsewhere, as on a phone. --trace=FILE
writes all runs as a trace, too, which ui.perfetto.dev opens.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from absl import app, flags

from profiles import calls, etdump, page, profile_data, trace

_RUNNER = flags.DEFINE_string("runner", None, "The binary that profiles.", required=True)
_BUILT_PROGRAM = flags.DEFINE_string("built_program", None, "The program that the binary runs by default.")
_ORIGINS = flags.DEFINE_string("origins", None, "Where the instructions of that program come from.")
_PROGRAM = flags.DEFINE_string("program", None, "Another program to run.")
_TITLE = flags.DEFINE_string("title", "profile", "What is profiled.")
_PAGE = flags.DEFINE_string("page", "profile.html", "Where to write the page.")
_TRACE = flags.DEFINE_string("trace", None, "Where to write a trace that Perfetto opens.")
_ETDUMP = flags.DEFINE_string("etdump", None, "An ETDump to show; nothing runs then.")
_METHOD = flags.DEFINE_string("method", "forward", "The method.")
_THREADS = flags.DEFINE_list("threads", None, "The numbers of threads to run with; the page compares with the first.")

_ITERATIONS = "--iterations"


def main(argv: Sequence[str]) -> int:
    """Returns the exit status."""
    runner, built, origins = (
        Path(path).absolute() if path else None for path in (_RUNNER.value, _BUILT_PROGRAM.value, _ORIGINS.value)
    )
    # `bazel run` starts tools elsewhere.
    os.chdir(os.environ.get("BUILD_WORKING_DIRECTORY", "."))
    # By the number of threads, if that is given.
    contents: dict[str | None, bytes] = {}
    if _ETDUMP.value:
        contents[None] = _read(Path(_ETDUMP.value), "give an ETDump with --etdump.")
    else:
        counts: list[str | None] = list(_THREADS.value) if _THREADS.value else [None]
        for threads in counts:
            with tempfile.TemporaryDirectory() as folder:
                recorded = Path(folder) / "profile.etdp"
                status = _record(str(runner), recorded, threads, argv[1:])
                if status != 0 or not recorded.exists():
                    return status
                contents[threads] = recorded.read_bytes()
    # What the export wrote is of the program of the build alone.
    origin_of = (
        profile_data.origins(origins.read_text("utf-8"), _METHOD.value) if origins and not _PROGRAM.value else {}
    )
    program = Path(_PROGRAM.value) if _PROGRAM.value else built
    try:
        call_of = calls.read(_read(program, "give a .pte file with --program."), _METHOD.value) if program else {}
    except calls.NotAProgramError as error:
        return _fail(f"{program} is no program: {error}", "it is another file, or is damaged.", "give a .pte file.")
    try:
        profiles = [
            profile_data.summarize(etdump.read(content), origin_of, call_of, int(threads) if threads else None)
            for threads, content in contents.items()
        ]
    except etdump.NotAnEtdumpError as error:
        return _fail(
            f"{_ETDUMP.value} is no ETDump: {error}",
            "it is another file, or was cut short.",
            "give what --profile=FILE of the binary wrote.",
        )
    known = [profile for profile in profiles if profile]
    if len(known) < len(profiles):
        return _fail(
            f"{_ETDUMP.value} has no run of a method.",
            "the program that made it stopped before.",
            "profile a whole run.",
        )
    _write(Path(_PAGE.value), [page.render(_TITLE.value, profile_data.Profile.joined(known))], "page")
    if _TRACE.value:
        *_, content = contents.values()
        events = trace.lines(_TITLE.value, _METHOD.value, etdump.read(content), origin_of, call_of)
        _write(Path(_TRACE.value), events, "trace")
    return 0


def _record(runner: str, recorded: Path, threads: str | None, arguments: Sequence[str]) -> int:
    """Runs the program, and writes an ETDump; the exit status."""
    command = [runner, f"--profile={recorded}", f"--method={_METHOD.value}", *arguments]
    if _PROGRAM.value:
        command.append(f"--program={_PROGRAM.value}")
    if threads is not None:
        command.append(f"--threads={threads}")
    if not any(argument.partition("=")[0] == _ITERATIONS for argument in arguments):
        command.append(f"{_ITERATIONS}=10")
    return subprocess.run(command, check=False).returncode


def _read(path: Path, fix: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        sys.exit(_fail(f"cannot read {path}: {error.strerror}.", "the path is wrong.", fix))


def _write(path: Path, texts: Iterable[str], what: str) -> None:
    try:
        with path.open("w", encoding="utf-8") as file:
            file.writelines(texts)
    except OSError as error:
        sys.exit(
            _fail(
                f"cannot write the {what} {path}: {error.strerror}.",
                "the folder does not exist, or nothing may be written there.",
                f"give another file with --{what}=FILE.",
            )
        )
    print(f"{what} {path.absolute()}")


def _fail(found: str, cause: str, fix: str) -> int:
    print(f"error: {found}\n  Likely cause: {cause}\n  Fix: {fix}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    app.run(main, flags_parser=lambda argv: flags.FLAGS(argv, known_only=True))
