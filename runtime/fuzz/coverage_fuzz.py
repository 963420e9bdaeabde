"""Fuzzes the runner's readers of programs, samples and --input with libFuzzer.

    tools/bazel run //runtime/fuzz:coverage_fuzz -- -max_total_time=600 [FOLDER]

Arguments are libFuzzer's. New inputs are kept in the folder, from which another run goes on; by default, in none. A
file that makes a reader fail is written to the current directory.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

_OPTIONS = (
    # Seconds for one input. The machine may run other work.
    "-timeout=10",
    # Each part of a program needs a few bytes only.
    "-max_len=16384",
    # With many changes at once, the check of a program finds one, and what is after the check does not run.
    "-mutate_depth=2",
    # A method may plan any number of bytes. A method that gets no memory is an error of the runner.
    "-malloc_limit_mb=2147483647",
)


def main() -> int:
    # Without flags of its own for the user: -help=1 shows those of libFuzzer.
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    for flag in ("--target", "--write_advisories", "--input_specs"):
        parser.add_argument(flag, type=Path, required=True)
    parser.add_argument("--seed", action="append", type=Path, required=True)
    arguments, given = parser.parse_known_args()
    options = [argument for argument in given if argument.startswith("-")]
    # Bazel starts programs in their runfiles.
    place = Path(os.environ.get("BUILD_WORKING_DIRECTORY", ""))
    folders = [str(place / argument) for argument in given if not argument.startswith("-")]
    with tempfile.TemporaryDirectory() as seeds, tempfile.TemporaryDirectory() as found:
        for number, program in enumerate(arguments.seed):
            for file in (program, program.with_suffix(".ptd")):
                shutil.copy(file, Path(seeds, f"{number}{file.suffix}"))
        subprocess.run([arguments.write_advisories.absolute(), arguments.seed[0], seeds], check=True)
        for number, spec in enumerate(arguments.input_specs.read_text().splitlines()):
            Path(seeds, f"{number}.txt").write_text(spec)
        command = [arguments.target.absolute(), *_OPTIONS, f"-artifact_prefix={place.absolute()}/", *options]
        return subprocess.run([*command, *(folders or [found]), seeds], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
