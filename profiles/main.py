"""Profiles a program and writes a web page: time by operator, line of Python and node, and a timeline.

    bazel run //package:binary.profile -- --iterations=50

Flags that are not listed here go to the binary, whose --help describes them: inputs, samples, the method. With
--etdump=FILE nothing runs: the page shows an ETDump that the same program made elsewhere, as on a phone.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from absl import app, flags

from profiles import etdump, page, profile_data

_RUNNER = flags.DEFINE_string("runner", None, "The binary that profiles.", required=True)
_ORIGINS = flags.DEFINE_string("origins", None, "Where the program's instructions come from.")
_TITLE = flags.DEFINE_string("title", "profile", "What is profiled.")
_PAGE = flags.DEFINE_string("page", "profile.html", "Where to write the page.")
_ETDUMP = flags.DEFINE_string("etdump", None, "An ETDump to show; nothing runs then.")
_METHOD = flags.DEFINE_string("method", "forward", "The method.")

_ITERATIONS = "--iterations"


def main(argv: Sequence[str]) -> int:
    """Returns the exit status."""
    runner, origins = (Path(path).absolute() if path else None for path in (_RUNNER.value, _ORIGINS.value))
    # `bazel run` starts tools elsewhere.
    os.chdir(os.environ.get("BUILD_WORKING_DIRECTORY", "."))
    if _ETDUMP.value:
        content = _read(Path(_ETDUMP.value))
    else:
        with tempfile.TemporaryDirectory() as folder:
            recorded = Path(folder) / "profile.etdp"
            flags_given = [f"--method={_METHOD.value}", *argv[1:]]
            if not any(flag.partition("=")[0] == _ITERATIONS for flag in flags_given):
                flags_given.append(f"{_ITERATIONS}=10")
            finished = subprocess.run([str(runner), f"--profile={recorded}", *flags_given], check=False)
            if finished.returncode != 0 or not recorded.exists():
                return finished.returncode
            content = recorded.read_bytes()
    try:
        runs = etdump.read(content)
    except etdump.NotAnEtdumpError as error:
        return _fail(
            f"{_ETDUMP.value} is no ETDump: {error}",
            "it is another file, or was cut short.",
            "give what --profile=FILE of the binary wrote.",
        )
    if not runs:
        return _fail(
            f"{_ETDUMP.value} has no run of a method.",
            "the program that made it stopped before.",
            "profile a whole run.",
        )
    origin_of = profile_data.origins(origins.read_text(), _METHOD.value) if origins else {}
    written = Path(_PAGE.value)
    written.write_text(page.render(_TITLE.value, profile_data.summarize(runs, origin_of)))
    print(f"page {written.absolute()}")
    return 0


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        sys.exit(_fail(f"cannot read {path}: {error.strerror}.", "the path is wrong.", "give an ETDump with --etdump."))


def _fail(found: str, cause: str, fix: str) -> int:
    print(f"error: {found}\n  Likely cause: {cause}\n  Fix: {fix}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    app.run(main, flags_parser=lambda argv: flags.FLAGS(argv, known_only=True))
