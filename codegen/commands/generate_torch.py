"""Generates the C++ that defines operators in PyTorch, from YAML files: those of a selection, or all.

    codegen generate_torch --label //ops:custom_ops_lib --custom_ops_yaml custom_ops.yaml \\
        --max_kernels 2000 --boxed_kernels boxed_kernels --kernel_table KernelTable.cpp \\
        --native_functions NativeFunctions.h --torch_operators TorchOperators.cpp --manifest registered.json \\
        --library libcustom_ops_lib.so --module custom_ops_lib.py --torch_manifest custom_ops_lib.torch.json

Operators that PyTorch defines are left out. The command does not read kernels, so it can run in parallel to their
compilation. `codegen bind` checks the kernels.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path

from absl import flags

from codegen.artifacts import torch_manifest
from codegen.checks import provided
from codegen.commands import define, generation, shared_flags
from codegen.cpp import kernel_table, torch_operators
from codegen.model import selection, torch_schemas
from codegen.model.operators import Operator
from codegen.model.torch_library import FRAGMENT, TorchLibrary, TorchRegistration
from codegen.python import torch_loader
from diagnostics.errors import InputError, Location

FLAGS = shared_flags.flag_values()

_COMMON = generation.Flags(FLAGS)
_STUBS = flags.DEFINE_bool("stubs", False, "Defines operators without kernels.", flag_values=FLAGS)
_FUNCTIONAL_VARIANTS = flags.DEFINE_bool(
    "functional_variants", True, "Defines an out variant without its out arguments, too.", flag_values=FLAGS
)
_TORCH_OPERATORS = define.required(FLAGS, "torch_operators", "Where to write the source that defines the operators.")
_LIBRARY = define.required(FLAGS, "library", "The name of the library's file.")
_MODULE = define.required(FLAGS, "module", "Where to write the Python module that loads the library.")
_TORCH_MANIFEST = define.required(FLAGS, "torch_manifest", "Where to write what is registered with PyTorch, as JSON.")


def run() -> None:
    inputs, outputs = _COMMON.inputs(), _COMMON.outputs()
    operators = _chosen(inputs)
    source = inputs.source(operators, inputs.files)
    calls = generation.write_calls(source, operators, outputs, stubs=_STUBS.value)
    outputs.kernel_table.write_text(
        kernel_table.text(source, calls.all, calls.of_table, outputs.native_functions.name, exception_boundary=False)
    )
    Path(_TORCH_OPERATORS.value).write_text(
        torch_operators.text(source, operators, functional_variants=_FUNCTIONAL_VARIANTS.value)
    )
    first_of: dict[str, Location] = {}
    for operator in operators:
        first_of.setdefault(operator.schema.name.namespace, operator.location)
    if calls.taking_aten:
        first_of[source.namespace] = calls.taking_aten[0].operator.location
    registrations = tuple(TorchRegistration(FRAGMENT, ns, location=location) for ns, location in first_of.items())
    library = TorchLibrary(inputs.label, registrations)
    torch_manifest.write(library, _TORCH_MANIFEST.value)
    torch_loader.write(_MODULE.value, _LIBRARY.value, library)


def _chosen(inputs: generation.Inputs) -> list[Operator]:
    """Returns the selected operators, or all without a selection, that PyTorch does not define itself."""
    wanted = inputs.wanted()
    given = inputs.given(wanted)
    if inputs.selections:
        operators = provided.select(_among(wanted, given), given, " or ".join(inputs.files), inputs.label)
    else:
        operators = sorted(given.values(), key=lambda operator: operator.name)
    return _definable(inputs.label, operators, is_selected=bool(inputs.selections))


def _among(wanted: selection.Selection, given: Mapping[str, Operator]) -> selection.Selection:
    """Returns the selected operators that are given. Other libraries define the other operators of a program."""
    bases = {name.partition(".")[0] for name in given}
    return dataclasses.replace(
        wanted,
        operators={
            name: operator
            for name, operator in wanted.operators.items()
            if name in given or (operator.all_overloads and name in bases)
        },
    )


def _definable(label: str, operators: Sequence[Operator], *, is_selected: bool) -> list[Operator]:
    """Returns the operators that PyTorch does not define itself.

    Raises:
        InputError: there are no such operators.
    """
    definable = [o for o in operators if o.schema.name.namespace not in torch_schemas.RESERVED_NAMESPACES]
    if definable:
        return definable
    if not operators and is_selected:
        raise InputError.of(
            id="nothing-to-define",
            where=label,
            found="none of the selected operators is one that the YAML or the kernels declare",
            cause="the selection in deps is that of another library, or has only operators of PyTorch",
            fix="select operators of the YAML, or leave the selection out to define all of them",
        )
    if not operators:
        raise InputError.of(
            id="nothing-to-define",
            where=label,
            found="the library has no operators: neither a YAML is given, nor do its kernels declare any",
            cause="custom_ops_yaml_target was left out, or declares_operators = True in the et_kernel_library",
            fix="give one of the two",
        )
    first = operators[0]
    raise InputError.of(
        id="nothing-to-define",
        where=first.location,
        found=f"all operators of {label} are in namespaces of PyTorch, such as {first.name}, so that the "
        "library has no operator to define",
        cause="PyTorch defines the operators of its namespaces itself",
        fix="give your own operators a namespace of your own; those of PyTorch need no library",
    )
