"""Finds subjects of commits that are longer than git's tools show, which is 72 characters."""

from __future__ import annotations

import datetime
import pathlib
import subprocess
from collections.abc import Iterator

_LONGEST = 72
# Older commits are as they are. A date is known in a clone without the history, too.
_SINCE = datetime.datetime(2026, 11, 28, 18, tzinfo=datetime.timezone.utc)


def findings(log: str) -> Iterator[str]:
    """Yields a line for each long subject.

    Args:
        log: a line of each commit: the date of the author, the commit and the subject.
    """
    for line in log.splitlines():
        date, commit, subject = line.split(" ", 2)
        if datetime.datetime.fromisoformat(date) >= _SINCE and len(subject) > _LONGEST:
            yield f"{commit}: the subject has {len(subject)} characters, not at most {_LONGEST}: {subject}"


def check(tree: pathlib.Path) -> Iterator[str]:
    """Yields the findings of the commits of a tree. A tree without git has none."""
    log = subprocess.run(["git", "log", "--format=%aI %h %s"], cwd=tree, capture_output=True, text=True)
    yield from findings(log.stdout)
