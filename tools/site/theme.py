"""A Sphinx extension: copy buttons, folded sections in the sidebar, and a search for names.

Names are words with punctuation: error ids, flags, labels, operators. Sphinx's own index has only the words of names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

STATIC = Path(__file__).parent / "static"

_NAME = re.compile(r"-*[\w@/][\w@/:.+-]*[\w]")
_IS_NAME = re.compile(r"^-|[a-z][-_:./]+\w|\w[-_:./]+[a-z]", re.IGNORECASE)
# The scores of a name by its place: a heading that is the name; the beginning of a list item or a table row; elsewhere.
_HEADING, _DEFINED, _USED = 3, 2, 1

# By anchor: the title of a section, and the best score of each name in the section.
Sections = dict[str, tuple[str, dict[str, int]]]


def names_in(text: str) -> list[str]:
    """Returns the names in a text, in the form of search.js: without dashes, repository and value."""
    found = [match[0] for match in _NAME.finditer(text) if _IS_NAME.search(match[0])]
    return [re.sub(r"^(@\w+)?//", "", name.lstrip("-").lower()) for name in found]


def _keys(name: str) -> set[str]:
    """Returns a name and the part after its last colon, so that `graph_passes` finds `//rules:graph_passes`."""
    return {name, name.rpartition(":")[2]}


def _is_first(node: nodes.Node) -> bool:
    """Returns whether a literal is the beginning of a list item or of a table row."""
    paragraph = node.parent
    if not isinstance(paragraph, nodes.paragraph) or paragraph[0] is not node:
        return False
    cell = paragraph.parent
    return cell[0] is paragraph and (
        isinstance(cell, nodes.list_item) or (isinstance(cell, nodes.entry) and cell.parent[0] is cell)
    )


def _section_of(node: nodes.Node) -> nodes.section | None:
    while node is not None and not isinstance(node, nodes.section):
        node = node.parent
    return node


def sections(doctree: nodes.document) -> Sections:
    """Returns the sections of a page with names. The page itself is the section without an anchor."""
    found: Sections = {}
    for node in doctree.findall(lambda node: isinstance(node, nodes.title | nodes.literal | nodes.literal_block)):
        section = _section_of(node)
        if section is None:
            continue
        is_page = isinstance(section.parent, nodes.document)
        _, scores = found.setdefault("" if is_page else f"#{section['ids'][0]}", (section[0].astext(), {}))
        text = node.astext()
        names = names_in(text)
        best = _HEADING if isinstance(node, nodes.title) and " " not in text else _DEFINED if _is_first(node) else _USED
        for i, name in enumerate(names):
            for key in _keys(name):
                scores[key] = max(_USED if i else best, scores.get(key, 0))
    return found


def _index(pages: Mapping[str, Sections]) -> str:
    """Returns the index for search.js: places with page, anchor and title, and the places of each name with scores.

    Args:
        pages: the pages. Places with the same score are found in this order.
    """
    places: list[tuple[str, str, str]] = []
    names: dict[str, list[tuple[int, int]]] = {}
    for page, of_page in pages.items():
        page_title, _ = of_page[""]
        for anchor, (title, scores) in of_page.items():
            for name, score in scores.items():
                names.setdefault(name, []).append((len(places), score))
            places.append((page, anchor, f"{page_title} > {title}" if anchor else page_title))
    content = json.dumps({"places": places, "names": names}, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return f"const NAMES = {content};\n"


def setup(app: Sphinx) -> dict[str, Any]:
    pages: dict[str, Sections] = {}

    def read(_: Sphinx, doctree: nodes.document, page: str) -> None:
        if "nosearch" not in app.env.metadata[page]:
            pages[page] = sections(doctree)

    def fold(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None) -> None:
        del template, doctree
        if "toctree" in context:
            toctree: Callable[..., str] = context["toctree"]
            # The sidebar also has the sections of the shown page.
            context["toctree"] = lambda **options: toctree(
                **{**options, "collapse": True, "titles_only": False, "maxdepth": 2}
            )
        if page == "search":
            order = ["index", *app.env.toctree_includes["index"]]
            index = _index({name: pages[name] for name in order if name in pages})
            (Path(app.outdir) / "_static" / "names.js").write_text(index)
            app.add_js_file("names.js")
            app.add_js_file("search.js")

    def unfold_nothing(_: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
        del page, template, doctree
        context["furo_navigation_tree"] = context["furo_navigation_tree"].replace(' checked=""', "")

    app.connect("doctree-resolved", read)
    # The theme makes the sidebar with priority 500.
    app.connect("html-page-context", fold, priority=400)
    app.connect("html-page-context", unfold_nothing, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": False}
