"""selected_operators.yaml, ExecuTorch's own format for selections of operators."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

from codegen.cache import content_cache
from codegen.inputs import yaml_reader
from codegen.model.kernel_keys import DEFAULT
from codegen.model.selection import SelectedOperator, Selection
from diagnostics import suggest
from diagnostics.errors import InputError

# Only PyTorch uses `debug_info` and the build's features, classes and tags. ExecuTorch ignores them.
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
# Labels, operator names and kernel keys that need no quotes: YAML does not read them as a number, a bool or null.
_PLAIN = re.compile(r"default|debug_info|[A-Za-z_/](?=.*(?:::|/))[\w:./;,|+-]*[\w/;]", re.ASCII)
_T = TypeVar("_T", bound=yaml_reader.Node)


@content_cache.by_content
def read(path: str) -> Selection:
    """Reads a selection that `write` or ExecuTorch's gen_oplist wrote.

    Raises:
        InputError: the file is not a valid selection.
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


def _not_a_selection(where: object, found: str) -> InputError:
    return InputError.of(
        id="not-a-selection",
        where=str(where),
        found=f"not a selection of operators: {found}",
        cause="the file was written by hand, or is another YAML file",
        fix="use a file that 'codegen select' or ExecuTorch's gen_oplist writes",
    )


def write(selection: Selection, path: str) -> None:
    """Writes a selection. Equal selections give equal bytes.

    PyYAML is not used, since it would take longer than the rest of the selection for a model.
    """
    metadata = [_sequence("  ", name, selection.operators[name].kernel_keys) for name in sorted(selection.operators)]
    operators = [_operator(name, selection.operators[name]) for name in sorted(selection.operators)]
    Path(path).write_text(
        "build_features: []\ncustom_classes: []\n"
        f"{_mapping_text('et_kernel_metadata', metadata)}"
        "include_all_non_op_selectives: false\n"
        f"include_all_operators: {_bool_text(selection.include_all)}\n"
        "kernel_metadata: {}\n"
        f"{_mapping_text('operators', operators)}"
    )


def _operator(name: str, operator: SelectedOperator) -> str:
    return (
        f"  {_scalar(name)}:\n"
        f"{_sequence('    ', 'debug_info', operator.asked_by)}"
        f"    include_all_overloads: {_bool_text(operator.all_overloads)}\n"
        f"    is_root_operator: {_bool_text(operator.is_root)}\n"
        f"    is_used_for_training: {_bool_text(operator.is_used_for_training)}\n"
    )


def _mapping_text(key: str, entries: list[str]) -> str:
    content = "".join(entries)
    return f"{key}:\n{content}" if entries else f"{key}: {{}}\n"


def _sequence(indent: str, key: str, texts: frozenset[str]) -> str:
    items = "".join(f"{indent}- {_scalar(text)}\n" for text in sorted(texts))
    return f"{indent}{_scalar(key)}:\n{items}" if texts else f"{indent}{_scalar(key)}: []\n"


def _bool_text(value: bool) -> str:
    return "true" if value else "false"


@functools.cache
def _scalar(text: str) -> str:
    """Returns a text as YAML, in quotes unless the text is safe without."""
    if _PLAIN.fullmatch(text):
        return text
    quoted = json.dumps(text, ensure_ascii=False)
    return re.sub(r"[^ -~]", lambda match: f"\\U{ord(match[0]):08x}", quoted)
