"""Builds with other compilers and other Pythons than the machine's, and writes the results to docs/workspace.md.

tools/bazel run //tools/toolchains                              # all rows, an hour or more
tools/bazel run //tools/toolchains -- --only=gcc-15,clang-14    # rows, by their names

Debian's packages of the compilers and the Pythons are fetched as Bazel repositories. Each row has an output base of its
own below the user's cache, which is deleted afterwards. Rows that do not run keep their results.
"""

from __future__ import annotations

import dataclasses
import datetime
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from absl import app, flags

from docs.tests import guide
from tools.bench import report

_ONLY = flags.DEFINE_list("only", [], "The rows to run, by name. Default: all that can run on a machine without a GPU.")

PAGE = "docs/workspace.md"
SECTION = "toolchains"
_NOT_RUN = "not run"
_HEADER = ["row", "version", "builds and tests", "result", "date"]

# As a user writes them to a .bazelrc, where they are for the kernels and the generated code of this module, too.
_STRICT = ("--copt=-Wall", "--copt=-Wextra", "--copt=-Werror", "--cxxopt=-std=c++20")
_LAYERS = "--features=layering_check"
_README = ("test", "//plain:classifier_test", "//operator:perceptron_test")
_PLAIN = ("test", "//plain:classifier_test")
_GIVEN = ("run", "//given:runner")
_QUICK = ("test", "//:quick")
# Tests of this repository that install no PyTorch.
_WITHOUT_PYTORCH = (
    "test",
    "//codegen/cpp/tests:template_test",
    "//codegen/model/tests:schema_test",
    "//diagnostics/tests:errors_test",
    "//tools/init:init_test",
    "//tools/lock:lock_test",
)


@dataclasses.dataclass(frozen=True)
class Row:
    """A row of the table.

    Attributes:
        name: str: the name in --only.
        command: str: the label of the compiler or of the interpreter. Empty: the machine's compiler.
        builds: str: what is built and tested, for the table.
        of_workspace: tuple[str, ...]: a command of Bazel and its targets, in a workspace as the README's. May be empty.
        of_repository: tuple[str, ...]: a command of Bazel and its targets, in this repository. May be empty.
        options: tuple[str, ...]: the options of both.
        why_not: str: why the row runs only if --only names it. Empty: the row runs.
    """

    name: str
    command: str
    builds: str
    of_workspace: tuple[str, ...] = ()
    of_repository: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    why_not: str = ""


def _compiler_rows(name: str, command: str, *options: str) -> list[Row]:
    flags_of_row = [option.partition("=")[2] for option in (*_STRICT, *options)]
    return [
        Row(
            name,
            command,
            f"the README's workspace, a custom operator: `{' '.join(flags_of_row)}`",
            of_workspace=_README,
            options=(*_STRICT, *options),
        ),
        Row(f"{name}-quick", command, "`//:quick` of this repository", of_repository=_QUICK),
    ]


def _python_rows(name: str, command: str) -> list[Row]:
    return [
        Row(
            name,
            command,
            "a binary from a given program, `tools/init`, `tools/lock`: no PyTorch",
            of_workspace=_GIVEN,
            of_repository=_WITHOUT_PYTORCH,
        ),
        Row(
            f"{name}-exports",
            command,
            "the README's workspace, a custom operator",
            of_workspace=_README,
            why_not="no CPU build of PyTorch for this Python",
        ),
    ]


ROWS = (
    *_compiler_rows("gcc-15", "@gcc_15//:bin/gcc"),
    *_compiler_rows("clang-14", "@clang_14//:bin/clang", _LAYERS),
    *_compiler_rows("clang-19", "@clang_19//:bin/clang", _LAYERS),
    Row(
        "address-sanitizer",
        "",
        "the README's workspace: `-fsanitize=address`",
        of_workspace=_PLAIN,
        options=("--copt=-fsanitize=address", "--linkopt=-fsanitize=address"),
    ),
    *_python_rows("python-3.13", "@python_3_13//:bin/python3"),
    *_python_rows("python-3.14", "@python_3_14//:bin/python3"),
)

_GIVEN_BUILD = """\
load(
    "@rules_executorch//rules:defs.bzl",
    "et_kernel_library",
    "et_operator_library",
    "executorch_binary",
    "executorch_generated_lib",
)

et_operator_library(
    name = "operators",
    models = ["model.pte"],
)

et_kernel_library(
    name = "squareplus_kernel",
    srcs = ["squareplus_kernel.cpp"],
)

executorch_generated_lib(
    name = "lib",
    custom_ops_yaml_target = "custom_ops.yaml",
    dtype_selective_build = True,
    kernel_deps = [
        ":squareplus_kernel",
        "@rules_executorch//kernels/portable:operators",
    ],
    deps = [":operators"],
)

executorch_binary(
    name = "runner",
    program = "model.pte",
    deps = [":lib"],
)
"""


class Bazel:
    """Bazel in a workspace.

    Args:
        repository: this repository.
        workspace: the folder of the workspace.
        *startup: startup options.
    """

    def __init__(self, repository: Path, workspace: Path, *startup: str) -> None:
        self._command = [str(repository / "tools/bazel"), *startup]
        self._workspace = workspace

    def runs(self, *arguments: str) -> bool:
        """Runs one command, which prints to the terminal; returns whether the command succeeded."""
        print(f"--- bazel {' '.join(arguments)}", flush=True)
        return subprocess.run([*self._command, *arguments], check=False, cwd=self._workspace).returncode == 0

    def prints(self, *arguments: str) -> str:
        """Returns what a command prints.

        Raises:
            subprocess.CalledProcessError: the command failed.
        """
        run = subprocess.run(
            [*self._command, *arguments], check=True, cwd=self._workspace, stdout=subprocess.PIPE, text=True
        )
        return run.stdout.strip()


def _code(page: Path, marker: str) -> str:
    (block,) = [block for block in guide.blocks(page.read_text()) if block.language and marker in block.text]
    return block.text


def write_workspace(repository: Path, to: Path, program: Path, tags: str) -> None:
    """Writes a workspace of a user.

    Args:
        repository: this repository.
        to: the workspace's folder, which does not exist yet.
        program: the quickstart's program.
        tags: lines of MODULE.bazel that name the packages. May be empty: packages come from the locks, by pip.
    """
    for folder in ("plain", "operator", "given"):
        (to / folder).mkdir(parents=True)
    (to / "MODULE.bazel").write_text(
        _code(repository / "README.md", "bazel_dep(")
        + f'local_path_override(module_name = "rules_executorch", path = "{repository}")\n'
        + tags
    )
    (to / "BUILD.bazel").touch()
    (to / "plain/BUILD.bazel").write_text(_code(repository / "README.md", 'name = "classifier"'))
    shutil.copy(repository / "examples/plain_model/model.py", to / "plain")
    page = repository / "docs/first_operator.md"
    (to / "operator/BUILD.bazel").write_text(_code(page, "custom_ops_yaml_target = "))
    for file in ("custom_ops.yaml", "model.py", "squareplus_kernel.cpp", "squareplus_op.py"):
        shutil.copy(repository / "examples/quickstart" / file, to / "operator")
    (to / "given/BUILD.bazel").write_text(_GIVEN_BUILD)
    for file in ("custom_ops.yaml", "squareplus_kernel.cpp"):
        shutil.copy(repository / "examples/quickstart" / file, to / "given")
    shutil.copy(program, to / "given/model.pte")


def version(command: Path | str) -> str:
    """Returns the version that a compiler or an interpreter prints."""
    printed = subprocess.run([str(command), "--version"], check=True, capture_output=True, text=True).stdout
    found = re.search(r"\d+\.\d+\.\d+", printed)
    if found is None:
        raise ValueError(f"{command} --version: expected a version such as 1.2.3; found {printed!r}")
    return found[0]


def kept(page: str) -> dict[str, list[str]]:
    """Returns the cells of the table's rows on a page, by row."""
    section = page.partition(f"<!-- {SECTION}: begin -->")[2].partition(f"<!-- {SECTION}: end -->")[0]
    rows = [line.strip("|").split(" | ") for line in section.splitlines() if line.startswith("| `")]
    return {cells[0].strip().strip("`"): [cell.strip() for cell in cells] for cells in rows}


def section(results: Mapping[str, Sequence[str]]) -> str:
    """Returns the section of the page.

    Args:
        results: by row, the cells of the row. Rows that are not there did not run.
    """
    lines = ["| " + " | ".join(_HEADER) + " |", "|---" * len(_HEADER) + "|"]
    for row in ROWS:
        version_of, result, date = ("", _NOT_RUN + (f": {row.why_not}" if row.why_not else ""), "")
        if row.name in results:
            _, version_of, _, result, date = results[row.name]
        lines.append(f"| `{row.name}` | {version_of} | {row.builds} | {result} | {date} |")
    return "`tools/bazel run //tools/toolchains` builds with other compilers and Pythons:\n\n" + "\n".join(lines)


class Runner:
    """Runs rows.

    Args:
        repository: this repository.
    """

    def __init__(self, repository: Path) -> None:
        self._repository = repository
        self._bazel = Bazel(repository, repository)

    def _tags(self, output_base: Path) -> str:
        """Lines of MODULE.bazel with the packages of this repository's build, which are installed once."""
        packages = (("runtime", ""), ("python", "/site-packages"), ("codegen_python", "/site-packages"))
        found = {name: next(output_base.glob(f"external/*[~+]executorch_{name}{folder}")) for name, folder in packages}
        return "".join(f'executorch.{name}(site_packages = "{folder}")\n' for name, folder in found.items())

    def run(self, row: Row) -> tuple[str, bool]:
        """Runs a row. Returns the version of the compiler or of the interpreter, and whether everything passed.

        Raises:
            subprocess.CalledProcessError: the row could not start, for example because a package could not be fetched.
        """
        output_base = Path(self._bazel.prints("info", "output_base"))
        is_python = "python" in row.command
        options = list(row.options)
        command: Path | str = "gcc"
        if row.command:
            command = output_base / self._bazel.prints("cquery", "--output=files", row.command)
            options.append(f"--repo_env={'EXECUTORCH_PYTHON' if is_python else 'CC'}={command}")
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rules_executorch"
        cache.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix="toolchains-", dir=cache))
        try:
            passed = True
            if row.of_workspace:
                # These targets fetch the packages that the workspace then uses.
                needed = ("//examples/quickstart:model.pte", "//codegen", "@executorch_runtime//:VERSION")
                self._bazel.prints("build", *needed)
                program = self._repository / "bazel-bin/examples/quickstart/model.pte"
                workspace = folder / "workspace"
                write_workspace(self._repository, workspace, program, "" if is_python else self._tags(output_base))
                passed = self._passes(row.of_workspace, workspace, folder / "of_workspace", options, is_module=True)
            if row.of_repository:
                base = folder / "of_repository"
                passed &= self._passes(row.of_repository, self._repository, base, options, is_module=False)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return version(command), passed

    def _passes(
        self, targets: Sequence[str], workspace: Path, base: Path, options: Sequence[str], is_module: bool
    ) -> bool:
        bazel = Bazel(self._repository, workspace, f"--output_base={base}")
        sets = f"--{'@rules_executorch' if is_module else ''}//rules:instruction_sets=baseline"
        # The folders bazel-bin and others of this repository stay those of its own builds.
        passed = bazel.runs(targets[0], "--symlink_prefix=/", sets, *options, *targets[1:])
        bazel.runs("clean", "--expunge")
        return passed


def chosen(names: Collection[str]) -> list[Row]:
    """Returns the rows to run.

    Args:
        names: the rows, by name. Empty: all that need nothing else.

    Raises:
        app.UsageError: there is no such row.
    """
    if unknown := sorted(set(names) - {row.name for row in ROWS}):
        raise app.UsageError(
            f"--only={','.join(unknown)}: no such row; the rows are {', '.join(row.name for row in ROWS)}"
        )
    return [row for row in ROWS if (row.name in names if names else not row.why_not)]


def main(argv: Sequence[str]) -> None:
    if len(argv) > 1:
        raise app.UsageError(f"unknown argument: {argv[1]}")
    repository = Path(os.environ["BUILD_WORKSPACE_DIRECTORY"])
    runner = Runner(repository)
    failed = []
    for row in chosen(_ONLY.value):
        try:
            found, passed = runner.run(row)
        except subprocess.CalledProcessError as error:
            print(f"{row.name}: {error}", file=sys.stderr)
            failed.append(row.name)
            continue
        if not passed:
            failed.append(row.name)
        page = repository / PAGE
        today = datetime.date.today().isoformat()
        cells = [row.name, found, row.builds, "passed" if passed else "FAILED", today]
        # Each row is written when it ends, so that a run that is stopped loses nothing.
        report.replace_section(page, SECTION, section(kept(page.read_text()) | {row.name: cells}))
    sys.exit("".join(f"failed: {name}\n" for name in failed) or 0)


if __name__ == "__main__":
    app.run(main)
