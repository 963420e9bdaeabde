"""The templates of generated sources, in the folder `templates`: C++ with `$placeholders`, of which C++ has none."""

from __future__ import annotations

import re
from pathlib import Path
from string import Template

_FOLDER = Path(__file__).with_name("templates")
# A placeholder alone in its line stands for any number of whole lines.
_WHOLE_LINES = re.compile(r"^\$(\w+)\n", re.MULTILINE)


def fill(name: str, /, **values: str) -> str:
    """The text of a template.

    Args:
        name: the template's name, without `.template`.
        values: the text for each placeholder; whole lines with their line ends.
    """
    return Template(_WHOLE_LINES.sub(r"${\1}", (_FOLDER / f"{name}.template").read_text())).substitute(values)
