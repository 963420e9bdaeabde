"""Shortens error messages for a table."""

from __future__ import annotations

import re

from export.user.messages import text_of

_LONGEST = 160
_PATH = re.compile(r"(/[\w.+-]+)+/([\w.+-]+)")
_ADDRESS = re.compile(r"\b0x[0-9a-f]+\b| at 0x[0-9a-f]+", re.I)


def one_line(error: BaseException) -> str:
    """Returns the type of an exception and the first line of its text, without folders and addresses."""
    text = text_of(error).strip()
    return first_line(f"{type(error).__name__}: {text}" if text else type(error).__name__)


def first_line(text: str) -> str:
    """Returns the first line of a text, without folders and addresses, and shortened if necessary."""
    text = _ADDRESS.sub("", _PATH.sub(r"\2", text.strip().splitlines()[0])).replace("|", "/")
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
