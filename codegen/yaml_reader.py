"""YAML with the place of every key and value, read with libyaml where PyYAML has it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import yaml

from codegen.errors import CodegenError, Finding, Location

_LOADER: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class Scalar:
    """A value without parts: its `text` without quotes, and as `tag` its YAML type (`str`, `null`, `bool`, ...)."""

    text: str
    tag: str
    location: Location
    # How many columns after the location the text begins, or None when it does not lie on one line as it is.
    indent: int | None

    def locate(self, offset: int) -> Location:
        """The place of a character of the text, or of the whole where the text is folded or escaped."""
        if self.indent is None:
            return self.location
        return Location(self.location.path, self.location.line, self.location.column + self.indent + offset)


@dataclass(frozen=True, slots=True)
class Sequence:
    items: tuple[Node, ...]
    location: Location


@dataclass(frozen=True, slots=True)
class Mapping:
    """Keys with their values, and with the keys' own places."""

    entries: dict[str, Node]
    location: Location
    key_locations: dict[str, Location] = field(default_factory=dict)


Node = Scalar | Sequence | Mapping


def read(path: str) -> Node | None:
    """Reads a YAML file of one document; None if there is nothing in it.

    Raises:
        CodegenError: the file cannot be read, is not YAML, or has a mapping with a key twice.
    """
    try:
        text = Path(path).read_bytes().decode()
    except OSError as error:
        raise CodegenError(
            Finding(
                id="unreadable-file",
                where=path,
                found=f"cannot read the file: {error.strerror}",
                cause="the path is wrong, or the file was not declared as an input",
                fix="name an existing YAML file",
            )
        ) from error
    except UnicodeDecodeError as error:
        raise _syntax_error(Location(path), f"byte {error.start} is not UTF-8 text") from error
    try:
        node = yaml.compose(text, Loader=_LOADER)
        converted = None if node is None else _convert(node, path)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        location = Location(path, mark.line + 1, mark.column + 1) if mark else Location(path)
        raise _syntax_error(location, ", ".join(filter(None, [error.context, error.problem]))) from error
    except yaml.YAMLError as error:
        raise _syntax_error(Location(path), " ".join(str(error).split())) from error
    except RecursionError as error:
        raise _syntax_error(
            Location(path), "lists or mappings are nested too deeply, or an alias is part of itself"
        ) from error
    return None if isinstance(converted, Scalar) and converted.tag == "null" else converted


def kind(node: Node) -> str:
    """What a node is, for a sentence."""
    if isinstance(node, Mapping):
        return "a mapping"
    if isinstance(node, Sequence):
        return "a list"
    return "nothing" if node.tag == "null" else f"'{node.text}'"


def _convert(node: yaml.Node, path: str) -> Node:
    mark = node.start_mark
    location = Location(path, mark.line + 1, mark.column + 1)
    if isinstance(node, yaml.ScalarNode):
        on_one_line = mark.line == node.end_mark.line and node.style not in ("|", ">")
        quotes = 1 if node.style in ("'", '"') else 0
        as_written = on_one_line and node.end_mark.column - mark.column == len(node.value) + 2 * quotes
        return Scalar(node.value, node.tag.rpartition(":")[2], location, quotes if as_written else None)
    if isinstance(node, yaml.SequenceNode):
        return Sequence(tuple(_convert(item, path) for item in node.value), location)
    entries: dict[str, Node] = {}
    key_locations: dict[str, Location] = {}
    for key_node, value_node in node.value:
        key = _convert(key_node, path)
        if not isinstance(key, Scalar):
            raise _syntax_error(key.location, f"{kind(key)} is used as a key")
        if key.text in entries:
            raise CodegenError(
                Finding(
                    id="duplicate-key",
                    where=key.location,
                    found=f"the key '{key.text}' appears twice in one mapping, first at {key_locations[key.text]}",
                    cause="an entry was copied, or the '-' that starts the next entry is missing",
                    fix="keep one of the two",
                )
            )
        entries[key.text] = _convert(value_node, path)
        key_locations[key.text] = key.location
    return Mapping(entries, location, key_locations)


def _syntax_error(location: Location, problem: str) -> CodegenError:
    return CodegenError(
        Finding(
            id="malformed-yaml",
            where=location,
            found=f"not valid YAML: {problem}",
            cause="wrong indentation, a tab, an unclosed quote or bracket, or a missing ':' at or before this place",
            fix="correct the syntax here",
        )
    )
