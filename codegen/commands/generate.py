"""Generates the C++ that registers the kernels of the selected operators with ExecuTorch's runtime, from YAML files.

    codegen generate --label //ops:lib --functions_yaml functions.yaml --selection selected_operators.yaml \\
        --max_kernels 2000 --boxed_kernels boxed_kernels --kernel_table KernelTable.cpp \\
        --registration RegisterKernels.cpp --registered_names RegisteredNames.cpp \\
        --native_functions NativeFunctions.h --functions Functions.h --manifest registered.json

The command does not read kernels, so it can run in parallel to their compilation. `codegen bind` checks the kernels.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from absl import flags

from codegen.checks import never_called, provided, registrations
from codegen.commands import define, generation, shared_flags
from codegen.cpp import functions_header, kernel_table, registration, typed_kernels
from codegen.cpp.boxed_kernel import BoxedKernel
from codegen.cpp.source import Source
from codegen.model import aten_kernels
from codegen.model.operators import Operator
from diagnostics.errors import InputError

FLAGS = shared_flags.flag_values()

_COMMON = generation.Flags(FLAGS)
_FUNCTIONS_YAML = define.optional(FLAGS, "functions_yaml", "The kernels of PyTorch's own operators, functions.yaml.")
_FALLBACK_YAML = define.optional(
    FLAGS, "fallback_yaml", "The kernels of the operators that --functions_yaml does not have."
)
_KERNEL_YAMLS = define.several(
    FLAGS,
    "kernel_yaml",
    "As --fallback_yaml, of a library of kernels. A selection of all operators has those of the file where no other "
    "YAML is given.",
)
_ATEN_FALLBACK_YAML = define.optional(
    FLAGS, "aten_fallback_yaml", "As --aten_custom_ops_yaml, for the operators that no other YAML has."
)
_ATEN_KERNELS = flags.DEFINE_bool(
    "aten_kernels", False, "Takes PyTorch's own kernels for the operators that no YAML has.", flag_values=FLAGS
)
_SUPPORT_EXCEPTIONS = flags.DEFINE_bool(
    "support_exceptions", True, "Turns what a kernel throws into the failure of its call.", flag_values=FLAGS
)
_INSTRUCTION_SETS = define.several(
    FLAGS,
    "instruction_set",
    "What the kernels are compiled for, from the widest instruction set on, for --chosen_kernels.",
)
_REGISTRATION = define.required(FLAGS, "registration", "Where to write the source that registers the kernels.")
_REGISTRATION_HEADER = define.optional(
    FLAGS,
    "registration_header",
    "Where to write the header of a function that registers the kernels; without it, they register themselves.",
)
_REGISTERED_NAMES = define.required(
    FLAGS, "registered_names", "Where to write the source that defines a name for each kernel."
)
_TYPED_KERNELS_HEADER = define.optional(
    FLAGS,
    "typed_kernels_header",
    "Where to write the header that declares the kernels for the processor's instruction set.",
)
_KERNELS_OF_SET = define.optional(
    FLAGS, "kernels_of_set", "Where to write the source with the kernels for one instruction set, for --chosen_kernels."
)
_CHOSEN_KERNELS = define.optional(
    FLAGS, "chosen_kernels", "Where to write the source that chooses among the kernels for several instruction sets."
)
_FUNCTIONS = define.required(FLAGS, "functions", "Where to write the header with the operators as C++ functions.")


@dataclass(frozen=True)
class _TypedKernels:
    """The sources of a library with kernels for several instruction sets.

    Attributes:
        header: the header that declares the kernels for the processor's set.
        of_set: the source with the kernels for one set.
        chosen: the source that chooses among the sets.
        instruction_sets: the sets, from the widest on.
    """

    header: Path
    of_set: Path
    chosen: Path
    instruction_sets: Sequence[str]


def _typed_kernels() -> _TypedKernels | None:
    """Returns the values of the flags for several instruction sets.

    Raises:
        flags.Error: one of the flags is missing.
    """
    holders = (_TYPED_KERNELS_HEADER, _KERNELS_OF_SET, _CHOSEN_KERNELS)
    header, of_set, chosen = (holder.value for holder in holders)
    sets = _INSTRUCTION_SETS.value
    if header is None and of_set is None and chosen is None:
        return None
    if header is None or of_set is None or chosen is None or not sets:
        names = ", ".join(f"--{holder.name}" for holder in holders)
        raise flags.Error(f"{names} and --instruction_set need each other.")
    return _TypedKernels(Path(header), Path(of_set), Path(chosen), sets)


def run() -> None:
    inputs = _COMMON.inputs(
        functions_yaml=_FUNCTIONS_YAML.value,
        fallback_yaml=_FALLBACK_YAML.value,
        aten_fallback_yaml=_ATEN_FALLBACK_YAML.value,
        kernel_yamls=_KERNEL_YAMLS.value,
    )
    if not inputs.selections:
        raise flags.Error("--selection is needed.")
    typed = _typed_kernels()
    outputs = _COMMON.outputs(typed_kernels=typed.header if typed is not None else None)
    providers, operators = _chosen(inputs, has_aten_kernels=_ATEN_KERNELS.value)
    sys.stderr.writelines(f"{note}\n" for note in never_called.notes({o.name: o for o in operators}))
    if _REGISTRATION_HEADER.value is None:
        _check_registry_size(inputs.label, operators, inputs.max_kernels)
    source = inputs.source(operators, providers)
    calls = generation.write_calls(source, operators, outputs)
    _write_table(source, calls, outputs, typed)
    _write_registration(source, calls.all)
    Path(_FUNCTIONS.value).write_text(
        functions_header.text(
            source, operators, calls.all, outputs.native_functions.name, has_typed_kernels=typed is not None
        )
    )


def _chosen(inputs: generation.Inputs, *, has_aten_kernels: bool) -> tuple[Sequence[str], list[Operator]]:
    """Returns the names of the target's providers of operators, and the selected operators.

    Raises:
        InputError: the target gives no operators, or a selected operator has no kernel.
    """
    providers = inputs.files
    if not providers and not inputs.kernel_yamls and not has_aten_kernels:
        raise InputError.of(
            id="no-yaml",
            where=inputs.label,
            found="neither --functions_yaml nor --custom_ops_yaml is given",
            cause="the target names no YAML file",
            fix="give at least one of the two",
        )
    wanted = inputs.wanted()
    given = inputs.given(wanted)
    if has_aten_kernels:
        given = aten_kernels.WithAtenKernels(given)
        providers = [*providers, aten_kernels.PROVIDER]
    named = dict.fromkeys([*providers, *(Path(path).name for path in inputs.kernel_yamls)])
    operators = provided.select(wanted, given, " or ".join(named), inputs.label)
    if has_aten_kernels and wanted.include_all:
        sys.stderr.write(_unbound_note(inputs.label, given))
    if has_aten_kernels and len(named) > 1 and not any(k.is_aten for o in operators for k in o.kernels):
        sys.stderr.write(
            f'{inputs.label}: note: fallback = "aten" has nothing to do, since the YAMLs have a kernel for every '
            "selected operator; without it, the library needs no PyTorch\n"
        )
    return providers, operators


def _unbound_note(label: str, given: Mapping[str, Operator]) -> str:
    """Returns the note about operators that a library with all of PyTorch's operators lacks."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in aten_kernels.unbound().items():
        if name not in given:
            by_reason.setdefault(reason, []).append(name)
    lines = [f"    {reason}: {', '.join(names)}\n" for reason, names in by_reason.items()]
    count = sum(map(len, by_reason.values()))
    headline = f"{label}: note: {count} of PyTorch's operators are left out, since no program can call them:\n"
    return "".join([headline, *lines])


def _check_registry_size(label: str, operators: Sequence[Operator], capacity: int) -> None:
    """Raises an error if the library alone has more kernels than the capacity of the runtime's registry."""
    registered = list(registrations.of_runtime())
    registered += registrations.of_library(label, operators)
    findings = registrations.too_many(label, registered, capacity)
    if findings:
        raise InputError(findings)


def _write_table(
    source: Source, calls: generation.Calls, outputs: generation.Outputs, typed: _TypedKernels | None
) -> None:
    """Writes the table of the kernels, and the sources of kernels for several instruction sets."""
    header = outputs.header.name
    outputs.kernel_table.write_text(
        kernel_table.text(
            source,
            calls.all,
            calls.of_table,
            header,
            exception_boundary=_SUPPORT_EXCEPTIONS.value,
            has_typed_kernels=typed is not None,
        )
    )
    if typed is not None:
        typed.of_set.write_text(typed_kernels.of_set(source, calls.all, header))
        typed.chosen.write_text(typed_kernels.chosen(source, calls.all, header, typed.instruction_sets))


def _write_registration(source: Source, kernels: Sequence[BoxedKernel]) -> None:
    """Writes the registration of the kernels, and a name for each."""
    header = _REGISTRATION_HEADER.value
    if header is not None:
        Path(header).write_text(registration.header(source))
        text = registration.on_request(source, Path(header).name)
    else:
        text = registration.at_start(source, kernels)
    Path(_REGISTRATION.value).write_text(text)
    Path(_REGISTERED_NAMES.value).write_text(registration.names(source, kernels))
