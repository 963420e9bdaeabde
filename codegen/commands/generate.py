"""Generates the C++ that registers operators with the runtime or defines them in PyTorch, from YAML files.

    codegen generate --label //ops:lib --functions_yaml functions.yaml --selection selected_operators.yaml \\
        --max_kernels 2000 --boxed_kernels boxed_kernels --kernel_table KernelTable.cpp \\
        --registration RegisterKernels.cpp --registered_names RegisteredNames.cpp \\
        --native_functions NativeFunctions.h --functions Functions.h --manifest registered.json

This command registers the kernels of the selected operators with ExecuTorch's runtime.

    codegen generate --target torch --label //ops:custom_ops_lib --custom_ops_yaml custom_ops.yaml \\
        --max_kernels 2000 --boxed_kernels boxed_kernels --kernel_table KernelTable.cpp \\
        --native_functions NativeFunctions.h --torch_operators TorchOperators.cpp --manifest registered.json \\
        --library libcustom_ops_lib.so --module custom_ops_lib.py --torch_manifest custom_ops_lib.torch.json

This command defines operators in PyTorch: those of a selection, or all. Operators that PyTorch defines are left out.

The command does not read kernels, so it can run in parallel to their compilation. `codegen bind` checks the kernels.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from absl import flags

from codegen.artifacts import registered_operators, torch_manifest
from codegen.checks import never_called, provided, registrations
from codegen.commands import shared_flags
from codegen.cpp import (
    aten_calls,
    boxed_calls,
    functions_header,
    kernel_table,
    native_functions_header,
    registration,
    torch_operators,
)
from codegen.cpp.boxed_kernel import BoxedKernel, boxed_kernels
from codegen.cpp.source import Source
from codegen.inputs import functions_yaml, selected_operators
from codegen.model import aten_kernels, selection, torch_schemas
from codegen.model.operators import Operator
from codegen.model.torch_library import FRAGMENT, TorchLibrary, TorchRegistration
from codegen.python import torch_loader
from diagnostics.errors import Finding, InputError, Location

FLAGS = shared_flags.flag_values()

_EXECUTORCH, _TORCH = "executorch", "torch"
_TARGET = flags.DEFINE_enum(
    "target", _EXECUTORCH, [_EXECUTORCH, _TORCH], "What gets the operators: the runtime or PyTorch.", flag_values=FLAGS
)
_LABEL = shared_flags.label(FLAGS, "the library")
_MAX_KERNELS = shared_flags.max_kernels(FLAGS)
_SELECTIONS = shared_flags.selections(FLAGS)

# Inputs with operators.
_FUNCTIONS_YAML = flags.DEFINE_string(
    "functions_yaml", None, "The kernels of PyTorch's own operators, functions.yaml.", flag_values=FLAGS
)
_CUSTOM_OPS_YAML = flags.DEFINE_string(
    "custom_ops_yaml", None, "The schemas and kernels of custom operators, custom_ops.yaml.", flag_values=FLAGS
)
_ATEN_CUSTOM_OPS_YAML = flags.DEFINE_string(
    "aten_custom_ops_yaml", None, "As --custom_ops_yaml, of kernels that take at::Tensor.", flag_values=FLAGS
)
_DECLARED_OPERATORS = flags.DEFINE_multi_string(
    "declared_operators", [], "The operators that C++ declares, of 'codegen collect'.", flag_values=FLAGS
)
_FALLBACK_YAML = flags.DEFINE_string(
    "fallback_yaml", None, "The kernels of the operators that --functions_yaml does not have.", flag_values=FLAGS
)
_KERNEL_YAMLS = flags.DEFINE_multi_string(
    "kernel_yaml",
    [],
    "As --fallback_yaml, of a library of kernels. A selection of all operators has those of the file where no other "
    "YAML is given.",
    flag_values=FLAGS,
)
_ATEN_FALLBACK_YAML = flags.DEFINE_string(
    "aten_fallback_yaml",
    None,
    "As --aten_custom_ops_yaml, for the operators that no other YAML has.",
    flag_values=FLAGS,
)
_ATEN_KERNELS = flags.DEFINE_bool(
    "aten_kernels", False, "Takes PyTorch's own kernels for the operators that no YAML has.", flag_values=FLAGS
)
_STUBS = flags.DEFINE_bool("stubs", False, "Defines operators without kernels, for PyTorch alone.", flag_values=FLAGS)

# Outputs for both targets.
_BOXED_KERNELS = flags.DEFINE_string(
    "boxed_kernels",
    None,
    "The directory for the sources that call the kernels beyond those of --kernel_table.",
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
    "kernel_table",
    None,
    "Where to write the source that calls the kernels and has the table of them.",
    required=True,
    flag_values=FLAGS,
)
_NATIVE_FUNCTIONS = flags.DEFINE_string(
    "native_functions", None, "Where to write the header that declares the kernels.", required=True, flag_values=FLAGS
)
_MANIFEST = flags.DEFINE_string(
    "manifest", None, "Where to write the operators and their kernels, as JSON.", required=True, flag_values=FLAGS
)

# Outputs for the runtime only.
_SUPPORT_EXCEPTIONS = flags.DEFINE_bool(
    "support_exceptions", True, "Turns what a kernel throws into the failure of its call.", flag_values=FLAGS
)
_REGISTRATION = flags.DEFINE_string(
    "registration", None, "Where to write the source that registers the kernels.", flag_values=FLAGS
)
_REGISTRATION_HEADER = flags.DEFINE_string(
    "registration_header",
    None,
    "Where to write the header of a function that registers the kernels; without it, they register themselves.",
    flag_values=FLAGS,
)
_REGISTERED_NAMES = flags.DEFINE_string(
    "registered_names", None, "Where to write the source that defines a name for each kernel.", flag_values=FLAGS
)
_CHOSEN_TABLE = flags.DEFINE_string(
    "chosen_table",
    None,
    "Where to write the source that chooses among the tables of several instruction sets.",
    flag_values=FLAGS,
)
_NAMED_TABLE = flags.DEFINE_string(
    "named_table",
    None,
    "Where to write the source that names the table of an instruction set, for --chosen_table.",
    flag_values=FLAGS,
)
_INSTRUCTION_SETS = flags.DEFINE_multi_string(
    "instruction_set",
    [],
    "What the kernels are compiled for, from the widest instruction set on, for --chosen_table.",
    flag_values=FLAGS,
)
_FUNCTIONS = flags.DEFINE_string(
    "functions", None, "Where to write the header with the operators as C++ functions.", flag_values=FLAGS
)

# Outputs for PyTorch only.
_TORCH_OPERATORS = flags.DEFINE_string(
    "torch_operators", None, "Where to write the source that defines the operators.", flag_values=FLAGS
)
_FUNCTIONAL_VARIANTS = flags.DEFINE_bool(
    "functional_variants", True, "Defines an out variant without its out arguments, too.", flag_values=FLAGS
)
_LIBRARY = flags.DEFINE_string("library", None, "The name of the library's file.", flag_values=FLAGS)
_MODULE = flags.DEFINE_string(
    "module", None, "Where to write the Python module that loads the library.", flag_values=FLAGS
)
_TORCH_MANIFEST = flags.DEFINE_string(
    "torch_manifest", None, "Where to write what is registered with PyTorch, as JSON.", flag_values=FLAGS
)

# The flags that one target requires and the other target refuses.
_OF_TARGET: Mapping[str, Sequence[flags.FlagHolder[str | None]]] = {
    _EXECUTORCH: (_REGISTRATION, _REGISTERED_NAMES, _FUNCTIONS),
    _TORCH: (_TORCH_OPERATORS, _LIBRARY, _MODULE, _TORCH_MANIFEST),
}


def run() -> None:
    _check_flags()
    given = _read_operators()
    files = [Path(path).name for path in (*_named_yamls(), *_DECLARED_OPERATORS.value)]
    kernel_files = {path: Path(path).name for path in _kernel_yamls()}
    wanted = selection.unite([selected_operators.read(path) for path in _SELECTIONS.value])
    if files and wanted.include_all:
        given = _without_unnamed(given, wanted, kernel_files)
    if _ATEN_KERNELS.value:
        given = aten_kernels.WithAtenKernels(given)
        files.append(aten_kernels.PROVIDER)
    if _SELECTIONS.value:
        if _TARGET.value == _TORCH:
            wanted = _among(wanted, given)
        providers = dict.fromkeys([*files, *kernel_files.values()])
        operators = provided.select(wanted, given, " or ".join(providers), _LABEL.value)
        if _ATEN_KERNELS.value and wanted.include_all:
            sys.stderr.write(_unbound_note(given))
    else:
        operators = sorted(given.values(), key=lambda operator: operator.name)
    if _TARGET.value == _TORCH:
        operators = _definable(operators)
    else:
        sys.stderr.writelines(f"{note}\n" for note in never_called.notes({o.name: o for o in operators}))
        if _is_idle_fallback(operators):
            sys.stderr.write(
                f'{_LABEL.value}: note: fallback = "aten" has nothing to do, since the YAMLs have a kernel for every '
                "selected operator; without it, the library needs no PyTorch\n"
            )
        if _REGISTRATION_HEADER.value is None:
            _check_registry_size(operators)

    used = {operator.location.path for operator in operators}
    files += dict.fromkeys(name for path, name in kernel_files.items() if path in used)
    source = Source(_LABEL.value, tuple(files))
    kernels = [] if _STUBS.value else boxed_kernels(operators)
    taking_aten = [kernel for kernel in kernels if kernel.takes_aten_tensors]
    lean = [kernel for kernel in kernels if kernel not in taking_aten]
    own, *further = boxed_calls.parts(lean)
    boxed_calls.write(source, further, _BOXED_KERNELS.value, _NATIVE_FUNCTIONS.value)
    if _ATEN_SOURCE.value is not None:
        Path(_ATEN_SOURCE.value).write_text(aten_calls.text(source, taking_aten))
    Path(_NATIVE_FUNCTIONS.value).write_text(native_functions_header.text(source, operators))
    if _TARGET.value == _TORCH:
        _write_for_torch(source, operators, kernels, own, taking_aten)
    else:
        _write_for_runtime(source, operators, kernels, own)
    library = registered_operators.Library(_LABEL.value, source.yaml_names, tuple(operators))
    registered_operators.write(library, _MANIFEST.value)


def _is_idle_fallback(operators: Sequence[Operator]) -> bool:
    """Returns whether PyTorch's kernels are the fallback of other kernels, and no operator uses the fallback."""
    others = (*_named_yamls(), *_kernel_yamls(), *_DECLARED_OPERATORS.value)
    taken = any(kernel.is_aten for operator in operators for kernel in operator.kernels)
    return _ATEN_KERNELS.value and bool(others) and not taken


def _check_flags() -> None:
    """Checks that the outputs of the target are given together, and no others, and that the runtime has a selection.

    Raises:
        flags.Error: the check fails.
    """
    for target, of_target in _OF_TARGET.items():
        for flag in of_target:
            if (target == _TARGET.value) != (flag.value is not None):
                needed = "needs" if target == _TARGET.value else "has no"
                raise flags.Error(f"--target={_TARGET.value} {needed} --{flag.name}.")
    if _TARGET.value == _EXECUTORCH and not _SELECTIONS.value:
        raise flags.Error("--target=executorch needs --selection.")
    if (_CHOSEN_TABLE.value is None) != (_NAMED_TABLE.value is None):
        raise flags.Error("--chosen_table and --named_table need each other.")


def _path(flag: flags.FlagHolder[str | None]) -> Path:
    """Returns the path of a flag that the target requires."""
    assert flag.value is not None, f"--{flag.name} was let through by _check_flags()"
    return Path(flag.value)


def _named_yamls() -> list[str]:
    """Returns the YAMLs that attributes of the rule name."""
    yamls = (_FUNCTIONS_YAML, _FALLBACK_YAML, _CUSTOM_OPS_YAML, _ATEN_CUSTOM_OPS_YAML)
    return [yaml.value for yaml in yamls if yaml.value is not None]


def _kernel_yamls() -> list[str]:
    """Returns the YAMLs that only kernel libraries bring along."""
    return [path for path in _KERNEL_YAMLS.value if path not in _named_yamls()]


def _without_unnamed(
    given: Mapping[str, Operator], wanted: selection.Selection, kernel_yamls: Collection[str]
) -> Mapping[str, Operator]:
    """Limits `include_all` for a target with its own YAMLs.

    All operators are then those of the target's YAMLs, plus the selected operators of kernel libraries' YAMLs.
    """
    named = wanted.operators
    return {
        name: operator
        for name, operator in given.items()
        if operator.location.path not in kernel_yamls or name in named or name.partition(".")[0] in named
    }


def _read_operators() -> Mapping[str, Operator]:
    has_any = _named_yamls() or _KERNEL_YAMLS.value or _DECLARED_OPERATORS.value
    if _TARGET.value == _EXECUTORCH and not has_any and not _ATEN_KERNELS.value:
        raise InputError(
            Finding(
                id="no-yaml",
                where=_LABEL.value,
                found="neither --functions_yaml nor --custom_ops_yaml is given",
                cause="the target names no YAML file",
                fix="give at least one of the two",
            )
        )
    return functions_yaml.read(
        _FUNCTIONS_YAML.value,
        _CUSTOM_OPS_YAML.value,
        _FALLBACK_YAML.value,
        aten_custom_ops_yaml=_ATEN_CUSTOM_OPS_YAML.value,
        aten_fallback_yaml=_ATEN_FALLBACK_YAML.value,
        declarations=_DECLARED_OPERATORS.value,
        kernel_yamls=_kernel_yamls(),
        max_kernels=_MAX_KERNELS.value,
    )


def _unbound_note(given: Mapping[str, Operator]) -> str:
    """Returns the note about operators that a library with all of PyTorch's operators lacks."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in aten_kernels.unbound().items():
        if name not in given:
            by_reason.setdefault(reason, []).append(name)
    lines = [f"    {reason}: {', '.join(names)}\n" for reason, names in by_reason.items()]
    count = sum(map(len, by_reason.values()))
    headline = f"{_LABEL.value}: note: {count} of PyTorch's operators are left out, since no program can call them:\n"
    return "".join([headline, *lines])


def _check_registry_size(operators: Sequence[Operator]) -> None:
    """Raises an error if the library alone has more kernels than the capacity of the runtime's registry."""
    registered = list(registrations.of_runtime())
    registered += registrations.of_library(_LABEL.value, operators)
    findings = registrations.too_many(_LABEL.value, registered, _MAX_KERNELS.value)
    if findings:
        raise InputError(findings)


def _write_for_runtime(
    source: Source, operators: Sequence[Operator], kernels: Sequence[BoxedKernel], own: Sequence[BoxedKernel]
) -> None:
    header = _REGISTRATION_HEADER.value
    functions = _path(_FUNCTIONS)
    native_functions = Path(_NATIVE_FUNCTIONS.value).name
    has_table = _CHOSEN_TABLE.value is not None
    Path(_KERNEL_TABLE.value).write_text(
        kernel_table.text(
            source,
            kernels,
            own,
            native_functions,
            exception_boundary=_SUPPORT_EXCEPTIONS.value,
            functions=functions.name if has_table else None,
        )
    )
    if _CHOSEN_TABLE.value is not None:
        Path(_CHOSEN_TABLE.value).write_text(kernel_table.chosen(source, kernels, _INSTRUCTION_SETS.value))
        _path(_NAMED_TABLE).write_text(kernel_table.named(source, kernels))
    if header is not None:
        Path(header).write_text(registration.header(source))
        _path(_REGISTRATION).write_text(registration.on_request(source, Path(header).name))
    else:
        _path(_REGISTRATION).write_text(registration.at_start(source, kernels))
    _path(_REGISTERED_NAMES).write_text(registration.names(source, kernels))
    functions.write_text(functions_header.text(source, operators, kernels, native_functions, has_table=has_table))


def _write_for_torch(
    source: Source,
    operators: Sequence[Operator],
    kernels: Sequence[BoxedKernel],
    own: Sequence[BoxedKernel],
    taking_aten: Sequence[BoxedKernel],
) -> None:
    native_functions = Path(_NATIVE_FUNCTIONS.value).name
    Path(_KERNEL_TABLE.value).write_text(
        kernel_table.text(source, kernels, own, native_functions, exception_boundary=False)
    )
    _path(_TORCH_OPERATORS).write_text(
        torch_operators.text(source, operators, functional_variants=_FUNCTIONAL_VARIANTS.value)
    )
    first_of: dict[str, Location] = {}
    for operator in operators:
        first_of.setdefault(operator.schema.name.namespace, operator.location)
    if taking_aten:
        first_of[source.namespace] = taking_aten[0].operator.location
    registrations = tuple(TorchRegistration(FRAGMENT, ns, location=location) for ns, location in first_of.items())
    library = TorchLibrary(_LABEL.value, registrations)
    torch_manifest.write(library, str(_path(_TORCH_MANIFEST)))
    torch_loader.write(str(_path(_MODULE)), str(_path(_LIBRARY)), library)


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


def _definable(operators: Sequence[Operator]) -> list[Operator]:
    """Returns the operators that PyTorch does not define itself.

    Raises:
        InputError: there are no such operators.
    """
    definable = [o for o in operators if o.schema.name.namespace not in torch_schemas.RESERVED_NAMESPACES]
    if definable:
        return definable
    if not operators and _SELECTIONS.value:
        raise InputError(
            Finding(
                id="nothing-to-define",
                where=_LABEL.value,
                found="none of the selected operators is one that the YAML or the kernels declare",
                cause="the selection in deps is that of another library, or has only operators of PyTorch",
                fix="select operators of the YAML, or leave the selection out to define all of them",
            )
        )
    if not operators:
        raise InputError(
            Finding(
                id="nothing-to-define",
                where=_LABEL.value,
                found="the library has no operators: neither a YAML is given, nor do its kernels declare any",
                cause="yaml_target was left out, or declares_operators = True in the et_kernel_library",
                fix="give one of the two",
            )
        )
    first = operators[0]
    raise InputError(
        Finding(
            id="nothing-to-define",
            where=first.location,
            found=f"all operators of {_LABEL.value} are in namespaces of PyTorch, such as {first.name}, so that the "
            "library has no operator to define",
            cause="PyTorch defines the operators of its namespaces itself",
            fix="give your own operators a namespace of your own; those of PyTorch need no library",
        )
    )
