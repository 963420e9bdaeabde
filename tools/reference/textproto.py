"""Reads the text format of protocol buffers that Bazel's starlark_doc_extract writes: one field or brace on a line."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field

_FIELD = re.compile(r'(?P<name>\w+)(?: (?P<brace>\{)|: (?:(?P<string>"(?:[^"\\]|\\.)*")|(?P<word>[\w.-]+)))')


class MalformedTextError(ValueError):
    """A text has another form."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message: the scalar fields as text, and the inner messages, by the field's name."""

    scalars: dict[str, list[str]] = field(default_factory=dict)
    messages: dict[str, list[Message]] = field(default_factory=dict)

    def text(self, name: str) -> str:
        """Returns the value of a field that occurs at most once; empty if the field is not set."""
        return self.scalars.get(name, [""])[0]

    def texts(self, name: str) -> list[str]:
        return self.scalars.get(name, [])

    def inner(self, name: str) -> list[Message]:
        return self.messages.get(name, [])


def parse(text: str) -> Message:
    """Parses the message in a text.

    Raises:
        MalformedTextError: a line is neither a field nor a closing brace, or the braces do not match.
    """
    open_messages = [Message()]
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if stripped == "}" and len(open_messages) > 1:
            open_messages.pop()
            continue
        match = _FIELD.fullmatch(stripped)
        if match is None:
            raise MalformedTextError(f"line {number} is neither a field nor the end of a message: {stripped}")
        message = open_messages[-1]
        if match["brace"]:
            open_messages.append(Message())
            message.messages.setdefault(match["name"], []).append(open_messages[-1])
        else:
            value = _unquoted(match["string"]) if match["string"] else match["word"]
            message.scalars.setdefault(match["name"], []).append(value)
    if len(open_messages) > 1:
        raise MalformedTextError("the text ends inside a message")
    return open_messages[0]


def _unquoted(string: str) -> str:
    # The text format has the same escapes as Python's bytes literals.
    value: bytes = ast.literal_eval("b" + string)
    return value.decode()
