"""Finds the kernels of a generated library in its kernel libraries, and adapts those that take no context.

    codegen bind --manifest registered.json --nm nm --library libkernels.a --output KernelAdapters.cpp

A kernel may take a leading `KernelRuntimeContext&` or not; generated code always passes one. Where a library defines
only the form without, the output defines the other. A kernel that is defined in neither form is an error. A kernel that
takes `at::Tensor` has no context.
"""

from __future__ import annotations

from pathlib import Path

from absl import flags

from codegen import aten_kernels, aten_signatures, command_line, emit, manifest, signatures, suggest, symbols
from codegen.errors import CodegenError, Finding
from codegen.operator_table import Kernel, Operator

FLAGS = command_line.flag_values()

_MANIFEST = flags.DEFINE_string(
    "manifest", None, "The registered.json of 'codegen generate'.", required=True, flag_values=FLAGS
)
_NM = flags.DEFINE_string("nm", None, "The C++ toolchain's nm.", required=True, flag_values=FLAGS)
_LIBRARIES = flags.DEFINE_multi_string(
    "library", [], "An archive, object file or shared library with kernels.", flag_values=FLAGS
)
_OUTPUT = flags.DEFINE_string("output", None, "Where to write the adapters.", required=True, flag_values=FLAGS)

_MAX_NEAR_MISSES = 3


def run() -> None:
    library = manifest.read(_MANIFEST.value)
    defined = symbols.read(tuple(_LIBRARIES.value), _NM.value)
    linkable = {(symbol.name, symbol.parameters) for symbol in defined if not symbol.is_local}
    adapted: dict[tuple[str, str], Operator] = {}
    findings: list[Finding] = []
    for operator in library.operators:
        for kernel in {kernel.function: kernel for kernel in operator.kernels}.values():
            expected = _expected_parameters(operator, kernel)
            if kernel.function == aten_kernels.FUNCTION or (kernel.function, expected[-1]) in linkable:
                continue
            if (kernel.function, expected[0]) in linkable:
                adapted.setdefault((kernel.function, expected[0]), operator)
            else:
                findings.append(_undefined(operator, kernel, library.label, defined))
    if findings:
        raise CodegenError(findings)
    source = emit.Source(library.label, library.yaml_names)
    Path(_OUTPUT.value).write_text(emit.adapters(source, [(name, operator) for (name, _), operator in adapted.items()]))


def _expected_parameters(operator: Operator, kernel: Kernel) -> tuple[str, ...]:
    """The kernel's parameters without and with the context, as a demangler spells them."""
    if kernel.is_aten:
        return (", ".join(aten_signatures.demangled_parameters(operator.schema)),)
    parameters = signatures.demangled_parameters(operator.schema)
    return ", ".join(parameters), ", ".join([signatures.DEMANGLED_CONTEXT, *parameters])


def _undefined(operator: Operator, kernel: Kernel, label: str, defined: list[symbols.Symbol]) -> Finding:
    libraries = ", ".join(dict.fromkeys(Path(path).name for path in _LIBRARIES.value))
    near, cause = _near_misses(operator, kernel, defined)
    if not _LIBRARIES.value:
        cause = "the library has no kernel libraries: kernel_deps is empty, or holds headers only"
    details = ["expected one of:"]
    details += [f"  {signature}" for signature in emit.kernel_signatures(operator.schema, kernel)]
    if near:
        details.append("found:")
        details += [f"  {signatures.readable(str(symbol))} in {symbol.library}" for symbol in near[:_MAX_NEAR_MISSES]]
    return Finding(
        id="undefined-kernel",
        where=kernel.location,
        found=f"the kernel {kernel.function} of {operator.name} is defined nowhere"
        + (f" in the kernel libraries of {label} ({libraries})" if libraries else ""),
        cause=cause,
        fix="define the kernel with an expected signature in a library of kernel_deps, or correct its name in the YAML",
        details=tuple(details),
    )


def _near_misses(operator: Operator, kernel: Kernel, defined: list[symbols.Symbol]) -> tuple[list[symbols.Symbol], str]:
    """What was probably meant to be the kernel, and why it is not."""
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
    if near:
        return same_parameters or near, "a typo in the kernel's name, in the YAML or in the source"
    return [], "the kernel's source is not in any library of kernel_deps, or its name in the YAML is another"


def _similar(base_name: str, defined: list[symbols.Symbol]) -> list[symbols.Symbol]:
    """Functions whose name is spelled like a kernel's or contains it; the `_out` that all end in does not count."""
    stem = base_name.removesuffix("_out")
    by_stem: dict[str, list[symbols.Symbol]] = {}
    for symbol in defined:
        by_stem.setdefault(symbol.base_name.removesuffix("_out"), []).append(symbol)
    containing = sorted(other for other in by_stem if other.endswith(f"_{stem}") or other.startswith(f"{stem}_"))
    return [s for other in dict.fromkeys([*containing, *suggest.nearest(stem, by_stem)]) for s in by_stem[other]]


def _parameter_difference(expected: tuple[str, ...], symbol: symbols.Symbol) -> str:
    """Which parameter of a function of the right name is wrong."""
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
