"""Checks of presubmit.yml: the tasks that the registry's CI runs, and the test module."""

from __future__ import annotations

import itertools
import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import Any

from rules.private.repositories import versions
from tools.release import registry_rules
from tools.release.candidate import ARCHIVE, PRESUBMIT, Candidate, calls
from tools.release.problems import Problem

# The minor versions of Python 3 of the default ExecuTorch, which the tasks install.
_OLDEST_PYTHON, _NEWEST_PYTHON = versions.VERSIONS[versions.DEFAULT_EXECUTORCH]["pythons"]
_VARIABLE = re.compile(r"\$\{\{ *(\w+) *\}\}")


def _expanded(task: Mapping[str, Any], matrix: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """The `platform` and `bazel` of each job that a task and its matrix make."""
    values = {field: str(task.get(field, "")) for field in ("platform", "bazel")}
    names = sorted({name for value in values.values() for name in _VARIABLE.findall(value)} & matrix.keys())
    for combination in itertools.product(*(matrix[name] for name in names)):
        job = values
        for name, chosen in zip(names, combination, strict=True):
            variable = re.compile(rf"\$\{{\{{ *{name} *\}}\}}")
            job = {field: variable.sub(str(chosen), value) for field, value in job.items()}
        yield job


def _oldest_bazel(candidate: Candidate) -> int:
    """The major version of the oldest Bazel that the module allows; 0 if the module does not say."""
    bounds = [re.match(r">=(\d+)", str(bound)) for bound in candidate.module.get("bazel_compatibility", ())]
    return max((int(bound[1]) for bound in bounds if bound), default=0)


def _job(where: str, job: Mapping[str, str], oldest: int) -> Iterator[Problem]:
    platform, bazel = job["platform"], job["bazel"]
    if platform not in registry_rules.PLATFORMS:
        yield Problem(
            f"{where}: platform",
            f"{platform or 'nothing'!r} is no machine of the registry's CI",
            "the name is misspelt, or the matrix lacks the variable.",
            f"use one of {', '.join(registry_rules.PLATFORMS)}.",
        )
    python = registry_rules.PLATFORMS.get(platform)
    if python is not None and not _OLDEST_PYTHON <= python <= _NEWEST_PYTHON:
        yield Problem(
            f"{where}: platform",
            f"{platform} has Python 3.{python}, and these rules need 3.{_OLDEST_PYTHON} to 3.{_NEWEST_PYTHON}",
            "ExecuTorch has no wheel for this Python.",
            "leave the platform out.",
        )
    version = registry_rules.BAZEL_VERSION.fullmatch(bazel)
    if not version:
        yield Problem(
            f"{where}: bazel",
            f"{bazel or 'nothing'!r} is no version of Bazel",
            "each task needs a version, and the matrix may lack the variable.",
            "write a track such as 8.x, or a version such as 7.4.0.",
        )
    elif int(version["major"]) < oldest:
        yield Problem(
            f"{where}: bazel",
            f"{bazel} is older than bazel_compatibility of MODULE.bazel allows",
            "the oldest Bazel of the module was raised.",
            "leave the version out.",
        )


def _tasks(where: str, table: Mapping[str, Any], oldest: int) -> Iterator[Problem]:
    matrix = table.get("matrix", {})
    for name, task in table.get("tasks", {}).items():
        place = f"{where}: tasks: {name}"
        for field in sorted(task.keys() - registry_rules.TASK_FIELDS):
            yield Problem(
                f"{place}: {field}",
                "is no field of a task",
                "the name is misspelt.",
                f"use one of {', '.join(sorted(registry_rules.TASK_FIELDS))}.",
            )
        if not task.get("build_targets") and not task.get("test_targets"):
            yield Problem(
                place,
                "builds and tests nothing",
                "the targets were removed.",
                "add build_targets or test_targets, or remove the task.",
            )
        found: dict[str, Problem] = {}
        for job in _expanded(task, matrix):
            found |= {str(problem): problem for problem in _job(place, job, oldest)}
        yield from found.values()


def tasks(candidate: Candidate) -> Iterator[Problem]:
    """All tasks: known machines and versions of Bazel, and targets that the archive has."""
    table = candidate.presubmit
    test_module = table.get("bcr_test_module", {})
    oldest = _oldest_bazel(candidate)
    yield from _tasks(PRESUBMIT, table, oldest)
    yield from _tasks(f"{PRESUBMIT}: bcr_test_module", test_module, oldest)
    if not table.get("tasks") and not test_module.get("tasks"):
        yield Problem(
            f"{PRESUBMIT}: tasks",
            "is empty, and the registry asks for one task or more",
            "the tasks were removed.",
            "add a task.",
        )
    own = f"@{candidate.module.get('name')}//"
    for name, task in table.get("tasks", {}).items():
        for target in [*task.get("build_targets", ()), *task.get("test_targets", ())]:
            package = target.removeprefix(own).partition(":")[0]
            if not target.startswith(own) or posixpath.join(package, "BUILD.bazel") not in candidate.names:
                yield Problem(
                    f"{PRESUBMIT}: tasks: {name}: {target}",
                    f"is no target of {ARCHIVE}",
                    "the package was renamed, is not in //:distribution, or is of another module.",
                    f"name a target of the archive, as {own}<package>.",
                )


def test_module(candidate: Candidate) -> Iterator[Problem]:
    """The test module: a workspace in the archive that depends on the module around it."""
    where = f"{PRESUBMIT}: bcr_test_module: module_path"
    path = str(candidate.presubmit.get("bcr_test_module", {}).get("module_path", ""))
    text = candidate.texts.get(posixpath.join(path, "MODULE.bazel")) if path else None
    if text is None:
        yield Problem(
            where,
            f"{path or 'nothing'!r} is no folder of {ARCHIVE} with a MODULE.bazel",
            "the folder was renamed, or is not in //:distribution.",
            "name a folder of the archive that is a workspace.",
        )
        return
    name, version = candidate.module.get("name"), candidate.module.get("version")
    dependencies = [arguments for function, arguments in calls(text) if function == "bazel_dep"]
    used = [arguments.get("version") for arguments in dependencies if arguments.get("name") == name]
    if used != [version]:
        yield Problem(
            f"{path}/MODULE.bazel",
            f"depends on {name} {used[0] if used else '(not at all)'}, not on {version}",
            "the file was not edited for the release.",
            f'write bazel_dep(name = "{name}", version = "{version}").',
        )
    overrides = [
        arguments.get("path")
        for function, arguments in calls(text)
        if function == "local_path_override" and arguments.get("module_name") == name
    ]
    if [posixpath.normpath(posixpath.join(path, str(override))) for override in overrides] != ["."]:
        yield Problem(
            f"{path}/MODULE.bazel",
            f"has {f'the local_path_override {overrides[0]}' if overrides else 'no local_path_override'} for {name}, "
            "which is not the top of the archive",
            "the folder was moved.",
            f'write local_path_override(module_name = "{name}", path = "{posixpath.relpath(".", path)}").',
        )
