"""Finds the functions that kernel libraries define for kernels. Missing definitions give findings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from codegen.artifacts.registered_operators import Library
from codegen.binaries import symbols
from codegen.model import aten_kernels, signatures
from codegen.model.operators import Kernel, Operator
from diagnostics import suggest
from diagnostics.errors import Finding, InputError

_MAX_NEAR_MISSES = 3


@dataclass(frozen=True, slots=True)
class KernelLibraries:
    """The libraries that should define the kernels.

    Attributes:
        attribute: the rule's attribute with the libraries.
        paths: the paths of the libraries.
        defined: the functions that the libraries define.
        left_out: the labels of libraries of `attribute` that are not linked, since they have no custom operators.
    """

    attribute: str
    paths: tuple[str, ...]
    defined: Sequence[symbols.Symbol]
    left_out: tuple[str, ...] = ()


def find(library: Library, kernels: KernelLibraries) -> list[tuple[str, Operator]]:
    """Finds the kernels of a generated library.

    Args:
        library: the generated library.
        kernels: the kernel libraries.
    Returns:
        The C++ names of the kernels that are defined without a context only, each with one of the kernel's operators.
    Raises:
        InputError: kernels are defined neither with nor without a context. The error has a finding for each.
    """
    linkable = {(symbol.name, symbol.parameters) for symbol in kernels.defined if not symbol.is_local}
    without_context: dict[tuple[str, str], Operator] = {}
    findings: list[Finding] = []
    for operator in library.operators:
        for kernel in {kernel.function: kernel for kernel in operator.kernels}.values():
            # PyTorch's dispatcher finds PyTorch's own kernels, which no library has to define.
            if kernel.function == aten_kernels.FUNCTION:
                continue
            expected = _expected_parameters(operator, kernel)
            if (kernel.function, expected[-1]) in linkable:
                continue
            if (kernel.function, expected[0]) in linkable:
                without_context.setdefault((kernel.function, expected[0]), operator)
            else:
                findings.append(_undefined(operator, kernel, library.label, kernels))
    if findings:
        raise InputError(findings)
    return [(name, operator) for (name, _), operator in without_context.items()]


def _expected_parameters(operator: Operator, kernel: Kernel) -> tuple[str, ...]:
    """Returns the kernel's parameters without and with the context, in a demangler's spelling."""
    parameters = signatures.demangled_parameters(operator.schema, kernel.dialect)
    if kernel.is_aten:
        return (", ".join(parameters),)
    return ", ".join(parameters), ", ".join([signatures.DEMANGLED_CONTEXT, *parameters])


def _declarations(operator: Operator, kernel: Kernel) -> list[str]:
    """Returns the possible declarations of a kernel, one line each, as a user would write them."""
    names = signatures.parameter_names(operator.schema)
    types = signatures.parameter_types(operator.schema, kernel.dialect)
    returned = signatures.return_type(operator.schema, kernel.dialect)
    forms = [(types, names)]
    if not kernel.is_aten:
        forms.append(((f"{signatures.CONTEXT}&", *types), ("context", *names)))
    lists = [", ".join(f"{type_} {name}" for type_, name in zip(*form, strict=True)) for form in forms]
    return [f"{returned} {kernel.function}({parameters})" for parameters in lists]


def _undefined(operator: Operator, kernel: Kernel, label: str, kernels: KernelLibraries) -> Finding:
    names = ", ".join(dict.fromkeys(Path(path).name for path in kernels.paths))
    near, cause = _near_misses(operator, kernel, kernels.defined)
    if not kernels.paths:
        cause = f"the library has no kernel libraries: {kernels.attribute} is empty, or holds headers only"
    elif not near:
        cause = f"the kernel's source is not in any library of {kernels.attribute}, or the YAML has another name"
    details = ["expected one of:"]
    details += [f"  {signature}" for signature in _declarations(operator, kernel)]
    if near:
        details.append("found:")
        details += [f"  {signatures.readable(str(symbol))} in {symbol.library}" for symbol in near[:_MAX_NEAR_MISSES]]
    fix = (
        f"define the kernel with an expected signature in a library of {kernels.attribute}, or correct its name in the "
        "YAML"
    )
    if kernels.left_out:
        details.append("not linked, since all operators of the library are PyTorch's or the export's:")
        details += [f"  {label}" for label in kernels.left_out]
        fix += (
            "; or, for a kernel of a library that is not linked, set custom_ops_requires_aot_registration = False, and "
            "write an executorch_custom_ops_aot_lib with this library in kernel_deps"
        )
    return Finding(
        id="undefined-kernel",
        where=kernel.location,
        found=f"the kernel {kernel.function} of {operator.name} is defined nowhere"
        + (f" in the kernel libraries of {label} ({names})" if names else ""),
        cause=cause,
        fix=fix,
        details=tuple(details),
    )


def _near_misses(
    operator: Operator, kernel: Kernel, defined: Sequence[symbols.Symbol]
) -> tuple[list[symbols.Symbol], str]:
    """Returns the functions that were probably meant as the kernel, and the reason why they do not match."""
    base_name = kernel.function.rpartition("::")[2]
    same_base = [symbol for symbol in defined if symbol.base_name == base_name]
    same_name = [symbol for symbol in same_base if symbol.name == kernel.function]
    expected = _expected_parameters(operator, kernel)
    local = [
        symbol
        for symbol in same_base
        if symbol.parameters in expected and (symbol.is_local or "(anonymous namespace)" in symbol.name)
    ]
    if local and all(symbol in local for symbol in same_name):
        return local, "the kernel is static or in an anonymous namespace, so that no other file can call it"
    if same_name:
        return same_name, _parameter_difference(expected, same_name[0])
    if any(symbol.parameters is None for symbol in same_base):
        return same_base, 'the kernel is declared extern "C"'
    if same_base:
        namespace = kernel.function.rpartition("::")[0]
        without_native = [s for s in same_base if f"{s.name.rpartition('::')[0]}::native" == namespace]
        if without_native:
            return without_native, f"the kernel is not in {namespace}: codegen appends 'native' to the YAML's namespace"
        return same_base, f"the kernel is in another namespace than {namespace}"
    near = _similar(base_name, defined)
    same_parameters = [symbol for symbol in near if symbol.parameters in expected]
    return same_parameters or near, "a typo in the kernel's name, in the YAML or in the source"


def _similar(base_name: str, defined: Sequence[symbols.Symbol]) -> list[symbols.Symbol]:
    """Returns functions with names similar to a kernel's name or containing it. The suffix `_out` does not count."""
    stem = base_name.removesuffix("_out")
    by_stem: dict[str, list[symbols.Symbol]] = {}
    for symbol in defined:
        by_stem.setdefault(symbol.base_name.removesuffix("_out"), []).append(symbol)
    containing = sorted(other for other in by_stem if other.endswith(f"_{stem}") or other.startswith(f"{stem}_"))
    return [s for other in dict.fromkeys([*containing, *suggest.nearest(stem, by_stem)]) for s in by_stem[other]]


def _parameter_difference(expected: tuple[str, ...], symbol: symbols.Symbol) -> str:
    """Describes the wrong parameter of a function with the kernel's name."""
    if symbol.parameters is None:
        return 'the kernel is declared extern "C"'
    found = _split(symbol.parameters)
    wanted = _split(expected[-1] if found and found[0] == signatures.DEMANGLED_CONTEXT else expected[0])
    for position, (got, want) in enumerate(zip(found, wanted, strict=False), start=1):
        if got != want:
            is_, should_be = signatures.readable(got), signatures.readable(want)
            return f"the kernel's parameter {position} is {is_}, but the schema makes it {should_be}"
    return f"the kernel has {len(found)} parameters, but the schema makes them {len(wanted)}"


def _split(parameters: str) -> list[str]:
    """Splits at the commas outside angle brackets and parentheses."""
    parts, depth = [""], 0
    for character in parameters:
        depth += (character in "<(") - (character in ">)")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]
