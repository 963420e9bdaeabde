"""Writes compile_commands.json for clangd and other tools that read C++, with generated code.

    tools/bazel run //tools/compile_commands                                # of all targets
    tools/bazel run //tools/compile_commands -- //kernels/portable/...      # of some targets and their dependencies
    bazel run @rules_executorch//tools/compile_commands                     # in a workspace of yours

Builds the inputs of the compilers, and compiles only the programs that generate code. Targets that do not build are
left out.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from absl import app, flags

_BAZEL = flags.DEFINE_string(
    "bazel",
    None,
    "The Bazel to run. Default: tools/bazel of the workspace, bazelisk or bazel on the PATH, tools/bazel of the rules.",
)

_ASPECT = "@rules_executorch//tools/compile_commands:aspect.bzl%compile_commands_aspect"
_GROUPS = "compile_commands,compile_inputs"
_SOURCE = re.compile(r".*\.(c|cc|cpp|cxx|c\+\+)")
# Flags that only GCC knows and that are errors for clang; and flags with their arguments that a reader does not need.
_OF_GCC = ("-fno-canonical-system-headers",)
_DEPENDENCIES = {"-MF": 2, "-MD": 1, "-MMD": 1}
# GCC ignores names of warnings that only clang knows. This flag makes clang ignore names that only GCC knows.
_UNKNOWN_WARNINGS = "-Wno-unknown-warning-option"
_NO_BAZEL = """\
compile_commands: found no Bazel to run: neither {workspace}/tools/bazel, nor bazelisk or bazel on the PATH
  Likely cause: Bazel was started by its path
  Fix: name Bazel: -- --bazel=/path/to/bazel"""
_PATH = re.compile(r"(?P<flag>-I|-L|-isystem|-iquote|-idirafter)?(?P<path>(external|bazel-out)/.*)")


def entries(commands: Iterable[Mapping[str, Any]], workspace: Path, execution_root: Path) -> Iterator[dict[str, Any]]:
    """Yields the entries of the database, one for each source. Paths outside of the workspace become absolute."""
    seen: set[str] = set()
    for command in commands:
        arguments = [_absolute(argument, execution_root) for argument in _for_readers(command["arguments"])]
        sources = [argument for argument in arguments if _SOURCE.fullmatch(argument)]
        if len(sources) == 1 and sources[0] not in seen:
            seen.add(sources[0])
            yield {"directory": str(workspace), "file": sources[0], "arguments": arguments}


def _for_readers(arguments: Sequence[str]) -> Iterator[str]:
    rest = iter(arguments)
    for argument in rest:
        for _ in range(_DEPENDENCIES.get(argument, 0) - 1):
            next(rest)
        if argument not in _DEPENDENCIES and argument not in _OF_GCC:
            yield argument
    yield _UNKNOWN_WARNINGS


def _absolute(argument: str, execution_root: Path) -> str:
    match = _PATH.fullmatch(argument)
    return f"{match['flag'] or ''}{execution_root / match['path']}" if match else argument


def _files(events: Path) -> Iterator[Path]:
    """Yields the command files of a build, from the build events."""
    sets: dict[str, Mapping[str, Any]] = {}
    groups: list[Mapping[str, Any]] = []
    for line in events.read_text().splitlines():
        event = json.loads(line)
        if "namedSet" in event["id"]:
            sets[event["id"]["namedSet"]["id"]] = event["namedSetOfFiles"]
        groups += event.get("completed", {}).get("outputGroup", [])
    rest = [s["id"] for group in groups if group["name"] == "compile_commands" for s in group.get("fileSets", [])]
    seen: set[str] = set()
    while rest:
        name = rest.pop(0)
        if name not in seen:
            seen.add(name)
            rest += [inner["id"] for inner in sets[name].get("fileSets", [])]
            for file in sets[name].get("files", []):
                yield Path(*file["pathPrefix"], file["name"])


def find_bazel(workspace: Path, rules: Path) -> str | None:
    """Returns the path of a Bazel; None if there is none.

    Args:
        workspace: the workspace.
        rules: the root of these rules. A checkout has tools/bazel, an archive of a release has not.
    """
    own, of_rules = workspace / "tools/bazel", rules / "tools/bazel"
    on_path = shutil.which("bazelisk") or shutil.which("bazel")
    found = str(own) if own.is_file() else on_path
    return found or (str(of_rules) if of_rules.is_file() else None)


def main(argv: Sequence[str]) -> None:
    workspace = Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", ""))
    if not workspace.name:
        sys.exit("compile_commands: not run by Bazel; run it with: tools/bazel run //tools/compile_commands")
    bazel = _BAZEL.value or find_bazel(workspace, Path(__file__).resolve().parents[2])
    if not bazel:
        sys.exit(_NO_BAZEL.format(workspace=workspace))
    with tempfile.TemporaryDirectory() as directory:
        events = Path(directory) / "events.json"
        command = ["build", "--keep_going", f"--aspects={_ASPECT}", f"--output_groups={_GROUPS}"]
        command += [f"--build_event_json_file={events}", "--", *(argv[1:] or ["//..."])]
        result = subprocess.run([bazel, *command], cwd=workspace)
        root = subprocess.run(
            [bazel, "info", "execution_root"], cwd=workspace, check=True, capture_output=True, text=True
        )
        execution_root = Path(root.stdout.strip())
        commands = [c for file in _files(events) for c in json.loads((execution_root / file).read_text())]
    database = list(entries(commands, workspace, execution_root))
    if not database:
        sys.exit("compile_commands: no target compiles C++, or none builds; see above")
    (workspace / "compile_commands.json").write_text(json.dumps(database, indent=1) + "\n")
    print(f"compile_commands.json: {len(database):,} files")
    if result.returncode != 0:
        sys.exit("compile_commands: some targets do not build, and may be missing; see above")


if __name__ == "__main__":
    app.run(main)
