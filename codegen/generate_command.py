"""Generates the C++ that registers the selected operators' kernels, and the headers that declare them.

    codegen generate --label //ops:lib --functions_yaml functions.yaml --selection selected_operators.yaml \\
        --registration RegisterKernels.cpp --native_functions NativeFunctions.h --functions Functions.h \\
        --manifest registered.json

Reads no kernels, so that it can run beside their compilation; `codegen bind` compares the two.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from absl import flags

from codegen import command_line, emit, manifest, missing_operators, operator_table, prim_ops, selection
from codegen.errors import CodegenError, Finding
from codegen.operator_table import Operator

FLAGS = command_line.flag_values()

_LABEL = flags.DEFINE_string("label", None, "The library's label.", required=True, flag_values=FLAGS)
_FUNCTIONS_YAML = flags.DEFINE_string(
    "functions_yaml", None, "The kernels of PyTorch's own operators, functions.yaml.", flag_values=FLAGS
)
_CUSTOM_OPS_YAML = flags.DEFINE_string(
    "custom_ops_yaml", None, "The schemas and kernels of custom operators, custom_ops.yaml.", flag_values=FLAGS
)
_SELECTIONS = flags.DEFINE_multi_string(
    "selection", None, "A selected_operators.yaml; several are united.", required=True, flag_values=FLAGS
)
_REGISTRATION = flags.DEFINE_string(
    "registration", None, "Where to write the source that registers the kernels.", required=True, flag_values=FLAGS
)
_NATIVE_FUNCTIONS = flags.DEFINE_string(
    "native_functions", None, "Where to write the header that declares the kernels.", required=True, flag_values=FLAGS
)
_FUNCTIONS = flags.DEFINE_string(
    "functions",
    None,
    "Where to write the header with the operators as C++ functions.",
    required=True,
    flag_values=FLAGS,
)
_MANIFEST = flags.DEFINE_string(
    "manifest", None, "Where to write which operators are registered, as JSON.", required=True, flag_values=FLAGS
)


def run() -> None:
    yaml_paths = [path for path in (_FUNCTIONS_YAML.value, _CUSTOM_OPS_YAML.value) if path is not None]
    if not yaml_paths:
        raise CodegenError(
            Finding(
                id="no-yaml",
                where=_LABEL.value,
                found="neither --functions_yaml nor --custom_ops_yaml is given",
                cause="the target names no YAML file",
                fix="give at least one of the two",
            )
        )
    provided = operator_table.read(_FUNCTIONS_YAML.value, _CUSTOM_OPS_YAML.value)
    wanted = selection.unite([selection.read(path) for path in _SELECTIONS.value])
    yaml_names = tuple(Path(path).name for path in yaml_paths)
    operators = _select(wanted, provided, " or ".join(yaml_names))
    source = emit.Source(_LABEL.value, yaml_names)
    header = Path(_NATIVE_FUNCTIONS.value).name
    Path(_REGISTRATION.value).write_text(emit.registration(source, operators, header))
    Path(_NATIVE_FUNCTIONS.value).write_text(emit.native_functions(source, operators))
    Path(_FUNCTIONS.value).write_text(emit.functions(source, operators, header))
    manifest.write(manifest.Manifest(_LABEL.value, yaml_names, tuple(operators)), _MANIFEST.value)


def _select(wanted: selection.Selection, provided: Mapping[str, Operator], providers: str) -> list[Operator]:
    """The provided operators that are wanted, sorted by name.

    Raises:
        CodegenError: names every operator that is wanted and not provided.
    """
    selected = set(provided) if wanted.include_all else set()
    findings: list[Finding] = []
    for name, operator in sorted(wanted.operators.items()):
        if name in prim_ops.PRIM_OPS or not operator.is_root:
            continue
        names = [name] if name in provided else []
        if operator.all_overloads and "." not in name:
            names = [candidate for candidate in provided if candidate.partition(".")[0] == name]
        if not names:
            findings.append(
                missing_operators.finding(
                    name,
                    asked_by=operator.asked_by,
                    provided=provided,
                    providers=providers,
                    where=_LABEL.value,
                    fix="correct the name where it is selected, or add the operator with its kernel to the YAML",
                )
            )
        selected.update(names)
    if findings:
        raise CodegenError(findings)
    return [provided[name] for name in sorted(selected)]
