"""Updates docs/benchmarks.md: runs the command that each section shows, which writes the section.

tools/bazel run //tools/bench:page                      # hours, on a machine that has nothing else to do
tools/bazel run //tools/bench:page -- --only=dtypes     # sections, by the names in the page's comments
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from absl import app, flags

_ONLY = flags.DEFINE_list("only", [], "The sections to make, by name. Default: all.")

PAGE = "docs/benchmarks.md"
_SECTION = re.compile(r"<!-- (?P<name>\w+): begin -->\n(?P<text>.*?)<!-- (?P=name): end -->\n", re.DOTALL)
_COMMAND = re.compile(r"(?:`|^    )(tools/bazel run [^`\n]+)", re.MULTILINE)


def outside(page: str) -> str:
    """Returns the text of a page outside of its sections."""
    return _SECTION.sub("", page)


def commands(page: str) -> dict[str, str]:
    """Returns the first command in each section of a page, by the section's name. The command writes the section.

    Raises:
        ValueError: a section has no command.
    """
    found = {}
    for section in _SECTION.finditer(page):
        command = _COMMAND.search(section["text"])
        if command is None:
            raise ValueError(f"the section {section['name']} shows no command that makes it")
        found[section["name"]] = command[1].strip()
    return found


def run(commands_of: Mapping[str, str], workspace: Path) -> list[str]:
    """Runs each command once. Returns the failed commands."""
    once = dict.fromkeys(commands_of.values())
    return [command for command in once if subprocess.run(shlex.split(command), check=False, cwd=workspace).returncode]


def main(argv: Sequence[str]) -> None:
    if len(argv) > 1:
        raise app.UsageError(f"unknown argument: {argv[1]}")
    workspace = Path(os.environ["BUILD_WORKSPACE_DIRECTORY"])
    found = commands((workspace / PAGE).read_text())
    if unknown := sorted(set(_ONLY.value) - found.keys()):
        raise app.UsageError(f"--only={','.join(unknown)}: {PAGE} has the sections {', '.join(found)}")
    failed = run({name: found[name] for name in _ONLY.value or found}, workspace)
    sys.exit("".join(f"failed: {command}\n" for command in failed) or 0)


if __name__ == "__main__":
    app.run(main)
