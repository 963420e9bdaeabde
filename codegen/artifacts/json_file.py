"""Reads JSON files that another command wrote, with one error for all malformed files."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from diagnostics.errors import InputError

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Format:
    """One kind of artifact.

    Attributes:
        suffix: the suffix of the file names.
        content: a description of the content, for messages.
        writer: the command or tool that writes the files.
    """

    suffix: str
    content: str
    writer: str


def read(path: str, format_: Format, parse: Callable[[Any], _T]) -> _T:
    """Reads an artifact.

    Args:
        path: the file.
        format_: the expected format.
        parse: makes the result from the file's JSON. A missing key, or a value of another type, may raise.

    Raises:
        InputError: the file is not an artifact of the format.
    """
    try:
        return parse(json.loads(Path(path).read_text()))
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise InputError.of(
            id="wrong-artifact",
            where=path,
            found=f"the file does not hold {format_.content}: {type(error).__name__}: {error}",
            cause="another file was given, or one that another version of the rules wrote",
            fix=f"give the *{format_.suffix} that {format_.writer} writes",
        ) from error
