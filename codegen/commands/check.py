"""Checks the registrations of a binary's libraries against each other, and against the binary's program.

    codegen check --label //models:runner --program model.pte --program_name //models:model \\
        --manifest registered.json --output report.txt

No kernel may be registered twice, and there may not be more kernels than the capacity of the runtime's registry. With a
program, each operator that the program calls must be registered, with a schema that fits the calls, and with a kernel
for the dtypes of the calls. The constants that the program does not have must be in files of weights. Writes a report
of the operators and of the libraries that register them.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from absl import flags

from codegen.artifacts import origins, registered_operators, selective_build
from codegen.binaries import object_files
from codegen.checks import backends, programs, registrations, weights
from codegen.checks.registrations import RegisteredKernel
from codegen.commands import define, shared_flags
from codegen.inputs import program_content_reader, program_reader, tensor_data_reader
from codegen.model import aten_kernels, kernel_keys, prim_ops
from diagnostics.errors import Finding, InputError

FLAGS = shared_flags.flag_values()

_LABEL = shared_flags.label(FLAGS, "the binary")
_PROGRAM = define.optional(FLAGS, "program", "The ExecuTorch program (.pte) that it runs.")
_PROGRAM_NAME = flags.DEFINE_string(
    "program_name", "--program", "What to call the program in errors, such as its label.", flag_values=FLAGS
)
_METHODS = define.several(FLAGS, "method", "A method that the program must have.")
_WEIGHTS = define.several(FLAGS, "weights", "A file (.ptd) with constants that the program does not have.")
_ORIGINS = define.optional(FLAGS, "origins", "The lines of Python of the program, if the export wrote them.")
_MANIFESTS = define.several(FLAGS, "manifest", "The registered.json of a library that the binary links.")
_LISTINGS = define.several(
    FLAGS,
    "listing",
    "The label of a library without a manifest, a tab, and a file with the operators that it registers, one on a line.",
)
_WHOLE_OBJECTS = define.several(
    FLAGS,
    "whole_object",
    "The label of a library, a tab, and an object file, archive or shared library of it that is linked whole, to "
    "look for registrations in.",
)
_OBJECTS = define.several(
    FLAGS, "object", "As --whole_object, of what the linker leaves out when nothing refers to it."
)
_BACKENDS = define.several(
    FLAGS,
    "backend",
    "The label of a library that the binary links, a tab, and the name of a backend that the library declares.",
)
_LISTED = define.several(
    FLAGS, "listed", "A file among these whose registrations are known: the runtime's, or in a --listing."
)
_MAX_KERNELS = shared_flags.max_kernels(FLAGS)
_DTYPES = define.several(
    FLAGS, "dtypes", "The dtypes.json of a library with dtype_selective_build that the binary links."
)
_OUTPUT = shared_flags.output(FLAGS, "the report")


@dataclass(frozen=True, slots=True)
class _Object:
    """A linked file.

    Attributes:
        library: the label of the file's library.
        path: the file's path.
        is_whole: whether the file is linked whole, as with `alwayslink`.
        registrations: the known registrations of the file.
    """

    library: str
    path: str
    is_whole: bool
    registrations: object_files.Registrations


def run() -> None:
    label, program_name = _LABEL.value, _PROGRAM_NAME.value
    libraries = [registered_operators.read(path) for path in _MANIFESTS.value]
    listed = set(_LISTED.value)
    objects = [
        _Object(library, path, is_whole, object_files.registrations(path))
        for paths, is_whole in ((_WHOLE_OBJECTS.value, True), (_OBJECTS.value, False))
        for library, path in _labeled(paths)
        if path not in listed
    ]
    registered = list(_registered(libraries, objects))
    notes = _unreadable(objects)
    builds = [selective_build.read(path) for path in _DTYPES.value]
    findings = [
        *registrations.registered_twice(label, registered),
        *registrations.built_twice(label, builds),
        *registrations.too_many(label, registered, _MAX_KERNELS.value),
    ]
    linked = {kernel.operator: kernel.library for kernel in registered if kernel.is_whole}
    called: Collection[str] = linked
    needed: frozenset[str] = frozenset()
    declared = {name: library for library, name in _labeled(_BACKENDS.value)}
    if _PROGRAM.value:
        try:
            program = program_reader.read(_PROGRAM.value, program_name)
        except InputError as error:
            findings += error.findings
        else:
            called = program.calls
            findings += programs.unknown_methods(label, _METHODS.value, program_name, program.methods)
            findings += programs.missing_operators(program_name, called, registered, notes)
            findings += programs.other_schemas(program_name, program.calls, libraries)
            findings += programs.missing_dtypes(program_name, program.calls, builds)
            findings += programs.missing_kernels(program_name, program.calls, registered)
            if program.has_constants_in_other_files:
                findings += _of_weights(label, _PROGRAM.value, program_name)
            needed = program.backends
    registering = _linked_backends({*declared, *needed})
    findings += backends.missing(program_name, needed - declared.keys(), registering, label)
    findings += backends.without_code(declared, registering)
    findings += backends.left_out(registering)
    if findings:
        raise InputError(findings)
    pytorchs = _by_pytorch(libraries)
    of_backends = [f"{name}, a backend: {registering[name].library}\n" for name in sorted(needed)]
    lines = [f"{name}: {linked[name]}{pytorchs.get(name, '')}\n" for name in sorted(called)]
    of = f" of {program_name}" if _PROGRAM.value else ""
    headline = f"The {len(lines)} operators{of}, and what registers them:\n"
    note_lines = [f"{label}: note: {note}\n" for note in notes]
    sys.stderr.write("".join(note_lines))
    Path(_OUTPUT.value).write_text(headline + "".join([*lines, *of_backends, *note_lines]))


def _of_weights(label: str, program: str, program_name: str) -> list[Finding]:
    """Returns findings about constants that the program does not have. Data of backends is left to the runner."""
    of_export = _ORIGINS.value
    lines, names = (origins.read(of_export), origins.read_names(of_export)) if of_export else (origins.NONE, {})
    try:
        content = program_content_reader.read(program, program_name)
        files = {path: tensor_data_reader.read_layouts(path) for path in _WEIGHTS.value}
    except InputError as error:
        return list(error.findings)
    return list(weights.mistakes(label, weights.Program(program_name, content.plans, lines, names), files))


def _by_pytorch(libraries: list[registered_operators.Library]) -> dict[str, str]:
    """Returns the note in the report for each operator that runs with PyTorch's own kernel."""
    operators = [operator for library in libraries for operator in library.operators]
    return {
        operator.name: f", with PyTorch's kernel{' for the other calls' if len(operator.kernels) > 1 else ''}"
        for operator in operators
        if any(kernel.function == aten_kernels.FUNCTION for kernel in operator.kernels)
    }


def _linked_backends(names: Collection[str]) -> dict[str, backends.Linked]:
    """Returns the backends that a linked file may register, with the library of the file."""
    return {
        name: backends.Linked(library, is_whole)
        for paths, is_whole in ((_OBJECTS.value, False), (_WHOLE_OBJECTS.value, True))
        for library, path in (_labeled(paths) if names else ())
        for name in object_files.backends(path, names)
    }


def _unreadable(objects: list[_Object]) -> list[str]:
    """Returns the messages about files that register unknown kernels."""
    return [
        f"{Path(linked.path).name} of {linked.library} calls register_kernels(), and which kernels it registers cannot "
        "be read; give them with an executorch_prebuilt_kernels"
        for linked in objects
        if linked.registrations.has_unknown
    ]


def _registered(libraries: list[registered_operators.Library], objects: list[_Object]) -> Iterator[RegisteredKernel]:
    """Yields the kernels that the runtime, the libraries and linked files register."""
    yield from registrations.of_runtime()
    for library in libraries:
        yield from registrations.of_library(library.label, library.operators)
    for label, path in _labeled(_LISTINGS.value):
        for name in Path(path).read_text().split():
            if name not in prim_ops.PRIM_OPS:
                yield RegisteredKernel(name, kernel_keys.DEFAULT, label)
    for linked in objects:
        for found in linked.registrations.known:
            yield RegisteredKernel(found.operator, kernel_keys.DEFAULT, linked.library, found.place, linked.is_whole)


def _labeled(values: list[str]) -> Iterator[tuple[str, str]]:
    for value in values:
        label, _, path = value.partition("\t")
        yield label, path
