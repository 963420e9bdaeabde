"""Checks a program's calls against the registrations of a binary: operators, schemas, dtypes, kernels."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from codegen.artifacts.registered_operators import Library
from codegen.artifacts.selective_build import SelectiveBuild
from codegen.checks import calls as calls_check
from codegen.checks import missing
from codegen.checks.registrations import RUNTIME, RegisteredKernel
from codegen.model import kernel_keys
from codegen.model.program import Calls
from diagnostics.errors import Finding
from diagnostics.suggest import did_you_mean, nearest


def missing_operators(
    program: str, called: Collection[str], registrations: Sequence[RegisteredKernel], notes: Sequence[str]
) -> Iterator[Finding]:
    """Yields a finding for each operator that a program calls and no library is sure to register.

    Args:
        program: the program's label.
        called: the full names of the operators that the program calls.
        registrations: the kernels that the binary registers.
        notes: further lines for the message of a missing operator.
    """
    linked = {r.operator: r.library for r in registrations if r.is_whole}
    libraries = dict.fromkeys(r.library for r in registrations if r.is_whole and r.library != RUNTIME)
    providers = " or ".join(libraries) or "any library: the binary links none"
    provided = {name for name, library in linked.items() if library != RUNTIME}
    left_out = {r.operator: r for r in registrations if not r.is_whole}
    for name in sorted(set(called) - linked.keys()):
        if name in left_out:
            yield Finding(
                id="registration-left-out",
                where=program,
                found=f"{name} is registered by {left_out[name]}, which is not linked whole",
                cause="nothing refers to a registration by EXECUTORCH_LIBRARY, so the linker leaves its file out",
                fix=f"set alwayslink = True in {left_out[name].library}",
            )
        else:
            fixes = ["select the operator for the binary's library, for example with models = [the program]"]
            if own := missing.own_kernels(name, provided):
                fixes.append(own)
            prebuilt = missing.prebuilt_kernels(name)
            if prebuilt and prebuilt not in libraries:
                fixes.append(
                    f"add {prebuilt}, ExecuTorch's own kernels, to deps, in place of a library of the same operators"
                )
            yield missing.operator(
                name,
                asked_by=[program],
                provided=provided,
                providers=providers,
                where=program,
                fixes=fixes,
                is_called=True,
                details=tuple(notes),
            )


def unknown_methods(test: str, named: Sequence[str], program: str, methods: Sequence[str]) -> Iterator[Finding]:
    """Yields a finding for each method that a test names and its program does not have.

    Args:
        test: the test's label.
        named: the methods that the test names.
        program: the program's label.
        methods: the methods that the program has.
    """
    for name in named:
        if name not in methods:
            meant = did_you_mean(nearest(name, methods))
            yield Finding(
                id="unknown-method",
                where=test,
                found=f"attribute methods has {name}, which {program} does not have{meant}",
                cause="the name is misspelled, or the model file has no such method",
                fix=f"name methods out of {', '.join(sorted(methods))}, or leave out the attribute to test all",
            )


def other_schemas(program: str, calls: Mapping[str, Calls], libraries: Sequence[Library]) -> Iterator[Finding]:
    """Yields a finding for each call of a program that does not fit the operator's schema.

    Args:
        program: the program's label.
        calls: the program's calls, by the operators' full names.
        libraries: the binary's generated libraries.
    """
    for library in libraries:
        for operator in library.operators:
            for kinds in sorted(calls[operator.name].kinds) if operator.name in calls else ():
                finding = calls_check.finding(operator, kinds, library.label, program)
                if finding:
                    yield finding


def missing_dtypes(program: str, calls: Mapping[str, Calls], builds: Sequence[SelectiveBuild]) -> Iterator[Finding]:
    """Yields a finding for each operator whose kernel lacks dtypes of the calls in a dtype-selective build.

    The kernel of the dtype-selective build is linked even if another library registers the operator.

    Args:
        program: the program's label.
        calls: the program's calls, by the operators' full names.
        builds: the dtype-selective builds that the binary links.
    """
    for name in sorted(calls):
        needed = calls[name].dtypes
        for build in builds:
            dtypes = build.operators.get(name)
            if dtypes is not None and not needed <= dtypes:
                missing, left = (", ".join(kernel_keys.dtype_names(d)) for d in (needed - dtypes, dtypes))
                yield Finding(
                    id="dtype-not-selected",
                    where=program,
                    found=f"{name} is called with {missing}, and {build.label} has its kernel for "
                    f"{left or 'no dtype'} only",
                    cause="the library has dtype_selective_build, and was not selected for this program",
                    fix=f"add the program to the selection of {build.label}, for example to its models, or leave out "
                    "its dtype_selective_build",
                )


def missing_kernels(
    program: str, calls: Mapping[str, Calls], registrations: Sequence[RegisteredKernel]
) -> Iterator[Finding]:
    """Yields a finding for each registered operator with calls whose dtypes and dim orders no kernel supports.

    Args:
        program: the program's label.
        calls: the program's calls, by the operators' full names.
        registrations: the kernels that the binary registers.
    """
    declared: dict[str, set[str]] = {}
    for registration in registrations:
        if registration.is_whole:
            declared.setdefault(registration.operator, set()).add(registration.key)
    for name in sorted(calls):
        kernels = declared.get(name, {kernel_keys.DEFAULT})
        unmatched = missing.unmatched_keys(kernels, calls[name].keys)
        if unmatched and kernel_keys.DEFAULT not in kernels:
            yield missing.kernel(name, unmatched, sorted(kernels), [program], program)
