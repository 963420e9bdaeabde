"""Fills the templates of generated C++ in the folder `templates`, and breaks long lines.

A template with the name of an output file is the whole file. All other templates are parts of files.
"""

from __future__ import annotations

from pathlib import Path

from codegen.cpp import layout
from codegen.source_templates.source_templates import SourceTemplates

_TEMPLATES = SourceTemplates(Path(__file__).with_name("templates"))


def fill(name: str, /, **values: object) -> str:
    """Returns the text of a template, with lines within the limit.

    Args:
        name: the template's name, without `.template`.
        values: the text for each placeholder. Whole lines include the line ends.
    """
    return layout.fit(_TEMPLATES.fill(name, **values))
