"""Finds words in kernels that have another meaning there, or that stood for several things.

docs/glossary.md and kernels/gemm/README.md define the words to use.
"""

from __future__ import annotations

import pathlib
import re
from collections.abc import Iterable, Iterator

_BYTES = ("kernels/gemm/integer", "kernels/simd/")

# Each row: the folders or files, what is found, the word to use.
_ROWS: tuple[tuple[tuple[str, ...], re.Pattern[str], str], ...] = (
    (
        ("kernels/gemm/", "kernels/simd/"),
        re.compile(r"(?i)\w*halves(?:_\w+)?\b"),
        "nibbles (4 bits) or shorts (16 bits)",
    ),
    (_BYTES, re.compile(r"(?i)\b(?!filegroup)\w*group\w*"), "quad (four bytes)"),
    (
        ("kernels/convolution/packed/",),
        re.compile(r"(?<!in )\b(?!\w*in_place)(?:\w+_)?places?(?:_\w+)?\b"),
        "tap (of a convolution's kernel)",
    ),
    (("kernels/",), re.compile(r"\b\w*(?:TableLine|table_line|_on_line|OnLine)\w*\b"), "affine (function)"),
)


def words(file: str, text: str) -> Iterator[tuple[int, str, str]]:
    """Yields the line number, the word and the word to use, for each word that a file must not have."""
    for folders, pattern, use in _ROWS:
        if file.startswith(folders):
            for number, line in enumerate(text.splitlines(), 1):
                for match in pattern.finditer(line):
                    yield number, match.group(), use


def check(tree: pathlib.Path, files: Iterable[str]) -> Iterator[str]:
    """Yields a line `place: word` for each such word in kernels, without those in tests."""
    for file in files:
        if file.startswith("kernels/") and "/tests/" not in file:
            for number, word, use in words(file, (tree / file).read_text()):
                yield f"{file}:{number}: {word}: use {use} (docs/glossary.md)"
