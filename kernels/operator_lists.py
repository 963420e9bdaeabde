"""Generates operators.bzl of the kernel libraries from their YAMLs and sources.

A YAML binds an operator to a function. The file that defines the function implements the operator. The targets of the
headers that the file includes are its dependencies.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import yaml

# The folders with an operators.bzl.
LIBRARIES = tuple(Path("kernels") / name for name in ("optimized", "portable", "quantized"))
LIST = "operators.bzl"
_BUILD = "BUILD.bazel"
_HEAD = "OPERATOR_FILES = {\n"
# All files of kernels may include headers of kernels/simd.
_INCLUDE = re.compile(r'^#include "(kernels/(?!simd/)[\w/]+\.h)"$', re.MULTILINE)
_TARGET = re.compile(r'^    name = "(\w+)",\n(?:    srcs = [^\]]*\],\n)?    hdrs = \[([^\]]*)\]', re.MULTILINE)


def libraries_of_headers(builds: Mapping[str, str]) -> dict[str, str]:
    """The libraries of rooms, `room:library` or `room`, by the paths of their headers.

    Args:
        builds: the texts of the BUILD files, by room.
    """
    return {
        f"kernels/{room}/{header}": room if name == room.rpartition("/")[2] else f"{room}:{name}"
        for room, build in builds.items()
        for name, headers in _TARGET.findall(build)
        for header in re.findall(r'"(\w+\.h)"', headers)
    }


def operators_of_functions(yamls: Iterable[str]) -> dict[str, list[str]]:
    """The operators in YAMLs, with their namespaces, by the name of the kernel's function without its namespace."""
    operators: dict[str, list[str]] = {}
    for entry in (entry for text in yamls for entry in yaml.safe_load(text)):
        name = entry["op"] if "op" in entry else entry["func"].partition("(")[0]
        for kernel in entry["kernels"]:
            function = kernel["kernel_name"].rpartition("::")[2]
            operators.setdefault(function, []).append(name if "::" in name else f"aten::{name}")
    return operators


def entries(sources: Mapping[str, str], yamls: Iterable[str], libraries: Mapping[str, str]) -> str:
    """The entries of a list, one in each line.

    Args:
        sources: the text of each file of kernels, by file name.
        yamls: the texts of the YAMLs that bind operators to kernels.
        libraries: the result of `libraries_of_headers`.

    Raises:
        ValueError: a file implements no operator, or an operator is implemented by no file or by several, or a file
            includes a header that no target has.
    """
    operators, lines, files = operators_of_functions(yamls), [], dict[str, str]()
    for file, text in sorted(sources.items()):
        functions = [function for function in operators if re.search(rf"^[^\s/].*\b{function}\(", text, re.MULTILINE)]
        if not functions:
            raise ValueError(f"{file}: no YAML names a function of the file as kernel_name; add the operator to one")
        for function in functions:
            if function in files:
                raise ValueError(f"{file}: {files[function]} defines {function}, too; rename one of the two")
            files[function] = file
        names = sorted(name for function in functions for name in operators[function])
        headers = _INCLUDE.findall(text)
        for header in headers:
            if header not in libraries:
                folder, _, name = header.rpartition("/")
                raise ValueError(
                    f"{file}: no target of {folder}/{_BUILD} has {name} in hdrs; add one, or fix the #include"
                )
        deps = sorted({libraries[header] for header in headers})
        lines.append(f'    "{file.removesuffix(".cpp")}": operator_file({_list(names)}, {_list(deps)}),\n')
    missing = [f"{', '.join(names)} ({function})" for function, names in operators.items() if function not in files]
    if missing:
        raise ValueError(f"no file defines the kernels of {'; '.join(missing)}; add op_<name>.cpp, or fix kernel_name")
    return "".join(lines)


def updated(root: Path, library: Path) -> str:
    """The text of a library's list with the current entries.

    Args:
        root: the repository's folder.
        library: one of `LIBRARIES`.

    Raises:
        ValueError: as `entries`.
    """
    folder = root / library
    head = (folder / LIST).read_text().partition(_HEAD)[0] + _HEAD
    sources = {path.name: path.read_text() for path in folder.glob("op_*.cpp")}
    yamls = [path.read_text() for path in sorted(folder.glob("*.yaml"))]
    kernels = root / "kernels"
    builds = {path.parent.relative_to(kernels).as_posix(): path.read_text() for path in kernels.rglob(f"*/{_BUILD}")}
    return head + entries(sources, yamls, libraries_of_headers(builds)) + "}\n"


def _list(names: list[str]) -> str:
    return "[" + ", ".join(f'"{name}"' for name in names) + "]"
