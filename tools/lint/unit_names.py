"""Finds names in anonymous namespaces of kernels that a unity build can mix up.

A translation unit of several sources has one anonymous namespace. A name of one source can then be another source's
overload, or can hide a name of a header from another source, and the code still compiles.
"""

from __future__ import annotations

import collections
import pathlib
import re
from collections.abc import Iterable, Iterator

# The operators' files of these folders are compiled together, the sources of other folders of kernels/ by folder.
_OPERATORS = ("kernels/optimized", "kernels/portable", "kernels/quantized")
# Folders whose sources no unity build compiles.
_SEPARATE = ("kernels/fixed", "kernels/testing", "kernels/tests")
_ANONYMOUS = re.compile(r"^namespace \{\n(.*?)^\}  // namespace$", re.DOTALL | re.MULTILINE)
# Declarations begin at the beginning of a line: clang-format does not indent what is in namespaces.
_DECLARATION = re.compile(
    r"""
    ^(?=\w) (?: (?:struct|class|union|enum(?:\ class)?) \s (?P<type>\w+)
       | (?:template\ <.*>\ )? using \s (?P<alias>\w+) \s =
       | (?:(?:static|inline|constexpr|const) \s)+ [\w:<>*&\ ,]+? \s (?P<constant>\w+) (?:\[\w*\])? (?:\ =|\{|;)
       | (?!static_assert) [\w:<>*&,\[\]\ ]* \b(?<!::)(?P<function>\w+) \( )
    """,
    re.VERBOSE | re.MULTILINE,
)


def declared(text: str) -> set[str]:
    """Returns the names of the types, aliases, constants and functions that lines of a text declare in a namespace."""
    return {match[match.lastgroup] for match in _DECLARATION.finditer(text) if match.lastgroup}


def anonymous(text: str) -> set[str]:
    """Returns the names in the anonymous namespaces of a source."""
    return declared("".join(_ANONYMOUS.findall(text)))


def check(tree: pathlib.Path, files: Iterable[str]) -> Iterator[str]:
    """Yields a line for each name that two sources of a unit have, or an operator's file and a header of kernels."""
    units: dict[str, list[str]] = collections.defaultdict(list)
    headers: dict[str, str] = {}
    for file in files:
        folder, _, name = file.rpartition("/")
        if not folder.startswith("kernels/") or folder.startswith(_SEPARATE):
            continue
        if folder.rpartition("/")[2] == "tests":
            continue
        if name.endswith(".h"):
            headers |= dict.fromkeys(declared((tree / file).read_text()), file)
        elif name.endswith(".cpp"):
            units["operators" if folder in _OPERATORS else folder].append(file)
    for unit, sources in units.items():
        seen: dict[str, str] = headers.copy() if unit == "operators" else {}
        for file in sorted(sources):
            for name in sorted(anonymous((tree / file).read_text())):
                if name in seen:
                    yield f"{file}: {name} is in {seen[name]}, too, which a unity build may compile together; rename it"
                seen[name] = file
