"""Joins C++ sources, also those in directories, to one file: join_sources --root=DIRECTORY --output=FILE SOURCE...

An #include relative to the source's directory becomes relative to the root.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from absl import app, flags

_ROOT = flags.DEFINE_string("root", None, "Directory that the compiler finds headers in.", required=True)
_OUTPUT = flags.DEFINE_string("output", None, "File to write.", required=True)

_INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)


def _sources(paths: Sequence[str]) -> Iterator[Path]:
    for path in map(Path, paths):
        yield from path.rglob("*.cpp") if path.is_dir() else [path]


def _text(source: Path) -> str:
    def below_root(include: re.Match[str]) -> str:
        header = source.parent / include[1]
        return f'#include "{os.path.relpath(header, _ROOT.value)}"' if header.exists() else include[0]

    return _INCLUDE.sub(below_root, source.read_text())


def _main(arguments: Sequence[str]) -> None:
    sources = sorted(source for source in _sources(arguments[1:]) if source.suffix == ".cpp")
    Path(_OUTPUT.value).write_text("".join(map(_text, sources)))


if __name__ == "__main__":
    app.run(_main)
