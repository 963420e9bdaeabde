"""Reads a page as a browser does that has no network: its elements, and what it would load."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

_VOID = frozenset({"br", "input", "link", "meta"})


@dataclass
class Element:
    """An element.

    Attributes:
        tag: its name.
        attributes: its attributes; one without a value has "".
        content: the elements and the texts in it, in order.
    """

    tag: str
    attributes: dict[str, str]
    content: list[Element | str] = field(default_factory=list)

    @property
    def children(self) -> list[Element]:
        """The elements in it."""
        return [child for child in self.content if isinstance(child, Element)]

    def all(self, tag: str) -> list[Element]:
        """All elements of a name below this one, in order."""
        found = []
        for child in self.children:
            if child.tag == tag:
                found.append(child)
            found += child.all(tag)
        return found

    @property
    def text(self) -> str:
        """All text in the element."""
        return "".join(child if isinstance(child, str) else child.text for child in self.content)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open = [Element("", {})]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].content.append(element)
        if tag not in _VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        if self.open[-1].tag != tag:
            raise ValueError(f"</{tag}> ends <{self.open[-1].tag}> at {self.getpos()}")
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].content.append(data)


def read(page: str) -> Element:
    """The element that holds all of a page.

    Raises:
        ValueError: an element has no end, or ends in another.
    """
    reader = _Reader()
    reader.feed(page)
    reader.close()
    if len(reader.open) != 1:
        raise ValueError(f"<{reader.open[-1].tag}> has no end")
    return reader.open[0]
