"""Unites lists of operators, the operators that models call, and other selections into one selected_operators.yaml.

    codegen select --output selected_operators.yaml --ops aten::add.out --model model.pte --model_name //models:model

The same operators give the same bytes, in any order and from any sources.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TypeVar

from absl import flags

from codegen.artifacts import op_matrix
from codegen.commands import define, shared_flags
from codegen.cpp import prim_ops_header
from codegen.inputs import functions_yaml, program_reader, selected_operators
from codegen.model import kernel_keys, schema, selection
from diagnostics import suggest
from diagnostics.errors import Finding, InputError

FLAGS = shared_flags.flag_values()
_T = TypeVar("_T")

_OUTPUT = shared_flags.output(FLAGS, "the selection")
_LABEL = flags.DEFINE_string(
    "label", "--ops", "Who asks for the operators of --ops and --ops_dict, for errors.", flag_values=FLAGS
)
_OPS = define.several(FLAGS, "ops", "An operator's full name, such as aten::add.out.")
_OPS_DICT = flags.DEFINE_string(
    "ops_dict",
    "{}",
    'Operators with dtypes and kernel keys, as JSON: {"aten::add.out": ["Float", "v1/3;0|3;0|3;0|3;0"]}; an empty list '
    "stands for every dtype.",
    flag_values=FLAGS,
)
_MODELS = define.several(FLAGS, "model", "An ExecuTorch program (.pte), or a bundled one, to select for.")
_MODEL_NAMES = define.several(
    FLAGS, "model_name", "What to call a model in errors, such as its label; one for each --model, in order."
)
_OPS_SCHEMA_YAML = define.optional(
    FLAGS, "ops_schema_yaml", "A functions.yaml or custom_ops.yaml all of whose operators to select."
)
_OPS_SCHEMA_YAML_NAME = flags.DEFINE_string(
    "ops_schema_yaml_name", "--ops_schema_yaml", "Who asks for the operators of that file.", flag_values=FLAGS
)
_SERVER_GENERATED_YAML = define.optional(
    FLAGS, "server_generated_yaml", "A whole selected_operators.yaml to check and to copy."
)
_SERVER_GENERATED_YAML_NAME = flags.DEFINE_string(
    "server_generated_yaml_name",
    "--server_generated_yaml",
    "Who asks for the operators of that file.",
    flag_values=FLAGS,
)
_SELECTIONS = shared_flags.selections(FLAGS)
_INCLUDE_ALL = flags.DEFINE_bool(
    "include_all_operators", False, "Selects every operator that the library's YAML files provide.", flag_values=FLAGS
)
_MATRICES = define.several(FLAGS, "matrix", "The op_matrix.json of a --selection, to unite.")
_MATRIX_JSON = define.optional(FLAGS, "matrix_json", "Where to write who asks for which operators, as JSON.")
_MATRIX_TEXT = define.optional(FLAGS, "matrix_text", "Where to write who asks for which operators, as a table.")
_PRIM_OPS_HEADER = define.optional(
    FLAGS, "prim_ops_header", "Where to write selected_prim_ops.h, for a runtime built from source."
)
_EXCLUSIVE = ("include_all_operators", "model", "ops", "ops_dict", "ops_schema_yaml", "selection")


def run() -> None:
    _check_flags()
    sources: list[Callable[[], op_matrix.Matrix]] = []
    if _OPS.value or _OPS_DICT.present or _INCLUDE_ALL.value:
        sources.append(_listed)
    for path, name in zip(_MODELS.value, _MODEL_NAMES.value, strict=True):
        sources.append(functools.partial(_of_model, path, name))
    if _OPS_SCHEMA_YAML.value is not None:
        sources.append(functools.partial(_of_ops_schema_yaml, _OPS_SCHEMA_YAML.value, _OPS_SCHEMA_YAML_NAME.value))
    server_generated = _SERVER_GENERATED_YAML.value
    if server_generated is not None:
        sources.append(lambda: {_SERVER_GENERATED_YAML_NAME.value: selected_operators.read(server_generated)})

    findings: list[Finding] = []
    own = op_matrix.unite(*_read_all(sources, findings))
    others = _read_all([functools.partial(selected_operators.read, path) for path in _SELECTIONS.value], findings)
    matrices = _read_all([functools.partial(op_matrix.read, path) for path in _MATRICES.value], findings)
    if findings:
        raise InputError(findings)

    united = selection.unite([*own.values(), *others])
    if server_generated is not None:
        Path(_OUTPUT.value).write_bytes(Path(server_generated).read_bytes())
    else:
        selected_operators.write(united, _OUTPUT.value)
    matrix = op_matrix.unite(own, *matrices)
    if _MATRIX_JSON.value:
        op_matrix.write_json(matrix, _LABEL.value, _MATRIX_JSON.value)
    if _MATRIX_TEXT.value:
        op_matrix.write_text(matrix, _LABEL.value, _MATRIX_TEXT.value)
    if _PRIM_OPS_HEADER.value:
        prim_ops_header.write(united, _LABEL.value, _PRIM_OPS_HEADER.value)


def _read_all(readers: Iterable[Callable[[], _T]], findings: list[Finding]) -> list[_T]:
    """Returns the readers' results. Adds the findings of failed readers to `findings`, so that one run reports all."""
    results: list[_T] = []
    for read in readers:
        try:
            results.append(read())
        except InputError as error:
            findings += error.findings
    return results


def _check_flags() -> None:
    if len(_MODELS.value) != len(_MODEL_NAMES.value):
        raise InputError.of(
            id="wrong-flags",
            where="--model_name",
            found=f"{len(_MODELS.value)} models, but {len(_MODEL_NAMES.value)} names",
            cause="a --model is given without a --model_name",
            fix="give as many --model_name as --model, in the same order",
        )
    others = [f"--{name}" for name in _EXCLUSIVE if FLAGS[name].present]
    if _SERVER_GENERATED_YAML.value and others:
        raise InputError.of(
            id="wrong-flags",
            where=_SERVER_GENERATED_YAML_NAME.value,
            found=f"--server_generated_yaml beside {', '.join(others)}",
            cause="a server-generated selection is taken as it is, and united with nothing",
            fix="remove the others, or give the file as a --selection",
        )


def _listed() -> op_matrix.Matrix:
    """Returns the selection of --ops, --ops_dict and --include_all_operators."""
    findings = [finding for name in _OPS.value if (finding := _check_name(name))]
    wanted: dict[str, set[str]] = {}
    for name in _OPS.value:
        wanted.setdefault(name, set()).add(kernel_keys.DEFAULT)
    for name, values in _ops_dict().items():
        finding = _check_name(name)
        if finding:
            findings.append(finding)
        keys = wanted.setdefault(name, set())
        for value in values:
            key = _kernel_key(value)
            if key is None:
                findings.append(_bad_kernel(name, value))
            else:
                keys.add(key)
        if not values:
            keys.add(kernel_keys.DEFAULT)
    if findings:
        raise InputError(findings)
    listed = selection.of(wanted, _LABEL.value)
    return {_LABEL.value: selection.Selection(listed.operators, _INCLUDE_ALL.value)}


def _ops_dict() -> Mapping[str, list[str]]:
    problem = "it is not a JSON object of lists of text"
    try:
        content = json.loads(_OPS_DICT.value)
        if isinstance(content, dict) and all(
            isinstance(values, list) and all(isinstance(value, str) for value in values) for values in content.values()
        ):
            return content
    except (ValueError, RecursionError) as error:
        problem = str(error)
    raise InputError.of(
        id="wrong-flags",
        where=_LABEL.value,
        found=f"--ops_dict cannot be read: {problem}",
        cause="the JSON was written by hand, or a shell took its quotes",
        fix="""write it as '{"aten::add.out": ["Float"]}'""",
    )


def _kernel_key(value: str) -> str | None:
    """Returns the kernel key for a dtype's name or a key; None if the value is neither."""
    if value == kernel_keys.DEFAULT or kernel_keys.parse(value) is not None:
        return value
    dtype = kernel_keys.find_dtype(value)
    return None if dtype is None else kernel_keys.of_dtype(dtype)


def _bad_kernel(name: str, value: str) -> Finding:
    near = kernel_keys.nearest_dtypes(value)
    is_key = value.strip().startswith("v1")
    what = "no kernel key" if is_key else "no dtype"
    return Finding(
        id="bad-ops-dict",
        where=_LABEL.value,
        found=f"'{value}', wanted for {name}, is {what}{suggest.did_you_mean(near)}",
        cause="a key says more or less than the runtime's own: v1/, and dtype;dim,dim for each tensor, | between them"
        if is_key
        else "a typo, or a dtype that ExecuTorch's runtime does not have",
        fix='write it as "v1/6;0,1|6;0,1", with a number of the runtime\'s ScalarType and an order of all dimensions'
        if is_key
        else "take it from the ScalarType of @rules_executorch//rules:defs.bzl, such as ScalarType.Float",
    )


def _of_model(path: str, name: str) -> op_matrix.Matrix:
    calls = program_reader.read(path, name).calls
    return {name: selection.of({operator: found.selected for operator, found in calls.items()}, name)}


def _of_ops_schema_yaml(path: str, name: str) -> op_matrix.Matrix:
    return {name: selection.of({operator: [kernel_keys.DEFAULT] for operator in functions_yaml.names(path)}, name)}


def _check_name(name: str) -> Finding | None:
    """Returns the finding for a malformed operator name. `codegen generate` checks whether the operator exists."""
    parsed = schema.parse_operator_name(name)
    if parsed and str(parsed) == name:
        return None
    return Finding(
        id="bad-operator-name",
        where=_LABEL.value,
        found=f"'{name}' is not an operator's full name" + (f"; did you mean {parsed}?" if parsed else ""),
        cause="the namespace was forgotten" if parsed else "a typo, or several names in one",
        fix="write it as namespace::name.overload, such as aten::add.out",
    )
