"""Reads XML as a tree of elements with places. Refuses a document type, so that there are no entities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from diagnostics.errors import InputError, Location

# The largest op package of a vendor's own has a few hundred KiB.
MAX_BYTES = 4 << 20
MAX_DEPTH = 32


@dataclass(frozen=True, slots=True)
class Element:
    """An element. `text` has all text directly in the element."""

    name: str
    attributes: Mapping[str, str]
    at: Location
    text: str
    children: tuple[Element, ...]


@dataclass(slots=True)
class _Open:
    """An element before its end tag."""

    name: str
    attributes: dict[str, str]
    at: Location
    text: list[str] = field(default_factory=list)
    children: list[Element] = field(default_factory=list)


def malformed(where: Location, found: str, cause: str, fix: str) -> InputError:
    return InputError.of(where, found, cause, fix, id="malformed-xml")


def read(path: str) -> Element:
    """Returns the root of an XML file.

    Raises:
        InputError: the file cannot be read, is too large, is not XML, or has a document type.
    """
    try:
        with Path(path).open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise malformed(
            Location(path), f"cannot read the file: {error.strerror}", "the path is wrong", "give the package's XML"
        ) from error
    if len(content) > MAX_BYTES:
        raise malformed(
            Location(path),
            f"the file has more than {MAX_BYTES >> 20} MiB",
            "another file was given. The definitions of ops are short",
            "give the package's XML, or split it into several files of one package",
        )
    return _Parser(path).parse(content)


class _Parser:
    """Builds the tree of one file."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._stack: list[_Open] = []
        self._root: Element | None = None
        self._parser = parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.StartDoctypeDeclHandler = self._doctype

    def parse(self, content: bytes) -> Element:
        try:
            self._parser.Parse(content, True)
        except expat.ExpatError as error:
            raise malformed(
                Location(self._path, error.lineno, error.offset + 1),
                f"the file is not well-formed XML: {expat.errors.messages[error.code]}",
                "a tag is not closed, a character such as & or < is not escaped, or another file was given",
                "close the tag; write &amp; for & and &lt; for <",
            ) from error
        except (ValueError, LookupError) as error:  # Python does not support the encoding.
            raise malformed(
                self._here(),
                f"cannot read the file's encoding: {error}",
                "the file has another encoding than the XML declaration",
                'save the file as UTF-8, with encoding="UTF-8" in its first line',
            ) from error
        assert self._root, "expat has refused a file without an element"
        return self._root

    def _here(self) -> Location:
        return Location(self._path, self._parser.CurrentLineNumber, self._parser.CurrentColumnNumber + 1)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if len(self._stack) == MAX_DEPTH:
            raise malformed(
                self._here(),
                f"the elements are nested more than {MAX_DEPTH} deep",
                "an element is not closed, or another file was given",
                "close each element before the next one of its kind begins",
            )
        self._stack.append(_Open(name, attributes, self._here()))

    def _end(self, name: str) -> None:
        closed = self._stack.pop()
        element = Element(name, closed.attributes, closed.at, "".join(closed.text), tuple(closed.children))
        if self._stack:
            self._stack[-1].children.append(element)
        else:
            self._root = element

    def _characters(self, text: str) -> None:
        self._stack[-1].text.append(text)

    def _doctype(self, name: str, system_id: str | None, public_id: str | None, has_internal_subset: bool) -> None:
        del system_id, public_id, has_internal_subset
        raise malformed(
            self._here(),
            f"the file has a document type, <!DOCTYPE {name}",
            "an editor wrote the document type. Its entities could read other files or grow without limit",
            "delete the <!DOCTYPE ...> and write out the entities that it declares",
        )
