"""The header and the module with the constants of layouts.yaml, for kernels and for graph passes.

The constant `columns` of the layout `byte_panel` is kBytePanelColumns in C++ and BYTE_PANEL_COLUMNS in Python.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

_WIDTH = 120
_NAMESPACE = "rules_executorch::kernels"
_WRITTEN = "How constants lie in programs. Written from kernels/gemm/layouts.yaml."


@dataclass(frozen=True)
class Constant:
    """One constant.

    Attributes:
        name: the name of the layout and the name of the constant, in snake case.
        value: a number of elements, or several numbers.
        text: the description of the constant.
    """

    name: str
    value: int | tuple[float, ...]
    text: str

    def cpp(self) -> str:
        """The definition in C++, with its comment."""
        name = "k" + self.name.title().replace("_", "")
        if isinstance(self.value, int):
            return f"{_comment(self.text, '///')}inline constexpr int64_t {name} = {self.value};\n"
        values = ", ".join(map(str, self.value))
        return f"{_comment(self.text, '///')}inline constexpr double {name}[] = {{{values}}};\n"

    def python(self) -> str:
        """The definition in Python, with its comment."""
        return f"{_comment(self.text, '#')}{self.name.upper()} = {self.value!r}\n"


@dataclass(frozen=True)
class Layout:
    """The layout of constants in programs.

    Attributes:
        name: in snake case.
        text: the description of the layout.
        elements: the position of an element of a weight; a line for each kind of weight.
        constants: the numbers of the layout.
    """

    name: str
    text: str
    elements: tuple[str, ...]
    constants: tuple[Constant, ...]

    def heading(self, mark: str) -> str:
        """The layout as a comment. Each line begins with `mark`."""
        return "".join(_comment(line, mark) for line in (f"{self.name}: {self.text}", *self.elements)) + "\n"


def read(text: str) -> list[Layout]:
    """The layouts of layouts.yaml, in their order.

    Args:
        text: the contents of the file: a list of layouts with a name, texts and constants.
    Raises:
        ValueError: a value is neither an integer nor a list of numbers, or two constants have one name.
    """
    layouts = [
        Layout(
            layout["layout"],
            layout["text"],
            tuple(map(_element, layout.get("elements", ()))),
            tuple(
                Constant(f"{layout['layout']}_{name}", _value(fields["value"]), fields["text"])
                for name, fields in layout["constants"].items()
            ),
        )
        for layout in yaml.safe_load(text)
    ]
    names = [constant.name for layout in layouts for constant in layout.constants]
    if len(set(names)) < len(names):
        raise ValueError(f"two constants have the same name: {', '.join(names)}")
    return layouts


def header(layouts: Sequence[Layout]) -> str:
    """The C++ header with the constants of layouts."""
    definitions = "\n".join(
        layout.heading("//") + "\n".join(constant.cpp() for constant in layout.constants) for layout in layouts
    )
    return (
        f"#pragma once\n\n// {_WRITTEN}\n\n#include <cstdint>\n\nnamespace {_NAMESPACE} {{\n\n"
        f"{definitions}\n}}  // namespace {_NAMESPACE}\n"
    )


def module(layouts: Sequence[Layout]) -> str:
    """The Python module with the constants of layouts."""
    definitions = "\n".join(
        layout.heading("#") + "\n".join(constant.python() for constant in layout.constants) for layout in layouts
    )
    return f'"""{_WRITTEN}"""\n\n{definitions}'


def _element(fields: Mapping[str, Any]) -> str:
    """The description of an element's position."""
    half = f", half {fields['half']}" if "half" in fields else ""
    return f"{fields['of']}: [{fields['at']}]{half} of [{fields['shape']}]"


def _value(value: object) -> int | tuple[float, ...]:
    if isinstance(value, list):
        return tuple(float(number) for number in value)
    if not isinstance(value, int):
        raise ValueError(f"expected an integer or a list of numbers, got {value!r}")
    return value


def _comment(text: str, mark: str) -> str:
    return "".join(f"{mark} {line}\n" for line in textwrap.wrap(text, _WIDTH - len(mark) - 1))
