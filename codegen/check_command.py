"""Checks what a binary links against itself, and against the program that it runs.

    codegen check --label //models:runner --program model.pte --program_name //models:model \\
        --manifest registered.json --output report.txt

No kernel may be registered twice, nor more of them than the runtime's registry holds. With a program, every operator
that it calls must be registered, with a schema that fits the calls, and by a kernel that handles the dtypes of their
tensors. Writes a report of the operators and of what registers them.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from absl import flags

from codegen import (
    call_check,
    command_line,
    kernel_keys,
    manifest,
    missing_operators,
    object_files,
    prim_ops,
    selective_build,
)
from codegen.errors import CodegenError, Finding

if TYPE_CHECKING:
    from codegen.program_reader import Calls

FLAGS = command_line.flag_values()

_LABEL = flags.DEFINE_string("label", None, "The binary's label.", required=True, flag_values=FLAGS)
_PROGRAM = flags.DEFINE_string("program", None, "The ExecuTorch program (.pte) that it runs.", flag_values=FLAGS)
_PROGRAM_NAME = flags.DEFINE_string(
    "program_name", "--program", "What to call the program in errors, such as its label.", flag_values=FLAGS
)
_MANIFESTS = flags.DEFINE_multi_string(
    "manifest", [], "The registered.json of a library that the binary links.", flag_values=FLAGS
)
_LISTINGS = flags.DEFINE_multi_string(
    "listing",
    [],
    "The label of a library without a manifest, a space, and a file with the operators that it registers, one on a "
    "line.",
    flag_values=FLAGS,
)
_WHOLE_OBJECTS = flags.DEFINE_multi_string(
    "whole_object",
    [],
    "The label of a library, a space, and an object file, archive or shared library of it that is linked whole, to "
    "look for registrations in.",
    flag_values=FLAGS,
)
_OBJECTS = flags.DEFINE_multi_string(
    "object", [], "As --whole_object, of what the linker leaves out when nothing refers to it.", flag_values=FLAGS
)
_LISTED = flags.DEFINE_multi_string(
    "listed",
    [],
    "A file among these whose registrations are known: the runtime's, or in a --listing.",
    flag_values=FLAGS,
)
_MAX_KERNELS = flags.DEFINE_integer(
    "max_kernels", 2000, "How many kernels the runtime's registry holds.", flag_values=FLAGS
)
_DTYPES = flags.DEFINE_multi_string(
    "dtypes", [], "The dtypes.json of a library with dtype_selective_build that the binary links.", flag_values=FLAGS
)
_OUTPUT = flags.DEFINE_string("output", None, "Where to write the report.", required=True, flag_values=FLAGS)

_RUNTIME = "the runtime"


@dataclass(frozen=True, slots=True)
class _Registration:
    """One kernel that is registered when the binary starts.

    Attributes:
        operator: the operator's full name.
        key: the kernel key; `default` for the kernel of every dtype and dim order.
        library: the label of the library that registers it.
        place: where its source says so; empty if that is not known.
        is_whole: whether the library is linked whole, so that the registration is never left out.
    """

    operator: str
    key: str
    library: str
    place: str = ""
    is_whole: bool = True

    def __str__(self) -> str:
        return f"{self.library} ({self.place})" if self.place else self.library


@dataclass(frozen=True, slots=True)
class _Object:
    """A linked file.

    Attributes:
        library: the label of its library.
        path: its path.
        is_whole: whether it is linked also where nothing refers to it.
        registrations: what it registers, as far as it tells.
    """

    library: str
    path: str
    is_whole: bool
    registrations: object_files.Registrations


def run() -> None:
    manifests = [manifest.read(path) for path in _MANIFESTS.value]
    listed = set(_LISTED.value)
    objects = [
        _Object(label, path, is_whole, object_files.registrations(path))
        for paths, is_whole in ((_WHOLE_OBJECTS.value, True), (_OBJECTS.value, False))
        for label, path in _labelled(paths)
        if path not in listed
    ]
    registrations = list(_registrations(manifests, objects))
    unknown = _unknown(objects)
    linked = {r.operator: r.library for r in registrations if r.is_whole}
    builds = [selective_build.read(path) for path in _DTYPES.value]
    findings = _registered_twice(registrations) + _built_twice(builds) + _too_many(registrations)
    called: Collection[str] = linked
    if _PROGRAM.value:
        from codegen import program_reader  # Without a program, there is none to read.

        try:
            program = program_reader.read(_PROGRAM.value, _PROGRAM_NAME.value)
        except CodegenError as error:
            findings += error.findings
        else:
            called = program.calls
            findings += _missing(called, linked, registrations, unknown)
            findings += _other_schemas(program.calls, manifests)
            findings += _missing_dtypes(program.calls, builds)
            findings += _missing_kernels(program.calls, registrations)
            findings += _missing_backends(program.backends)
    if findings:
        raise CodegenError(findings)
    report = [f"{name}: {linked[name]}\n" for name in sorted(called)]
    of = f" of {_PROGRAM_NAME.value}" if _PROGRAM.value else ""
    headline = f"The {len(report)} operators{of}, and what registers them:\n"
    notes = [f"{_LABEL.value}: note: {note}\n" for note in unknown]
    sys.stderr.write("".join(notes))
    Path(_OUTPUT.value).write_text(headline + "".join([*report, *notes]))


def _unknown(objects: list[_Object]) -> list[str]:
    """What to say of files that register kernels which nothing tells of."""
    return [
        f"{Path(linked.path).name} of {linked.library} calls register_kernels(), and which kernels it registers cannot "
        "be read; give them with an executorch_prebuilt_kernels"
        for linked in objects
        if linked.registrations.has_unknown
    ]


def _registrations(manifests: list[manifest.Manifest], objects: list[_Object]) -> Iterator[_Registration]:
    for name in sorted(prim_ops.PRIM_OPS):
        yield _Registration(name, kernel_keys.DEFAULT, _RUNTIME)
    for library in manifests:
        for operator in library.operators:
            for kernel in operator.kernels:
                for key in kernel.keys:
                    yield _Registration(operator.name, key, library.label, str(kernel.location))
    for label, path in _labelled(_LISTINGS.value):
        for name in Path(path).read_text().split():
            if name not in prim_ops.PRIM_OPS:
                yield _Registration(name, kernel_keys.DEFAULT, label)
    for linked in objects:
        for found in linked.registrations.known:
            yield _Registration(found.operator, kernel_keys.DEFAULT, linked.library, found.place, linked.is_whole)


def _labelled(values: list[str]) -> Iterator[tuple[str, str]]:
    for value in values:
        label, _, path = value.partition(" ")
        yield label, path


def _registered_twice(registrations: list[_Registration]) -> list[Finding]:
    """One finding for each group of libraries that register the same kernels."""
    by_kernel: dict[tuple[str, str], list[_Registration]] = {}
    for registration in registrations:
        by_kernel.setdefault((registration.operator, registration.key), []).append(registration)
    by_libraries: dict[tuple[str, ...], list[str]] = {}
    for (operator, key), of_kernel in sorted(by_kernel.items()):
        if len(of_kernel) > 1:
            kernel = operator if key == kernel_keys.DEFAULT else f"{operator} for {key}"
            places = " and by ".join(str(registration) for registration in of_kernel)
            libraries = tuple(sorted({registration.library for registration in of_kernel}))
            by_libraries.setdefault(libraries, []).append(f"{kernel}: by {places}")
    return [
        Finding(
            id="registered-twice",
            where=_LABEL.value,
            found=f"{len(kernels)} {'kernel is' if len(kernels) == 1 else 'kernels are'} registered more than once, by "
            f"{' and '.join(libraries)}; the binary would abort when it starts",
            cause="two libraries of the binary select the same operators",
            fix="leave each operator in the selection of one library, or depend on one of the libraries only",
            details=tuple(kernels),
        )
        for libraries, kernels in by_libraries.items()
    ]


def _built_twice(builds: list[selective_build.SelectiveBuild]) -> list[Finding]:
    """One finding for each group of libraries that compile the same kernels, each for its dtypes."""
    by_source: dict[str, list[str]] = {}
    for build in builds:
        for source in build.kernel_sources:
            by_source.setdefault(source, []).append(build.label)
    by_libraries: dict[tuple[str, ...], list[str]] = {}
    for source, libraries in sorted(by_source.items()):
        if len(libraries) > 1:
            by_libraries.setdefault(tuple(sorted(libraries)), []).append(source)
    return [
        Finding(
            id="built-twice",
            where=_LABEL.value,
            found=f"{' and '.join(libraries)} build the same kernels for different dtypes, and a binary can link each "
            "kernel once only",
            cause="two libraries with dtype_selective_build have operators that a file implements together",
            fix="give one library both selections, or have the operators of one file in one of the libraries only",
            details=tuple(sources),
        )
        for libraries, sources in by_libraries.items()
    ]


def _too_many(registrations: list[_Registration]) -> list[Finding]:
    if len(registrations) <= _MAX_KERNELS.value:
        return []
    counts: dict[str, int] = {}
    for registration in registrations:
        counts[registration.library] = counts.get(registration.library, 0) + 1
    return [
        Finding(
            id="too-many-kernels",
            where=_LABEL.value,
            found=f"{len(registrations)} kernels are registered, but the runtime's registry holds {_MAX_KERNELS.value}"
            "; the binary would abort when it starts",
            cause="a library registers more than the program needs, such as include_all_operators does",
            fix="select what the program needs, or build the runtime with a larger MAX_KERNEL_NUM and give it as "
            "max_kernels of its toolchain",
            details=tuple(f"{count} by {library}" for library, count in sorted(counts.items())),
        )
    ]


def _missing(
    called: Collection[str], linked: Mapping[str, str], registrations: list[_Registration], unknown: list[str]
) -> Iterator[Finding]:
    libraries = dict.fromkeys(r.library for r in registrations if r.is_whole and r.library != _RUNTIME)
    providers = " or ".join(libraries) or "any library: the binary links none"
    provided = {name for name, library in linked.items() if library != _RUNTIME}
    left_out = {r.operator: r for r in registrations if not r.is_whole}
    for name in sorted(set(called) - linked.keys()):
        if name in left_out:
            yield Finding(
                id="registration-left-out",
                where=_PROGRAM_NAME.value,
                found=f"{name} is registered by {left_out[name]}, which is not linked whole",
                cause="nothing refers to a registration by EXECUTORCH_LIBRARY, so the linker leaves its file out",
                fix=f"set alwayslink = True in {left_out[name].library}",
            )
        else:
            yield missing_operators.finding(
                name,
                asked_by=[_PROGRAM_NAME.value],
                provided=provided,
                providers=providers,
                where=_PROGRAM_NAME.value,
                fix="select the operator for the binary's library, for example with models = [the program]",
                details=tuple(unknown),
            )


def _missing_backends(names: frozenset[str]) -> list[Finding]:
    """The backends that a program delegates to and that no linked file can have."""
    files = [path for _, path in _labelled(_WHOLE_OBJECTS.value + _OBJECTS.value)] if names else []
    linked = frozenset(name for path in files for name in object_files.backends(path, names))
    return [
        Finding(
            id="missing-backend",
            where=_PROGRAM_NAME.value,
            found=f"the program delegates to {name}, which nothing that {_LABEL.value} links registers",
            cause="the backend's library was left out, or the program was exported for another device",
            fix="add the library that registers the backend to deps, with alwayslink = True if it is a static one, or "
            "export the model without the backend's partitioner",
        )
        for name in sorted(names - linked)
    ]


def _other_schemas(calls: Mapping[str, Calls], manifests: list[manifest.Manifest]) -> Iterator[Finding]:
    for library in manifests:
        for operator in library.operators:
            for kinds in sorted(calls[operator.name].kinds) if operator.name in calls else ():
                finding = call_check.finding(operator, kinds, library.label, _PROGRAM_NAME.value)
                if finding:
                    yield finding


def _missing_dtypes(calls: Mapping[str, Calls], builds: list[selective_build.SelectiveBuild]) -> Iterator[Finding]:
    """The dtypes of calls that a library left out of the operator's kernel.

    It is the one that is linked also where another library registers the operator.
    """
    for name in sorted(calls):
        needed = calls[name].dtypes
        for build in builds:
            dtypes = build.operators.get(name)
            if dtypes is not None and not needed <= dtypes:
                missing, left = (", ".join(selective_build.dtype_names(d)) for d in (needed - dtypes, dtypes))
                yield Finding(
                    id="dtype-not-selected",
                    where=_PROGRAM_NAME.value,
                    found=f"{name} is called with {missing}, and {build.label} has its kernel for "
                    f"{left or 'no dtype'} only",
                    cause="the library has dtype_selective_build, and was not selected for this program",
                    fix=f"add the program to the selection of {build.label}, for example to its models, or leave out "
                    "its dtype_selective_build",
                )


def _missing_kernels(calls: Mapping[str, Calls], registrations: list[_Registration]) -> Iterator[Finding]:
    """Calls of registered operators with dtypes and dim orders that none of their kernels is for."""
    declared: dict[str, set[str]] = {}
    for registration in registrations:
        if registration.is_whole:
            declared.setdefault(registration.operator, set()).add(registration.key)
    for name in sorted(calls):
        kernels = declared.get(name, {kernel_keys.DEFAULT})
        unmatched = missing_operators.unmatched_keys(kernels, calls[name].keys)
        if unmatched and kernel_keys.DEFAULT not in kernels:
            yield missing_operators.kernel_finding(
                name, unmatched, sorted(kernels), [_PROGRAM_NAME.value], _PROGRAM_NAME.value
            )
