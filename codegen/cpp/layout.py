"""The layout of generated C++: no line has more columns than the limit, unless the line cannot be broken.

A long comment continues in the next line. In any other long line, each argument in the last parentheses has its own
line. If a return type leaves no room for the function's name, the return type has its own line. .clang-format in this
folder describes the same layout, so clang-format does not change generated code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

COLUMNS = 120
_INDENT = 4 * " "
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|->|[(){}<>,]')


def fit(text: str) -> str:
    """Breaks lines of C++ at the limit, and escapes invisible and bidirectional characters.

    In a string literal, an escaped character is the same character, and the reader sees the code that is compiled.
    """
    if not text.isascii():
        text = "".join(c if c == "\n" or c.isprintable() else f"\\U{ord(c):08x}" for c in text)
    lines = text.split("\n")
    if max(map(len, lines)) <= COLUMNS:
        return text
    fitting: list[str] = []
    for line in lines:
        if len(line) <= COLUMNS:
            fitting.append(line)
        else:
            fitting += _broken(line)
    return "\n".join(fitting)


def quoted(text: str) -> str:
    """Returns a C++ string literal."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    escaped = re.sub(r"\?(?=\?)", '?""', escaped)  # Two question marks begin a trigraph.
    escaped = re.sub(r"[\x00-\x1f\x7f]", lambda match: f"\\{ord(match[0]):03o}", escaped)
    return f'"{escaped}"'


def _broken(line: str) -> Iterator[str]:
    if len(line) <= COLUMNS:
        yield line
        return
    if line.startswith("//"):
        yield from _broken_comment(line)
        return
    parentheses = _last_parentheses(line)
    if parentheses is None:
        yield line
        return
    start, *commas = parentheses
    indent = line[: len(line) - len(line.lstrip())]
    return_type, space, _ = line[:start].rpartition(" ")
    if start >= COLUMNS and return_type.strip():
        yield return_type
        yield from _broken((indent and indent + _INDENT) + line[len(return_type + space) :])
        return
    yield line[: start + 1]
    indent += _INDENT
    for previous, comma in zip([start, *commas], commas, strict=False):
        yield from _broken(indent + line[previous + 1 : comma + 1].lstrip())
    yield from _broken(indent + line[[start, *commas][-1] + 1 :].lstrip())


def _broken_comment(line: str) -> Iterator[str]:
    current = ""
    for word in line.split():
        # A comment that ends in a backslash, or in its trigraph, would continue in the next line.
        is_breakable = current not in ("", "//") and not current.endswith(("\\", "??/"))
        if is_breakable and len(current) + 1 + len(word) > COLUMNS:
            yield current
            current = "//"
        current += f" {word}" if current else word
    yield current


def _last_parentheses(line: str) -> list[int] | None:
    """Returns the columns of the last `(` with arguments in a line and of its commas; None without arguments."""
    last = None
    columns: list[int] = []
    depth = 0
    for token in _TOKEN.finditer(line):
        if token[0] in "({<":
            if depth == 0:
                columns = [token.start()]
            depth += 1
        elif token[0] in ")}>" and depth > 0:
            depth -= 1
            if depth == 0 and token[0] == ")" and token.start() > columns[0] + 1:
                last = columns
        elif token[0] == "," and depth == 1:
            columns.append(token.start())
    return last
