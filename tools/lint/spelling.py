"""Finds British spellings where the tree has American ones: in prose, names and messages, in the names of files."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Iterable, Iterator

# Verbs in -ise, by what comes before the ending.
_ISE = (
    "apolog|author|canonical|capital|categor|character|custom|discret|emphas|equal|factor|final|general|global|initial|"
    "linear|local|material|maxim|memor|minim|modern|normal|optim|organ|parallel|parametr|penal|polar|priorit|"
    "quant|random|real|recogn|regular|serial|special|standard|stabil|summar|symbol|synchron|token|util|vector|visual"
)
# Words of other kinds.
_WORDS = (
    r"analys(?:e|ed|er|ing)\b",
    "arbour",
    "artefact",
    "behaviour",
    "(?<!was)cancell(?:ed|ing)",  # wasCancelled is a field of Bazel's worker protocol.
    r"\bcentre",
    "colour",
    r"\bdefence",
    "favour",
    r"\bgrey",
    "honour",
    "judgement",
    "labell(?:ed|ing)",
    r"\blearnt\b",
    "licence",
    r"\b(?:kilo|milli|centi)?(?:metre|litre)s?\b",
    "modell(?:ed|ing|er)",
    "neighbour",
    r"\bprogrammes?\b",
    r"\bspelt\b",
    "travell(?:ed|ing|er)",
    "whilst",
)
# A word ends before a capital letter, too.
_BRITISH = re.compile(rf"(?i:[a-z]+isations?|(?:{_ISE})is(?:e|ed|er|ers|es|ing))(?![a-z])|(?i:{'|'.join(_WORDS)})")

# Others' words: licenses, locks, names of PyTorch's.
_NOT_OURS = re.compile(r"(?:^|/)(?:LICENSE|package-lock\.json|[\w.-]*\.lock|[\w-]*requirements[\w.-]*\.txt)$")
_LIST = "tools/lint/spelling.py"


def british(text: str) -> list[str]:
    """The British spellings in a text, as they stand there."""
    return [match.group() for match in _BRITISH.finditer(text)]


def check(tree: pathlib.Path, files: Iterable[str]) -> Iterator[str]:
    """A line `place: word` for every British spelling in the files and in their names."""
    for file in files:
        if file.startswith(_LIST.removesuffix(".py")) or _NOT_OURS.search(file):
            continue
        yield from (f"{file}: {word}, in the file's name" for word in british(file))
        try:
            text = (tree / file).read_text()
        except UnicodeDecodeError:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            yield from (f"{file}:{number}: {word}" for word in british(line))
