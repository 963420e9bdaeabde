"""The templates of generated C++ in the folder `templates`, filled and laid out.

A template that is named as an output file is the whole file; the other ones are parts.
"""

from __future__ import annotations

from pathlib import Path

from codegen.cpp import layout
from codegen.source_templates.source_templates import SourceTemplates

_TEMPLATES = SourceTemplates(Path(__file__).with_name("templates"))


def fill(name: str, /, **values: object) -> str:
    """The text of a template, in lines within the limit.

    Args:
        name: the template's name, without `.template`.
        values: the text for each placeholder; whole lines with their line ends.
    """
    return layout.fit(_TEMPLATES.fill(name, **values))
