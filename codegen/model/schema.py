"""Parses operator schemas in the notation of PyTorch's native_functions.yaml.

my_ops::mul3.out(Tensor input, *, int[]? dims=None, Tensor(a!) out) -> Tensor(a!)
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from codegen.model import defaults
from codegen.model.schema_types import BASE_TYPES
from diagnostics import suggest
from diagnostics.errors import InputError, Location

# Returns the place in a file of the character at an offset in the schema's text.
Locator = Callable[[int], Location]

_OPERATOR_NAME = re.compile(r"\s*(?:([A-Za-z_]\w*)::)?([A-Za-z_]\w*)(?:\.(\w+))?", re.ASCII)
_ARGUMENT = re.compile(r"(\w+(?:\([^()]*\))?(?:\[\d*\]|\?)*)\s+([A-Za-z_]\w*)\s*(?:=\s*(\S.*))?$", re.ASCII)
_RETURN = re.compile(r"(\w+(?:\([^()]*\))?(?:\[\d*\]|\?)*)(?:\s+([A-Za-z_]\w*))?$", re.ASCII)
_TYPE = re.compile(r"(\w+)(?:\(([^()]*)\))?((?:\[\d*\]|\?)*)")
_SUFFIX = re.compile(r"\[(\d*)\]|\?")
# Limits for suffixes of types. Real types are far below: `Tensor?[]?`, `bool[1000]`.
_MAX_SUFFIXES = 4
_MAX_SUFFIX_LENGTH = 8
_STRUCTURE = re.compile(r"[()\[\],]|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")


@dataclass(frozen=True, slots=True)
class OperatorName:
    """An operator's full name. `aten::add.out` has the namespace `aten`, the name `add` and the overload `out`."""

    namespace: str
    name: str
    overload: str = ""

    def __str__(self) -> str:
        return f"{self.namespace}::{self.unqualified}"

    @property
    def unqualified(self) -> str:
        """The name without its namespace: `add.out`."""
        return f"{self.name}.{self.overload}" if self.overload else self.name


@dataclass(frozen=True, slots=True)
class BaseType:
    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class OptionalType:
    element: Type

    def __str__(self) -> str:
        return f"{self.element}?"


@dataclass(frozen=True, slots=True)
class ListType:
    element: Type
    size: int | None = None

    def __str__(self) -> str:
        return f"{self.element}[{'' if self.size is None else self.size}]"


Type = BaseType | OptionalType | ListType


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument. `alias` is the alias annotation, such as `a!`; `default` is the text of the default; or None."""

    name: str
    type: Type
    alias: str | None = None
    default: str | None = None

    @property
    def is_written(self) -> bool:
        return self.alias is not None and "!" in self.alias

    def __str__(self) -> str:
        default = "" if self.default is None else f"={self.default}"
        return f"{_type_text(self.type, self.alias)} {self.name}{default}"


@dataclass(frozen=True, slots=True)
class Return:
    """One return value. `name` is None if the schema has no name."""

    type: Type
    alias: str | None = None
    name: str | None = None

    @property
    def is_written(self) -> bool:
        """Whether the return value is an argument that the operator writes to."""
        return self.alias is not None and "!" in self.alias

    def __str__(self) -> str:
        return _type_text(self.type, self.alias) + (f" {self.name}" if self.name else "")


@dataclass(frozen=True)
class FunctionSchema:
    """One operator's schema. `out` has the trailing keyword-only arguments that the operator writes to."""

    name: OperatorName
    positional: tuple[Argument, ...]
    keyword_only: tuple[Argument, ...]
    out: tuple[Argument, ...]
    returns: tuple[Return, ...]

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """All arguments in the order of the schema, which is also the order of the values of a kernel call."""
        return self.positional + self.keyword_only + self.out

    @property
    def gives_nothing(self) -> bool:
        """Whether the operator has neither return values nor out arguments: `-> ()`."""
        return not self.returns and not self.out

    def __str__(self) -> str:
        return self._text

    def __hash__(self) -> int:
        return hash(self._text)

    @functools.cached_property
    def _text(self) -> str:
        keyword_only = [str(a) for a in self.keyword_only + self.out]
        arguments = [str(a) for a in self.positional] + (["*", *keyword_only] if keyword_only else [])
        returns = ", ".join(str(r) for r in self.returns)
        return f"{self.name}({', '.join(arguments)}) -> {returns if len(self.returns) == 1 else f'({returns})'}"


def parse_operator_name(text: str, default_namespace: str = "aten") -> OperatorName | None:
    """Parses `ns::name.overload`; None if `text` is no operator name."""
    match = _OPERATOR_NAME.fullmatch(text)
    return OperatorName(match[1] or default_namespace, match[2], match[3] or "") if match else None


def parse(text: str, locate: Locator) -> FunctionSchema:
    """Parses a schema; a name without a namespace is in `aten`.

    Args:
        text: the schema.
        locate: returns the place of a character of the text, for errors.

    Raises:
        InputError: the text is not a valid schema.
    """
    # Generated code quotes the text in comments, so the text must not have line breaks.
    text = re.sub(r"\s", " ", text)
    if not text.isprintable():
        hidden = next(i for i, character in enumerate(text) if not character.isprintable())
        raise _malformed(text, hidden, f"it has the character U+{ord(text[hidden]):04X}, which is not shown", locate)
    head = _OPERATOR_NAME.match(text)
    if not head:
        raise _malformed(text, 0, "it does not start with an operator's name", locate)
    if text[head.end() : head.end() + 1] != "(":
        raise _malformed(text, head.end(), f"'(' is missing after the name '{head[0].strip()}'", locate)
    end = _closing(text, head.end(), locate)
    name = OperatorName(head[1] or "aten", head[2], head[3] or "")
    positional, keyword_only = _arguments(text, head.end() + 1, end, locate)

    arrow = re.compile(r"\s*->\s*").match(text, end + 1)
    if not arrow:
        raise _malformed(text, end + 1, "'->' and the return type are missing after the arguments", locate)
    returns = _returns(text, arrow.end(), locate)

    first_out = len(keyword_only)
    while first_out > 0 and keyword_only[first_out - 1].is_written:
        first_out -= 1
    schema = FunctionSchema(name, positional, keyword_only[:first_out], keyword_only[first_out:], returns)
    _check(schema, text, arrow.end(), locate)
    return schema


def _arguments(text: str, start: int, end: int, locate: Locator) -> tuple[tuple[Argument, ...], tuple[Argument, ...]]:
    """Parses the positional and the keyword-only arguments between two offsets."""
    positional: list[Argument] = []
    keyword_only: list[Argument] = []
    target = positional
    names: set[str] = set()
    for part, offset in _split(text, start, end):
        if part == "*":
            if target is keyword_only:
                raise _malformed(text, offset, "'*' appears twice", locate)
            target = keyword_only
            continue
        match = _ARGUMENT.match(part)
        if not match:
            problem = f"'{part}' is not an argument, 'Type name' or 'Type name=default'{_how_written(part)}"
            raise _malformed(text, offset, problem, locate)
        type_, alias = _type(text, match[1], offset, locate)
        if match[2] in names:
            raise _malformed(text, offset + match.start(2), f"the argument '{match[2]}' appears twice", locate)
        names.add(match[2])
        if match[3] and (what := defaults.expected(str(type_), match[3])):
            problem = f"for PyTorch, the default '{match[3]}' of '{match[1]} {match[2]}' must be {what}"
            raise _malformed(text, offset + match.start(3), problem, locate)
        target.append(Argument(match[2], type_, alias, match[3]))
    return tuple(positional), tuple(keyword_only)


def _returns(text: str, start: int, locate: Locator) -> tuple[Return, ...]:
    if text[start : start + 1] == "(":
        end = _closing(text, start, locate)
        rest = text[end + 1 :].strip()
        if rest:
            raise _malformed(text, end + 1, f"'{rest}' follows the return types", locate)
        parts = list(_split(text, start + 1, end))
    else:
        parts = list(_split(text, start, len(text)))
        if len(parts) > 1:
            raise _malformed(text, start, "several return types need parentheses around them", locate)
        if not parts:
            raise _malformed(text, start, "the return type after '->' is missing; nothing is '()'", locate)
    returns = []
    for part, offset in parts:
        match = _RETURN.match(part)
        if not match:
            raise _malformed(text, offset, f"'{part}' is not a return type{_how_written(part)}", locate)
        type_, alias = _type(text, match[1], offset, locate)
        returns.append(Return(type_, alias, match[2]))
    return tuple(returns)


def _check(schema: FunctionSchema, text: str, returns_offset: int, locate: Locator) -> None:
    """Checks the invariants between a schema's parts."""
    if schema.out and schema.returns and len(schema.returns) != len(schema.out):
        problem = f"it has {len(schema.out)} out arguments but {len(schema.returns)} return values"
        raise _malformed(text, returns_offset, problem, locate)
    written = {a.alias for a in schema.arguments if a.is_written}
    for out, result in zip(schema.out, schema.returns, strict=False):
        if out.alias != result.alias:
            raise _malformed(
                text, returns_offset, f"the out argument '{out}' is not what it returns, '{result}'", locate
            )
    for result in schema.returns:
        if result.is_written and result.alias not in written:
            raise _malformed(text, returns_offset, f"no argument is annotated like the return value '{result}'", locate)


def _type(text: str, type_text: str, offset: int, locate: Locator) -> tuple[Type, str | None]:
    parsed = _parse_type(type_text)
    if isinstance(parsed, str):
        near = suggest.nearest(parsed, BASE_TYPES)
        raise InputError.of(
            id="unknown-type",
            where=locate(offset),
            found=f"'{parsed}' in the schema '{text.strip()}' is not a type{suggest.did_you_mean(near)}",
            cause="a typo, or a C++ or Python type in place of the schema's own",
            fix=f"use one of {', '.join(sorted(BASE_TYPES))}, with '?' for optional and '[]' for a list",
        )
    return parsed


@functools.cache
def _parse_type(text: str) -> tuple[Type, str | None] | str:
    """Returns the type and its alias annotation; for an unknown type, the name."""
    match = _TYPE.fullmatch(text)
    if not match:
        return text
    if match[1] not in BASE_TYPES:
        return match[1]
    type_: Type = BaseType(match[1])
    suffixes = list(_SUFFIX.finditer(match[3]))
    if len(suffixes) > _MAX_SUFFIXES or any(len(suffix[0]) > _MAX_SUFFIX_LENGTH for suffix in suffixes):
        return text
    for suffix in suffixes:
        type_ = OptionalType(type_) if suffix[0] == "?" else ListType(type_, int(suffix[1]) if suffix[1] else None)
    return type_, match[2]


def base_name(type_: Type) -> str:
    """Returns the name of a type without `?` and `[]`."""
    while not isinstance(type_, BaseType):
        type_ = type_.element
    return type_.name


def _type_text(type_: Type, alias: str | None) -> str:
    """Returns the type in a schema's notation, with the annotation after the base type: `Tensor(a!)[]`."""
    if alias is None:
        return str(type_)
    name = base_name(type_)
    return str(type_).replace(name, f"{name}({alias})", 1)


def _split(text: str, start: int, end: int) -> Iterator[tuple[str, int]]:
    """Yields the comma-separated parts between two offsets, with their offsets. Does not split brackets and quotes."""
    if not text[start:end].strip():
        return
    depth, part_start = 0, start
    for match in _STRUCTURE.finditer(text, start, end):
        symbol = match[0]
        if symbol in "([":
            depth += 1
        elif symbol in ")]":
            depth -= 1
        elif symbol == "," and depth == 0:
            yield _stripped(text, part_start, match.start())
            part_start = match.end()
    yield _stripped(text, part_start, end)


def _stripped(text: str, start: int, end: int) -> tuple[str, int]:
    part = text[start:end]
    return part.strip(), start + len(part) - len(part.lstrip())


def _closing(text: str, start: int, locate: Locator) -> int:
    """Returns the offset of the parenthesis that closes the one at `start`."""
    depth = 0
    for match in _STRUCTURE.finditer(text, start):
        if match[0] in "([":
            depth += 1
        elif match[0] in ")]":
            depth -= 1
            if depth == 0:
                return match.start()
    raise _malformed(text, start, "the parenthesis opened here is never closed", locate)


def _how_written(part: str) -> str:
    """Returns a hint for `Tensor!` and `Tensor&`, which are not in the grammar."""
    match = re.match(r"Tensor *[!&](\[\]|\?)*", part)
    suffix = (match[1] or "") if match else ""
    hint = f"; a tensor that the operator writes to is 'Tensor(a!){suffix}', with another letter for each"
    return hint if match else ""


def _malformed(text: str, offset: int, problem: str, locate: Locator) -> InputError:
    return InputError.of(
        id="malformed-schema",
        where=locate(offset),
        found=f"malformed schema '{text.strip()}': {problem}",
        cause="the text does not follow the grammar of PyTorch's native_functions.yaml",
        fix="write it as 'ns::name.overload(Type name, *, Type name=default, Tensor(a!) out) -> Tensor(a!)'",
    )
