"""Selections of operators, in ExecuTorch's own file format: selected_operators.yaml."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from codegen.kernel_keys import DEFAULT

# Labels, the names of operators and kernel keys, which no YAML reader takes for a number, a bool or null.
_PLAIN = re.compile(r"default|debug_info|[A-Za-z_/](?=.*(?:::|/))[\w:./;,|+-]*[\w/;]", re.ASCII)


@dataclass(frozen=True, slots=True)
class SelectedOperator:
    """One selected operator.

    Attributes:
        asked_by: the labels of the targets or models that want it.
        all_overloads: whether a name without an overload stands for all overloads.
        kernel_keys: the kernels that are wanted, see codegen/kernel_keys.py.
        is_root: whether anything calls the operator; if not, nothing need provide it.
        is_used_for_training: what PyTorch selects by, and ExecuTorch does not.
    """

    asked_by: frozenset[str] = frozenset()
    all_overloads: bool = False
    kernel_keys: frozenset[str] = frozenset({DEFAULT})
    is_root: bool = True
    is_used_for_training: bool = True

    def __or__(self, other: SelectedOperator) -> SelectedOperator:
        return SelectedOperator(
            self.asked_by | other.asked_by,
            self.all_overloads or other.all_overloads,
            self.kernel_keys | other.kernel_keys,
            self.is_root or other.is_root,
            self.is_used_for_training or other.is_used_for_training,
        )


@dataclass(frozen=True, slots=True)
class Selection:
    """Operators by their full names, and whether everything that a library provides is wanted on top."""

    operators: Mapping[str, SelectedOperator]
    include_all: bool = False


def of(wanted: Mapping[str, Iterable[str]], asked_by: str) -> Selection:
    """The selection of operators, each with kernel keys, that one target or model asks for."""
    source = frozenset({asked_by})
    return Selection({name: SelectedOperator(source, kernel_keys=frozenset(keys)) for name, keys in wanted.items()})


def unite(selections: Iterable[Selection]) -> Selection:
    """What any of the selections asks for."""
    operators: dict[str, SelectedOperator] = {}
    include_all = False
    for selection in selections:
        include_all = include_all or selection.include_all
        for name, operator in selection.operators.items():
            operators[name] = operators[name] | operator if name in operators else operator
    return Selection(operators, include_all)


def write(selection: Selection, path: str) -> None:
    """Writes a selection; equal selections give equal bytes.

    By hand, since PyYAML takes longer than all else that selecting for a model does.
    """
    metadata = [_sequence("  ", name, selection.operators[name].kernel_keys) for name in sorted(selection.operators)]
    operators = [_operator(name, selection.operators[name]) for name in sorted(selection.operators)]
    Path(path).write_text(
        "build_features: []\ncustom_classes: []\n"
        f"{_mapping('et_kernel_metadata', metadata)}"
        "include_all_non_op_selectives: false\n"
        f"include_all_operators: {_bool(selection.include_all)}\n"
        "kernel_metadata: {}\n"
        f"{_mapping('operators', operators)}"
    )


def _operator(name: str, operator: SelectedOperator) -> str:
    return (
        f"  {_scalar(name)}:\n"
        f"{_sequence('    ', 'debug_info', operator.asked_by)}"
        f"    include_all_overloads: {_bool(operator.all_overloads)}\n"
        f"    is_root_operator: {_bool(operator.is_root)}\n"
        f"    is_used_for_training: {_bool(operator.is_used_for_training)}\n"
    )


def _mapping(key: str, entries: list[str]) -> str:
    content = "".join(entries)
    return f"{key}:\n{content}" if entries else f"{key}: {{}}\n"


def _sequence(indent: str, key: str, texts: frozenset[str]) -> str:
    items = "".join(f"{indent}- {_scalar(text)}\n" for text in sorted(texts))
    return f"{indent}{_scalar(key)}:\n{items}" if texts else f"{indent}{_scalar(key)}: []\n"


def _bool(value: bool) -> str:
    return "true" if value else "false"


@functools.cache
def _scalar(text: str) -> str:
    """A text as YAML, in quotes where it might be read as something else."""
    if _PLAIN.fullmatch(text):
        return text
    quoted = json.dumps(text, ensure_ascii=False)
    return re.sub(r"[^ -~]", lambda match: f"\\U{ord(match[0]):08x}", quoted)
