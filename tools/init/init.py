"""Makes a workspace in the folder of a model: MODULE.bazel, BUILD.bazel, .bazelversion, .bazelrc and a lock.

    path/to/rules_executorch/tools/bazel run @rules_executorch//tools/init -- model.py

The lock has the packages that the model's file imports, and their dependencies. Existing files stay, and the command
prints the content that they would have. The last line of the output is the next command.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from absl import app, flags

from rules.private.repositories import indexes
from tools.init import imports, workspace
from tools.lock import lock, request

_ENTRY_POINT = flags.DEFINE_string("entry_point", "get_model", "The function that returns the module and its inputs.")

_EXPORT_LOCK = Path(__file__).parents[2] / "requirements/export.txt"
_NO_ENTRY_POINT = """\
{model}: error: the file defines no {entry_point}()
  Likely cause: the function has another name
  Fix: define {entry_point}(), which returns the module and its example inputs; or give another name to --entry_point"""


def _checkout() -> Path | None:
    """Returns the checkout of these rules in which the command was started; None if it is no checkout."""
    root = os.environ.get("BUILD_WORKSPACE_DIRECTORY")
    if not root or 'name = "rules_executorch"' not in _module_line(Path(root, "MODULE.bazel")):
        return None
    return Path(root)


def _module_line(file: Path) -> str:
    found = re.search(r"^module\((.*?)\)", file.read_text(), re.DOTALL | re.MULTILINE) if file.exists() else None
    return found[0] if found else ""


def _to_lock(packages: tuple[str, ...]) -> list[str]:
    """Returns the packages that the lock of these rules lacks."""
    known = {line.partition("==")[0] for line in _EXPORT_LOCK.read_text().splitlines() if "==" in line}
    return [package for package in packages if re.sub(r"[-_.]+", "-", package).lower() not in known]


def _relative(rules: Path, folder: Path) -> str:
    """Returns the path of a checkout from a folder: both may move together, or be one repository."""
    return os.path.relpath(rules.resolve(), folder.resolve())


def make(model: Path, rules: Path | None, entry_point: str) -> lock.Report:
    """Writes the files. Returns what to print.

    Args:
        model: the model's file.
        rules: a checkout of these rules; None if Bazel finds the rules without a path.
        entry_point: the function of the model's file that returns the module and its inputs.

    Raises:
        imports.ModelError: the file is not a model file.
        request.LockError: the packages cannot be locked.
        OSError: a file cannot be written.
    """
    found = imports.of(model)
    if model.suffix != ".py" or not imports.defines(imports.parse(model), entry_point):
        raise imports.ModelError(_NO_ENTRY_POINT.format(entry_point=entry_point, model=model.name))
    folder = model.parent
    packages = _to_lock(found.packages)
    locked = lock.Report(())
    if packages:
        file = folder / workspace.LOCK
        locked = lock.write(file, request.of(file).with_changes(packages=packages), indexes.of_machine())
    lines = list(locked.lines)
    for name, text in {
        "MODULE.bazel": workspace.module(_relative(rules, folder) if rules else "", bool(packages)),
        "BUILD.bazel": workspace.build(model.name, entry_point, found),
        ".bazelversion": workspace.BAZEL_VERSION,
        ".bazelrc": workspace.BAZELRC,
    }.items():
        file = folder / name
        if not file.exists():
            file.write_text(text)
            lines.append(f"{file}: written")
        elif file.read_text() != text:
            indented = re.sub(r"(?m)^(?=.)", "    ", text.rstrip())
            lines.append(f"{file}: exists, and is unchanged; the new content would be\n{indented}")
    return lock.Report(tuple(lines), locked.problem)


def main(argv: Sequence[str]) -> None:
    if len(argv) != 2:
        raise app.UsageError(f"expected one argument, the Python file of a model; got {len(argv) - 1}")
    # tools/bazel sets the first variable outside of a workspace, where Bazel itself does not run.
    start = os.environ.get("EXECUTORCH_START_DIRECTORY") or os.environ.get("BUILD_WORKING_DIRECTORY", ".")
    model = Path(start, argv[1]).absolute()
    rules = _checkout()
    try:
        report = make(model, rules, _ENTRY_POINT.value)
    except imports.ModelError as error:
        sys.exit(str(error))
    except (request.LockError, OSError) as error:
        sys.exit(f"{argv[1]}: error: {error}")
    if report.problem:
        sys.exit("\n".join([*report.lines, f"{workspace.LOCK}: {report.problem}"]))
    bazel = f"{_relative(rules, model.parent)}/tools/bazel" if rules else "bazel"
    print("\n".join([*report.lines, f"Next: {bazel} run :{model.stem} -- --check"]))


if __name__ == "__main__":
    app.run(main)
