"""Selections of operators, in ExecuTorch's own file format: selected_operators.yaml."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import yaml

from codegen import memory, suggest, yaml_reader
from codegen.errors import CodegenError, Finding
from codegen.kernel_keys import DEFAULT

# `debug_info` and the build's features, classes and tags are PyTorch's own; ExecuTorch makes no use of them.
_KEYS = frozenset(
    {
        "build_features",
        "custom_classes",
        "debug_info",
        "et_kernel_metadata",
        "include_all_non_op_selectives",
        "include_all_operators",
        "kernel_metadata",
        "operators",
    }
)
_OPERATOR_KEYS = frozenset({"debug_info", "include_all_overloads", "is_root_operator", "is_used_for_training", "name"})
_T = TypeVar("_T", bound=yaml_reader.Node)


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
    """Writes a selection; equal selections give equal bytes."""
    operators = sorted(selection.operators.items())
    content = {
        "build_features": [],
        "custom_classes": [],
        "et_kernel_metadata": {name: sorted(operator.kernel_keys) for name, operator in operators},
        "include_all_non_op_selectives": False,
        "include_all_operators": selection.include_all,
        "kernel_metadata": {},
        "operators": {
            name: {
                "debug_info": sorted(operator.asked_by),
                "include_all_overloads": operator.all_overloads,
                "is_root_operator": operator.is_root,
                "is_used_for_training": operator.is_used_for_training,
            }
            for name, operator in operators
        },
    }
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    Path(path).write_text(yaml.dump(content, Dumper=dumper, default_flow_style=False))


@memory.by_content
def read(path: str) -> Selection:
    """Reads a selection that this module or ExecuTorch's gen_oplist wrote.

    Raises:
        CodegenError: the file is not a selection.
    """
    root = yaml_reader.read(path)
    if root is None:
        raise _not_a_selection(path, "the file is empty")
    fields = _fields(root, "the file", _KEYS)
    operators: dict[str, SelectedOperator] = {}
    if "operators" in fields:
        has_metadata = "et_kernel_metadata" in fields
        metadata = _mapping(fields["et_kernel_metadata"], "et_kernel_metadata") if has_metadata else {}
        for name, node in _mapping(fields["operators"], "operators").items():
            keys = _fields(node, name, _OPERATOR_KEYS)
            operators[name] = SelectedOperator(
                asked_by=_strings(keys["debug_info"], "debug_info") if "debug_info" in keys else frozenset(),
                all_overloads=_bool(keys, "include_all_overloads", default=True),
                kernel_keys=_strings(metadata[name], name) if name in metadata else frozenset({DEFAULT}),
                is_root=_bool(keys, "is_root_operator", default=True),
                is_used_for_training=_bool(keys, "is_used_for_training", default=True),
            )
    return Selection(operators, _bool(fields, "include_all_operators", default=False))


def _fields(node: yaml_reader.Node, what: str, known: frozenset[str]) -> dict[str, yaml_reader.Node]:
    mapping = _expect(node, yaml_reader.Mapping, what, "a mapping")
    for key, location in mapping.key_locations.items():
        if key not in known:
            raise _not_a_selection(location, f"unknown key '{key}'{suggest.did_you_mean(suggest.nearest(key, known))}")
    return mapping.entries


def _mapping(node: yaml_reader.Node, what: str) -> dict[str, yaml_reader.Node]:
    return _expect(node, yaml_reader.Mapping, f"'{what}'", "a mapping").entries


def _strings(node: yaml_reader.Node, what: str) -> frozenset[str]:
    items = _expect(node, yaml_reader.Sequence, f"'{what}'", "a list").items
    scalars = [_expect(item, yaml_reader.Scalar, f"an item of '{what}'", "text") for item in items]
    return frozenset(scalar.text for scalar in scalars if scalar.tag != "null")


def _bool(fields: Mapping[str, yaml_reader.Node], key: str, default: bool) -> bool:
    if key not in fields:
        return default
    scalar = _expect(fields[key], yaml_reader.Scalar, f"'{key}'", "true or false")
    if scalar.tag != "bool":
        raise _not_a_selection(scalar.location, f"'{key}' is {yaml_reader.kind(scalar)}, not true or false")
    return scalar.text.lower() in ("true", "yes", "on")


def _expect(node: yaml_reader.Node, type_: type[_T], what: str, expected: str) -> _T:
    if not isinstance(node, type_):
        raise _not_a_selection(node.location, f"{what} is {yaml_reader.kind(node)}, not {expected}")
    return node


def _not_a_selection(where: object, found: str) -> CodegenError:
    return CodegenError(
        Finding(
            id="not-a-selection",
            where=str(where),
            found=f"not a selection of operators: {found}",
            cause="the file was written by hand, or is another YAML file",
            fix="use a file that 'codegen select' or ExecuTorch's gen_oplist writes",
        )
    )
