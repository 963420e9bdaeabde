"""Writes a BUILD file in the layout of buildifier."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tools.from_buck.values import Code, Glob, Select, Sum

_FIRST = ("name", "size", "testonly", "srcs", "hdrs")
_LAST = ("deps", "alwayslink")
_SORTED = frozenset(("deps", "hdrs", "srcs", "tags", "visibility"))

_CC = "@rules_cc//cc:defs.bzl"
_PYTHON = "@rules_python//python:defs.bzl"
_FILES = {
    "cc_binary": _CC,
    "cc_library": _CC,
    "cc_test": _CC,
    "py_binary": _PYTHON,
    "py_library": _PYTHON,
    "py_test": _PYTHON,
}
_BAZELS_OWN = frozenset(("exports_files", "filegroup"))


@dataclass(frozen=True, slots=True)
class Target:
    """A call in a BUILD file, with named arguments or one positional argument."""

    rule: str
    attributes: Mapping[str, Any]
    positional: Any = None


def text(targets: Sequence[Target], module: str) -> str:
    """Returns the text of a BUILD file, which loads the rules of this repository from `module`."""
    symbols: dict[str, set[str]] = {}
    for target in targets:
        for symbol in (target.rule, *(code.symbol for code in _codes(target.attributes))):
            if symbol not in _BAZELS_OWN:
                symbols.setdefault(_FILES.get(symbol, f"{module}//rules:defs.bzl"), set()).add(symbol)
    loads = [_load(file, symbols[file]) for file in sorted(symbols, key=lambda file: (file.startswith("//"), file))]
    return "\n\n".join(["\n".join(loads), *(_target(target) for target in targets)]) + "\n"


def _load(file: str, symbols: set[str]) -> str:
    names = [f'"{symbol}"' for symbol in sorted(symbols)]
    return _wrapped("load", [f'"{file}"', *names], few=2)


def _target(target: Target) -> str:
    named = [
        f"{name} = {_value(value, 1, name in _SORTED)}" for name, value in sorted(target.attributes.items(), key=_order)
    ]
    first = [] if target.positional is None else [_value(target.positional, 1)]
    return _wrapped(target.rule, first + named, few=0 if named else 1)


def _wrapped(function: str, arguments: Sequence[str], few: int) -> str:
    if len(arguments) <= few:
        return f"{function}({', '.join(arguments)})"
    lines = "".join(f"    {argument},\n" for argument in arguments)
    return f"{function}(\n{lines})"


def _order(item: tuple[str, Any]) -> tuple[int, str]:
    name = item[0]
    if name in _FIRST:
        return _FIRST.index(name) - len(_FIRST), ""
    return (1 + _LAST.index(name), "") if name in _LAST else (0, name)


def _codes(value: Any) -> Iterable[Code]:
    if isinstance(value, Code):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _codes(inner)
    elif isinstance(value, Select):
        yield from _codes(value.values)
    elif isinstance(value, list | Sum):
        for inner in value.parts if isinstance(value, Sum) else value:
            yield from _codes(inner)


def _value(value: Any, depth: int, in_order: bool = False) -> str:
    match value:
        case Code():
            return value.text
        case str():
            return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
        case Sum():
            return " + ".join(_value(part, depth, in_order) for part in value.parts)
        case Select():
            return f"select({_dict(value.values, depth, in_order)})"
        case Glob():
            include, exclude = _value(list(value.include), depth + 1), _value(list(value.exclude), depth + 1)
            return (
                _block("glob(", [include, f"exclude = {exclude}"], ")", depth) if value.exclude else f"glob({include})"
            )
        case dict():
            return _dict(value, depth, in_order)
        case list():
            items = sorted(value, key=_label_order) if in_order else value
            texts = [_value(item, depth + 1) for item in items]
            return _block("[", texts, "]", depth) if len(texts) > 1 else f"[{''.join(texts)}]"
        case _:
            return str(value)


def _dict(value: Mapping[str, Any], depth: int, in_order: bool) -> str:
    items = [f"{_value(key, depth + 1)}: {_value(inner, depth + 1, in_order)}" for key, inner in value.items()]
    return _block("{", items, "}", depth) if items else "{}"


def _block(start: str, items: Sequence[str], end: str, depth: int) -> str:
    indent = "    " * depth
    return f"{start}\n" + "".join(f"{indent}    {item},\n" for item in items) + f"{indent}{end}"


def _label_order(label: Any) -> tuple[int, list[str]]:
    value = str(label)
    phase = next((phase for start, phase in ((":", 1), ("//", 2), ("@", 3)) if value.startswith(start)), 0)
    return phase, re.split("[.:]", value)
