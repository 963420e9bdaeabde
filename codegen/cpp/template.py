"""The templates of generated C++, in the folder `templates`.

A template is C++ with `$placeholders`, of which C++ has none. A template that is named as an output file is the whole
file; the other ones are parts. A placeholder alone in its line stands for any number of whole lines.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path
from string import Template

from codegen.cpp import layout

_FOLDER = Path(__file__).with_name("templates")
_WHOLE_LINES = re.compile(r"^\$(\w+)\n", re.MULTILINE)


def fill(name: str, /, **values: object) -> str:
    """The text of a template.

    Args:
        name: the template's name, without `.template`.
        values: the text for each placeholder; whole lines with their line ends.
    """
    return layout.fit(_read(name) % values)


class _Fields(dict[str, str]):
    """The field of a format string for each placeholder."""

    def __missing__(self, placeholder: str) -> str:
        return f"%({placeholder})s"


@functools.cache
def _read(name: str) -> str:
    """A template as a format string, which is filled in a quarter of the time."""
    text = (_FOLDER / f"{name}.template").read_text()
    return Template(_WHOLE_LINES.sub(r"${\1}", text).replace("%", "%%")).substitute(_Fields())
