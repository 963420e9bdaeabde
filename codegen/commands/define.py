"""Generates the C++ that defines custom operators in PyTorch, with the same kernels.

    codegen define --label //ops:custom_ops_lib --custom_ops_yaml custom_ops.yaml --boxed_kernels boxed_kernels \\
        --kernel_table KernelTable.cpp --native_functions NativeFunctions.h --torch_operators TorchOperators.cpp \\
        --manifest registered.json --library libcustom_ops_lib.so --module custom_ops_lib.py \\
        --torch_manifest custom_ops_lib.torch.json

Takes all operators: those that a model may need are known before the model is. `codegen bind` finds their kernels.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from absl import flags

from codegen.artifacts import registered_operators, torch_manifest
from codegen.commands import command_line
from codegen.cpp import emit, kernel_sources
from codegen.inputs import functions_yaml
from codegen.model import torch_schemas
from codegen.model.operators import Operator
from codegen.model.torch_library import FRAGMENT, TorchLibrary, TorchRegistration
from codegen.python import torch_loader
from diagnostics.errors import Finding, InputError, Location

FLAGS = command_line.flag_values()

_LABEL = flags.DEFINE_string("label", None, "The library's label.", required=True, flag_values=FLAGS)
_CUSTOM_OPS_YAML = flags.DEFINE_string(
    "custom_ops_yaml", None, "The schemas and kernels of the operators.", flag_values=FLAGS
)
_ATEN_CUSTOM_OPS_YAML = flags.DEFINE_string(
    "aten_custom_ops_yaml", None, "As --custom_ops_yaml, of kernels that take at::Tensor.", flag_values=FLAGS
)
_STUBS = flags.DEFINE_bool("stubs", False, "Defines operators without kernels.", flag_values=FLAGS)
_DECLARED_OPERATORS = flags.DEFINE_multi_string(
    "declared_operators", [], "The operators that C++ declares, of 'codegen collect'.", flag_values=FLAGS
)
_BOXED_KERNELS = flags.DEFINE_string(
    "boxed_kernels",
    None,
    "The directory to write the sources that call the kernels to.",
    required=True,
    flag_values=FLAGS,
)
_ATEN_SOURCE = flags.DEFINE_string(
    "aten_source",
    None,
    "Where to write the source that calls the kernels that take at::Tensor.",
    flag_values=FLAGS,
)
_KERNEL_TABLE = flags.DEFINE_string(
    "kernel_table", None, "Where to write the source with the table of the kernels.", required=True, flag_values=FLAGS
)
_NATIVE_FUNCTIONS = flags.DEFINE_string(
    "native_functions", None, "Where to write the header that declares the kernels.", required=True, flag_values=FLAGS
)
_TORCH_OPERATORS = flags.DEFINE_string(
    "torch_operators", None, "Where to write the source that defines the operators.", required=True, flag_values=FLAGS
)
_MANIFEST = flags.DEFINE_string(
    "manifest", None, "Where to write the operators and their kernels, as JSON.", required=True, flag_values=FLAGS
)
_LIBRARY = flags.DEFINE_string("library", None, "The name of the library's file.", required=True, flag_values=FLAGS)
_MODULE = flags.DEFINE_string(
    "module", None, "Where to write the Python module that loads the library.", required=True, flag_values=FLAGS
)
_TORCH_MANIFEST = flags.DEFINE_string(
    "torch_manifest", None, "Where to write what is registered with PyTorch, as JSON.", required=True, flag_values=FLAGS
)


def run() -> None:
    provided = functions_yaml.read(
        None,
        _CUSTOM_OPS_YAML.value,
        aten_custom_ops_yaml=_ATEN_CUSTOM_OPS_YAML.value,
        declarations=_DECLARED_OPERATORS.value,
    )
    operators = sorted(
        (o for o in provided.values() if o.schema.name.namespace not in torch_schemas.RESERVED_NAMESPACES),
        key=lambda operator: operator.name,
    )
    if not operators:
        raise InputError(_nothing(list(provided.values())))
    yaml_paths = [
        path
        for path in (_CUSTOM_OPS_YAML.value, _ATEN_CUSTOM_OPS_YAML.value, *_DECLARED_OPERATORS.value)
        if path is not None
    ]
    source = emit.Source(_LABEL.value, tuple(Path(path).name for path in yaml_paths))
    kernels = [] if _STUBS.value else emit.boxed_kernels(operators)
    taking_aten = [kernel for kernel in kernels if kernel.takes_aten_tensors]
    lean = [kernel for kernel in kernels if kernel not in taking_aten]
    kernel_sources.write(source, lean, _BOXED_KERNELS.value, _NATIVE_FUNCTIONS.value)
    if _ATEN_SOURCE.value is not None:
        Path(_ATEN_SOURCE.value).write_text(emit.boxed_aten(source, taking_aten))
    Path(_KERNEL_TABLE.value).write_text(emit.kernel_table(source, kernels, manual=False, exception_boundary=False))
    Path(_NATIVE_FUNCTIONS.value).write_text(emit.native_functions(source, operators))
    Path(_TORCH_OPERATORS.value).write_text(emit.torch_operators(source, operators))
    registered_operators.write(
        registered_operators.Library(_LABEL.value, source.yaml_names, tuple(operators)), _MANIFEST.value
    )
    first_of: dict[str, Location] = {}
    for operator in operators:
        first_of.setdefault(operator.schema.name.namespace, operator.location)
    if taking_aten:
        first_of[source.namespace] = taking_aten[0].operator.location
    registrations = tuple(TorchRegistration(FRAGMENT, ns, location=location) for ns, location in first_of.items())
    registered = TorchLibrary(_LABEL.value, registrations)
    torch_manifest.write(registered, _TORCH_MANIFEST.value)
    torch_loader.write(_MODULE.value, _LIBRARY.value, registered)


def _nothing(provided: Sequence[Operator]) -> Finding:
    if not provided:
        return Finding(
            id="nothing-to-define",
            where=_LABEL.value,
            found="the library has no operators: neither a YAML is given, nor do its kernels declare any",
            cause="yaml_target was left out, or declares_operators = True in the et_kernel_library",
            fix="give one of the two",
        )
    return Finding(
        id="nothing-to-define",
        where=provided[0].location,
        found=f"{provided[0].name} is in the namespace {provided[0].schema.name.namespace}, and all operators of "
        f"{_LABEL.value} are in such a one, so that it has none to define",
        cause="PyTorch defines the operators of this namespace itself",
        fix="give your own operators a namespace of your own; those of PyTorch need no library",
    )
