"""Reads YAML with the place of each key and value. Uses libyaml if PyYAML has it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import yaml

from diagnostics.errors import InputError, Location

_LOADER: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

# The limit of nesting. Files of operators and selections need at most five levels.
_MAX_DEPTH = 64
# The limits of size. All of PyTorch's operators have 0.6 MB and 28,000 values. It takes about a second to read 100,000
# values.
_MAX_BYTES = 4 * 2**20
_MAX_VALUES = 100_000


@dataclass(frozen=True, slots=True)
class Scalar:
    """A scalar value: `text` without quotes, and the YAML type `tag` (`str`, `null`, `bool`, ...)."""

    text: str
    tag: str
    location: Location
    # The number of columns between the location and the text; None if the text is folded or has escapes.
    indent: int | None

    def locate(self, offset: int) -> Location:
        """Returns the place of a character of the text; the place of the value if the text is folded or has escapes."""
        if self.indent is None:
            return self.location
        return Location(self.location.path, self.location.line, self.location.column + self.indent + offset)


@dataclass(frozen=True, slots=True)
class Sequence:
    items: tuple[Node, ...]
    location: Location


@dataclass(frozen=True, slots=True)
class Mapping:
    """A mapping from keys to values, with the places of the keys."""

    entries: dict[str, Node]
    location: Location
    key_locations: dict[str, Location] = field(default_factory=dict)


Node = Scalar | Sequence | Mapping


def read(path: str) -> Node | None:
    """Reads a YAML file of one document; None if the file is empty.

    Raises:
        InputError: the file cannot be read, is too large, is not YAML, or has a mapping with a duplicate key.
    """
    try:
        with open(path, "rb") as file:
            content = file.read(_MAX_BYTES + 1)
        if len(content) > _MAX_BYTES:
            raise _too_large(Location(path), f"more than {_MAX_BYTES // 2**20} MiB")
        text = content.decode()
    except OSError as error:
        raise InputError.of(
            id="unreadable-file",
            where=path,
            found=f"cannot read the file: {error.strerror}",
            cause="the path is wrong, or the file was not declared as an input",
            fix="name an existing YAML file",
        ) from error
    except UnicodeDecodeError as error:
        raise _syntax_error(Location(path), f"byte {error.start} is not UTF-8 text") from error
    try:
        node = _Parser(text, path).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        location = Location(path, mark.line + 1, mark.column + 1) if mark else Location(path)
        raise _syntax_error(location, ", ".join(filter(None, [error.context, error.problem]))) from error
    except yaml.YAMLError as error:
        raise _syntax_error(Location(path), " ".join(str(error).split())) from error
    return None if isinstance(node, Scalar) and node.tag == "null" else node


def kind(node: Node) -> str:
    """Returns the kind of a node, for messages."""
    if isinstance(node, Mapping):
        return "a mapping"
    if isinstance(node, Sequence):
        return "a list"
    return "nothing" if node.tag == "null" else f"'{node.text}'"


class _Parser:
    """Builds one document's nodes from libyaml's events.

    PyYAML's own composer overflows the C stack on a few kilobytes of brackets. An alias refers to the anchored node
    itself, so a few lines of nested aliases do not become a million nodes.
    """

    def __init__(self, text: str, path: str) -> None:
        self._events: Any = _LOADER(text)
        self._path = path
        self._anchors: dict[str, Node] = {}
        self._values = 0

    def document(self) -> Node | None:
        self._events.get_event()  # Skips the start of the stream.
        if self._events.check_event(yaml.StreamEndEvent):
            return None
        self._events.get_event()  # Skips the start of the document.
        node = self._node(0)
        self._events.get_event()
        if not self._events.check_event(yaml.StreamEndEvent):
            raise _syntax_error(self._location(self._events.peek_event()), "a second document begins here")
        return node

    def _node(self, depth: int) -> Node:
        event = self._events.get_event()
        location = self._location(event)
        self._values += 1
        if self._values > _MAX_VALUES:
            raise _too_large(location, f"more than {_MAX_VALUES:,} values")
        if depth > _MAX_DEPTH:
            raise _syntax_error(location, f"lists or mappings are nested more than {_MAX_DEPTH} deep")
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in self._anchors:
                raise _syntax_error(location, f"the alias '*{event.anchor}' has no anchor before it")
            return self._anchors[event.anchor]
        node: Node
        if isinstance(event, yaml.ScalarEvent):
            node = self._scalar(event, location)
        elif isinstance(event, yaml.SequenceStartEvent):
            node = self._sequence(location, depth)
        else:
            node = self._mapping(location, depth)
        if event.anchor is not None:
            self._anchors[event.anchor] = node
        return node

    def _scalar(self, event: Any, location: Location) -> Scalar:
        start, end, text = event.start_mark, event.end_mark, event.value
        on_one_line = start.line == end.line and event.style not in ("|", ">")
        quotes = 1 if event.style in ("'", '"') else 0
        as_written = on_one_line and end.column - start.column == len(text) + 2 * quotes
        tag = event.tag
        if tag is None or tag == "!":
            tag = self._events.resolve(yaml.ScalarNode, text, event.implicit)
        return Scalar(text, tag.rpartition(":")[2], location, quotes if as_written else None)

    def _sequence(self, location: Location, depth: int) -> Sequence:
        items: list[Node] = []
        while not self._events.check_event(yaml.SequenceEndEvent):
            items.append(self._node(depth + 1))
        self._events.get_event()
        return Sequence(tuple(items), location)

    def _mapping(self, location: Location, depth: int) -> Mapping:
        entries: dict[str, Node] = {}
        key_locations: dict[str, Location] = {}
        while not self._events.check_event(yaml.MappingEndEvent):
            key = self._node(depth + 1)
            if not isinstance(key, Scalar):
                raise _syntax_error(key.location, f"{kind(key)} is used as a key")
            if key.text in entries:
                raise InputError.of(
                    id="duplicate-key",
                    where=key.location,
                    found=f"the key '{key.text}' appears twice in one mapping, first at {key_locations[key.text]}",
                    cause="an entry was copied, or the '-' that starts the next entry is missing",
                    fix="keep one of the two",
                )
            entries[key.text] = self._node(depth + 1)
            key_locations[key.text] = key.location
        self._events.get_event()
        return Mapping(entries, location, key_locations)

    def _location(self, event: Any) -> Location:
        return Location(self._path, event.start_mark.line + 1, event.start_mark.column + 1)


def _syntax_error(location: Location, problem: str) -> InputError:
    return InputError.of(
        id="malformed-yaml",
        where=location,
        found=f"not valid YAML: {problem}",
        cause="wrong indentation, a tab, an unclosed quote or bracket, or a missing ':' at or before this place",
        fix="correct the syntax here",
    )


def _too_large(location: Location, what: str) -> InputError:
    return InputError.of(
        id="yaml-too-large",
        where=location,
        found=f"the file has {what}",
        cause="another file was named, or a script wrote an entry again and again",
        fix="name a file of operators; several files can be given, each with some of the operators",
    )
