"""The goldens: the full texts of the messages that tests assert, a file diagnostics/golden/<id>.txt for each kind.

A line `== <test>` begins each message. Messages of one test are in the order of the test.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from operator import itemgetter
from pathlib import Path

FOLDER = Path(__file__).parent
# The root of the repository, or of a test's copy.
ROOT = FOLDER.parents[1]
COMMAND = "tools/bazel run //diagnostics/golden:update"
# The environment variable with which a test writes goldens to its outputs in place of comparing them.
UPDATE = "UPDATE_GOLDENS"


def read(path: Path) -> list[tuple[str, str]]:
    """Each message of a golden, after the name of its test."""
    parts = re.split(r"^== (.*)\n", path.read_text(), flags=re.MULTILINE)[1:]
    return [(test, text.removesuffix("\n")) for test, text in zip(parts[::2], parts[1::2], strict=True)]


def document(messages: Iterable[tuple[str, str]]) -> str:
    """The text of a golden."""
    return "".join(f"== {test}\n{text}\n" for test, text in sorted(messages, key=itemgetter(0)))
