"""Generates the C++ that registers the selected operators' kernels, and the headers that declare them.

    codegen generate --label //ops:lib --functions_yaml functions.yaml --selection selected_operators.yaml \\
        --registration RegisterKernels.cpp --native_functions NativeFunctions.h --functions Functions.h \\
        --manifest registered.json

Reads no kernels, so that it can run beside their compilation; `codegen bind` compares the two.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path

from absl import flags

from codegen.artifacts import registered_operators
from codegen.checks import missing
from codegen.commands import command_line
from codegen.cpp import emit, kernel_sources
from codegen.inputs import functions_yaml, selected_operators
from codegen.model import aten_kernels, kernel_keys, prim_ops, selection
from codegen.model.operators import Operator
from diagnostics.errors import Finding, InputError

FLAGS = command_line.flag_values()

_LABEL = flags.DEFINE_string("label", None, "The library's label.", required=True, flag_values=FLAGS)
_FUNCTIONS_YAML = flags.DEFINE_string(
    "functions_yaml", None, "The kernels of PyTorch's own operators, functions.yaml.", flag_values=FLAGS
)
_CUSTOM_OPS_YAML = flags.DEFINE_string(
    "custom_ops_yaml", None, "The schemas and kernels of custom operators, custom_ops.yaml.", flag_values=FLAGS
)
_DECLARED_OPERATORS = flags.DEFINE_multi_string(
    "declared_operators", [], "The operators that C++ declares, of 'codegen collect'.", flag_values=FLAGS
)
_SELECTIONS = flags.DEFINE_multi_string(
    "selection", None, "A selected_operators.yaml; several are united.", required=True, flag_values=FLAGS
)
_FALLBACK_YAML = flags.DEFINE_string(
    "fallback_yaml", None, "The kernels of the operators that --functions_yaml does not have.", flag_values=FLAGS
)
_ATEN_KERNELS = flags.DEFINE_bool(
    "aten_kernels", False, "Takes PyTorch's own kernels for the operators that no YAML has.", flag_values=FLAGS
)
_ATEN_CUSTOM_OPS_YAML = flags.DEFINE_string(
    "aten_custom_ops_yaml", None, "As --custom_ops_yaml, of kernels that take at::Tensor.", flag_values=FLAGS
)
_ATEN_FALLBACK_YAML = flags.DEFINE_string(
    "aten_fallback_yaml",
    None,
    "As --aten_custom_ops_yaml, for the operators that no other YAML has.",
    flag_values=FLAGS,
)
_SUPPORT_EXCEPTIONS = flags.DEFINE_bool(
    "support_exceptions", True, "Turns what a kernel throws into the failure of its call.", flag_values=FLAGS
)
_BOXED_KERNELS = flags.DEFINE_string(
    "boxed_kernels",
    None,
    "The directory to write the sources that call the kernels to.",
    required=True,
    flag_values=FLAGS,
)
_KERNEL_TABLE = flags.DEFINE_string(
    "kernel_table", None, "Where to write the source with the table of the kernels.", required=True, flag_values=FLAGS
)
_REGISTRATION_HEADER = flags.DEFINE_string(
    "registration_header",
    None,
    "Where to write the header of a function that registers the kernels; without it, they register themselves.",
    flag_values=FLAGS,
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
_ATEN_SOURCE = flags.DEFINE_string(
    "aten_source",
    None,
    "Where to write the source that calls the kernels that take at::Tensor.",
    flag_values=FLAGS,
)
_MANIFEST = flags.DEFINE_string(
    "manifest", None, "Where to write which operators are registered, as JSON.", required=True, flag_values=FLAGS
)


def run() -> None:
    flags_with_yaml = (_FUNCTIONS_YAML, _FALLBACK_YAML, _CUSTOM_OPS_YAML, _ATEN_CUSTOM_OPS_YAML)
    yaml_paths = [flag.value for flag in flags_with_yaml if flag.value is not None] + _DECLARED_OPERATORS.value
    if not yaml_paths and not _ATEN_KERNELS.value:
        raise InputError(
            Finding(
                id="no-yaml",
                where=_LABEL.value,
                found="neither --functions_yaml nor --custom_ops_yaml is given",
                cause="the target names no YAML file",
                fix="give at least one of the two",
            )
        )
    provided = functions_yaml.read(
        _FUNCTIONS_YAML.value,
        _CUSTOM_OPS_YAML.value,
        _FALLBACK_YAML.value,
        aten_custom_ops_yaml=_ATEN_CUSTOM_OPS_YAML.value,
        aten_fallback_yaml=_ATEN_FALLBACK_YAML.value,
        declarations=_DECLARED_OPERATORS.value,
    )
    wanted = selection.unite([selected_operators.read(path) for path in _SELECTIONS.value])
    yaml_names = tuple(Path(path).name for path in yaml_paths)
    if _ATEN_KERNELS.value:
        provided = aten_kernels.WithAtenKernels(provided)
        yaml_names += (aten_kernels.PROVIDER,)
    operators = _select(wanted, provided, " or ".join(yaml_names))
    source = emit.Source(_LABEL.value, yaml_names)
    header = Path(_NATIVE_FUNCTIONS.value).name
    kernels = emit.boxed_kernels(operators)
    taking_aten = [kernel for kernel in kernels if kernel.takes_aten_tensors]
    lean = [kernel for kernel in kernels if kernel not in taking_aten]
    kernel_sources.write(source, lean, _BOXED_KERNELS.value, _NATIVE_FUNCTIONS.value)
    if _ATEN_SOURCE.value is not None:
        Path(_ATEN_SOURCE.value).write_text(emit.boxed_aten(source, taking_aten))
    Path(_KERNEL_TABLE.value).write_text(
        emit.kernel_table(source, kernels, _REGISTRATION_HEADER.value is not None, _SUPPORT_EXCEPTIONS.value)
    )
    if _REGISTRATION_HEADER.value is not None:
        registration_header = Path(_REGISTRATION_HEADER.value)
        registration_header.write_text(emit.registration_header(source))
        Path(_REGISTRATION.value).write_text(emit.manual_registration(source, kernels, registration_header.name))
    else:
        Path(_REGISTRATION.value).write_text(emit.registration(source, kernels))
    Path(_NATIVE_FUNCTIONS.value).write_text(emit.native_functions(source, operators))
    Path(_FUNCTIONS.value).write_text(emit.functions(source, operators, header))
    registered_operators.write(
        registered_operators.Library(_LABEL.value, yaml_names, tuple(operators)), _MANIFEST.value
    )


def _select(wanted: selection.Selection, provided: Mapping[str, Operator], providers: str) -> list[Operator]:
    """The provided operators that are wanted, sorted by name.

    Raises:
        InputError: names every operator that is wanted and not provided.
    """
    selected = set(provided) if wanted.include_all else set()
    # Those of which only some kernels may be wanted.
    by_key = set(wanted.operators) - selected
    findings: list[Finding] = []
    for name, operator in sorted(wanted.operators.items()):
        if name in prim_ops.PRIM_OPS or not operator.is_root:
            continue
        names = [name] if name in provided else []
        if operator.all_overloads and "." not in name:
            names = [candidate for candidate in provided if candidate.partition(".")[0] == name]
            by_key.difference_update(names)
        if not names:
            findings.append(
                (_ATEN_KERNELS.value and aten_kernels.no_out_variant(name, sorted(operator.asked_by), _LABEL.value))
                or missing.operator(
                    name,
                    asked_by=operator.asked_by,
                    provided=provided,
                    providers=providers,
                    where=_LABEL.value,
                    fix="correct the name where it is selected, or add the operator with its kernel to the YAML",
                )
            )
        selected.update(names)
    operators = []
    for name in sorted(selected):
        whole = provided[name]
        operators.append(_select_kernels(whole, wanted.operators[name], findings) if name in by_key else whole)
    if findings:
        raise InputError(findings)
    return operators


def _select_kernels(operator: Operator, wanted: selection.SelectedOperator, findings: list[Finding]) -> Operator:
    """The operator with the kernels that calls of the wanted dtypes and dim orders reach."""
    declared = [key for kernel in operator.kernels for key in kernel.keys]
    calls = set(filter(kernel_keys.is_call, wanted.kernel_keys))
    unmatched = missing.unmatched_keys(declared, calls)
    # Those that are wanted in whatever call; None for all.
    dtypes = kernel_keys.dtypes(wanted.kernel_keys - calls) if wanted.kernel_keys - calls else frozenset[int]()

    def is_reached(key: str) -> bool:
        if dtypes is None:
            return True
        if key == kernel_keys.DEFAULT:
            return bool(unmatched or dtypes)
        return key in calls or not dtypes.isdisjoint(kernel_keys.dtypes([key]) or ())

    kernels = [dataclasses.replace(kernel, keys=tuple(filter(is_reached, kernel.keys))) for kernel in operator.kernels]
    reached = tuple(kernel for kernel in kernels if kernel.keys)
    if operator.default is None and (unmatched or not reached):
        needed = unmatched or sorted(wanted.kernel_keys)
        findings.append(missing.kernel(operator.name, needed, declared, wanted.asked_by, operator.location))
    return dataclasses.replace(operator, kernels=reached)
