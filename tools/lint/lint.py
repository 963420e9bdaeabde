"""Checks the source tree: buildifier, ruff, mypy, clang-format, codespell, and the lints of this folder.

--fix fixes what the tools can fix.
"""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence

import clang_format
from absl import app, flags

from tools.lint import (
    bazel_modules,
    bazel_versions,
    commit_subjects,
    intrinsics,
    kernel_sizes,
    kernel_words,
    slow_tests,
    unit_names,
)

_BUILDIFIER = flags.DEFINE_string("buildifier", None, "The buildifier binary.", required=True)
_GENERATED = flags.DEFINE_multi_string(
    "generated", [], "A module that the build writes, for mypy. May be given several times."
)
_FIX = flags.DEFINE_bool("fix", False, "Format, and mend what the tools can mend, instead of only checking.")

_STARLARK = (".bazel", ".bzl", "WORKSPACE")
_CPP = (".cpp", ".cu", ".h")
# These have their own import roots.
_OTHER_WORKSPACES = ("tests/downstream/app/", "tests/downstream/in_house/", "tests/downstream/monorepo/")
_BUCK_FILES = ("tools/from_buck/tests/forms/flags.bzl", "tools/from_buck/tests/forms/targets.bzl")


def _tracked(tree: pathlib.Path, endings: tuple[str, ...]) -> list[str]:
    """Returns the files with one of the endings that git tracks or does not ignore."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=tree,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split("\n")
    return sorted(f for f in listed if f.endswith(endings) and (tree / f).is_file())


def _commands(tree: pathlib.Path, fix: bool) -> dict[str, list[str]]:
    python = [sys.executable, "-m"]
    starlark = [file for file in _tracked(tree, _STARLARK) if file not in _BUCK_FILES]
    cpp, sources = _tracked(tree, _CPP), _tracked(tree, (".py",))
    buildifier = [str(pathlib.Path(_BUILDIFIER.value).resolve()), "-lint=fix" if fix else "-lint=warn"]
    # `-` selects the dictionaries in pyproject.toml.
    codespell = [*python, "codespell_lib", "--dictionary=-", "--dictionary=tools/lint/british.txt"]
    return {
        "buildifier": [*buildifier, "-mode=fix" if fix else "-mode=check", *starlark],
        "ruff check": [*python, "ruff", "check", *(["--fix"] if fix else []), *sources],
        "ruff format": [*python, "ruff", "format", *([] if fix else ["--check"]), *sources],
        "clang-format": [clang_format.get_executable("clang-format"), "-i" if fix else "--dry-run", "-Werror", *cpp],
        "mypy": [*python, "mypy", *(s for s in sources if not s.startswith(_OTHER_WORKSPACES))],
        # Corrections are by hand: codespell writes none where the configuration has expressions of its own for words.
        "codespell": [*codespell, *_tracked(tree, ("",))],
    }


def main(argv: Sequence[str]) -> None:
    if len(argv) > 1:
        raise app.UsageError(f"unknown argument: {argv[1]}")
    tree = os.environ.get("BUILD_WORKSPACE_DIRECTORY")
    if not tree:
        raise SystemExit("lint: not run by Bazel; run it with: tools/bazel run //tools/lint")
    failed = []
    with tempfile.TemporaryDirectory() as generated:
        for path in _GENERATED.value:
            module = pathlib.Path(generated, path)
            module.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, module)
        for name, command in _commands(pathlib.Path(tree), _FIX.value).items():
            environment = {**os.environ, "MYPYPATH": generated}
            result = subprocess.run(command, cwd=tree, stdin=subprocess.DEVNULL, env=environment)
            print(f"{name}: {'ok' if result.returncode == 0 else 'FAILED'}", flush=True)
            if result.returncode != 0:
                failed.append(name)
    root = pathlib.Path(tree)
    for name, findings in (
        ("intrinsics", intrinsics.check(root, _tracked(root, _CPP))),
        ("sizes of kernels", kernel_sizes.check(root, _tracked(root, _CPP))),
        ("words of kernels", kernel_words.check(root, _tracked(root, (*_CPP, ".md")))),
        ("unit names", unit_names.check(root, _tracked(root, _CPP))),
        ("bazel modules", bazel_modules.check(root, _tracked(root, bazel_modules.ENDINGS))),
        ("bazel versions", bazel_versions.check(root, _tracked(root, bazel_versions.ENDINGS))),
        ("commit subjects", commit_subjects.check(root)),
        ("slow tests", slow_tests.check(root)),
    ):
        found = list(findings)
        print("\n".join([*found, f"{name}: {'FAILED' if found else 'ok'}"]), flush=True)
        if found:
            failed.append(name)
    if failed:
        sys.exit(f"lint: {', '.join(failed)} found something; tools/bazel run //tools/lint -- --fix mends what it can")


if __name__ == "__main__":
    app.run(main)
