"""The files of a workspace with one model."""

from __future__ import annotations

import re

from tools.init.imports import Imports

LOCK = "requirements_lock.txt"
BAZEL_VERSION = "7.7.1\n"

BAZELRC = """\
# Optimized code: Bazel's default is for a fast compilation.
build --compilation_mode=opt
# Actions do not see the PATH of whoever builds, so that all share what was built.
common --incompatible_strict_action_env
# The Python environment is an input as one directory, of which Bazel warns otherwise.
startup --host_jvm_args=-DBAZEL_TRACK_SOURCE_DIRECTORIES=1
"""

_MODULE = """\
bazel_dep(name = "rules_cc", version = "0.0.17")
bazel_dep(name = "rules_executorch", version = "0.2.0")
bazel_dep(name = "rules_python", version = "1.2.0")
{override}
executorch = use_extension("@rules_executorch//rules:extensions.bzl", "executorch")
{lock}use_repo(executorch, "executorch_python")
"""
_OVERRIDE = """
local_path_override(
    module_name = "rules_executorch",
    path = "{path}",
)
"""
_LOCK = f'executorch.python(requirements = "//:{LOCK}")\n'


def module(rules: str, has_lock: bool) -> str:
    """Returns the text of MODULE.bazel, with the rules from a checkout at a path from the workspace, if any."""
    override = _OVERRIDE.format(path=rules) if rules else ""
    return _MODULE.format(lock=_LOCK if has_lock else "", override=override)


def _list(name: str, items: list[str]) -> str:
    if len(items) == 1:
        return f'    {name} = ["{items[0]}"],\n'
    return f"    {name} = [\n" + "".join(f'        "{item}",\n' for item in items) + "    ],\n"


def build(model: str, entry_point: str, imports: Imports) -> str:
    """Returns the text of BUILD.bazel for a model's file."""
    name = model.removesuffix(".py")
    deps = [f":{name}_files"] if imports.files else []
    # Packages that each export imports need no entry.
    for package in imports.packages:
        if package not in ("executorch", "torch"):
            deps.append(f"@executorch_python//:{re.sub(r'[-_.]+', '_', package).lower()}")
    text = 'load("@rules_executorch//rules:defs.bzl", "executorch_model")\n'
    if imports.files:
        text += 'load("@rules_python//python:defs.bzl", "py_library")\n\npy_library(\n'
        text += f'    name = "{name}_files",\n' + _list("srcs", list(imports.files)) + '    imports = ["."],\n'
        text += _list("deps", deps[1:]) + ")\n" if deps[1:] else ")\n"
    text += f'\nexecutorch_model(\n    name = "{name}",\n'
    if entry_point != "get_model":
        text += f'    entry_point = "{entry_point}",\n'
    return text + f'    model = "{model}",\n' + (_list("deps", deps) if deps else "") + ")\n"
