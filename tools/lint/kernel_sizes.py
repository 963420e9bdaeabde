"""Finds files of kernels with more than 400 lines, and functions of kernels with more than 60. Tests have no limit."""

from __future__ import annotations

import pathlib
from collections.abc import Iterable, Iterator

LINES_OF_FILE = 400
LINES_OF_FUNCTION = 60


def functions(text: str) -> Iterator[tuple[int, int]]:
    """Yields the number of the first line, and the number of lines, of each function of a text.

    The text has the layout of clang-format: in a function, and in nothing else that ends with `}` alone, all lines
    but the first and the last are indented deeper. Functions in functions count as part of the outer one.
    """
    lines = text.splitlines()
    for last, line in enumerate(lines):
        if line not in ("}", "  }"):
            continue
        indent = line.index("}")
        first = last - 1
        while first >= 0 and (_is_deeper(lines[first], indent) or not lines[first] or lines[first].startswith("#")):
            first -= 1
        if first >= 0 and not _is_part_of_function(lines, first, indent):
            yield first + 1, last - first + 1


def _is_deeper(line: str, indent: int) -> bool:
    return line.startswith(" " * (indent + 1))


def _is_part_of_function(lines: list[str], first: int, indent: int) -> bool:
    """Whether a block that is indented by two spaces is of a function's body, and no method of a class."""
    if indent == 0:
        return False
    outer = first
    while outer >= 0 and (lines[outer].startswith((" ", "#")) or not lines[outer]):
        outer -= 1
    # The first line of the outer block, or of its declaration.
    return not lines[outer].startswith(("class ", "struct ", "union ")) if outer >= 0 else False


def check(tree: pathlib.Path, files: Iterable[str]) -> Iterator[str]:
    """Yields a line for each file and each function of kernels that is too long."""
    for file in files:
        if not file.startswith("kernels/") or "/tests/" in file or file.startswith("kernels/testing/"):
            continue
        text = (tree / file).read_text()
        size = len(text.splitlines())
        if size > LINES_OF_FILE:
            yield f"{file}: {size} lines, at most {LINES_OF_FILE}; move what belongs together to a file of its own"
        for line, count in functions(text):
            if count > LINES_OF_FUNCTION:
                yield f"{file}:{line}: a function of {count} lines, at most {LINES_OF_FUNCTION}; move a step out of it"
