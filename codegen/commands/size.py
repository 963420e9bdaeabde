"""Writes a size report of a binary: operators by dtype, registration, the runner, the runtime, and the rest.

    codegen size --label //app:runner --binary runner --nm nm --objdump objdump --manifest registered.json \\
        --library libexecutorch.so --text size.txt --json size.json --html size.html

The report counts each byte of the loaded sections once, and has the operators that use the code which kernels share.
With --what_if, the report has the operators and bytes that the models of other binaries would add to the binary.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from codegen.artifacts import registered_operators, size_report
from codegen.artifacts.registered_operators import Library
from codegen.artifacts.size_report import Addition, SharedLibrary, SizeReport
from codegen.binaries import attribution, dynamic_linking, image_reader, references, symbols
from codegen.binaries.attribution import Attribution
from codegen.binaries.image import Image
from codegen.commands import define, shared_flags
from codegen.cpp.source import Source
from codegen.pages import size_page, size_text

FLAGS = shared_flags.flag_values()

_LABEL = shared_flags.label(FLAGS, "the binary")
_NM = shared_flags.nm(FLAGS)
_OBJDUMP = define.optional(
    FLAGS, "objdump", "The toolchain's objdump. Without it, nothing tells which operators use shared code."
)
_BINARY = define.required(FLAGS, "binary", "The binary.")
_MANIFESTS = define.several(
    FLAGS, "manifest", "What a library of the binary registers, the registered.json of 'codegen generate'."
)
_LIBRARIES = define.several(FLAGS, "library", "A shared library that the binary may need.")
_BASELINE = define.optional(FLAGS, "baseline", "The JSON of another report, to compare with.")
_WHAT_IF = define.several(FLAGS, "what_if", "The label of another binary, a tab, and the binary.")
_WHAT_IF_MANIFESTS = define.several(
    FLAGS, "what_if_manifest", "The label of another binary, a tab, and what a library of it registers."
)
_TEXT = define.required(FLAGS, "text", "Where to write the text.")
_JSON = define.required(FLAGS, "json", "Where to write the JSON.")
_HTML = define.required(FLAGS, "html", "Where to write the web page.")


def run() -> None:
    measured = _measure(_BINARY.value, _MANIFESTS.value)
    found = references.read(_BINARY.value, _OBJDUMP.value) if _OBJDUMP.value else ()
    report = SizeReport(
        _LABEL.value,
        measured.attribution.parts(measured.image),
        _needed(_BINARY.value, _LIBRARIES.value),
        tuple(_addition(measured, *given.split("\t")) for given in _WHAT_IF.value),
        measured.attribution.shared_code(measured.image, found) if found else (),
    )
    baseline = size_report.read(_BASELINE.value) if _BASELINE.value else None
    Path(_TEXT.value).write_text(size_text.render(report, baseline))
    Path(_JSON.value).write_text(size_report.write(report))
    Path(_HTML.value).write_text(size_page.render(report, baseline))


@dataclass(frozen=True, slots=True)
class _Measured:
    """A measured binary: the memory image, the attribution, and the registered operators."""

    image: Image
    attribution: Attribution
    operators: frozenset[str]


def _measure(binary: str, manifests: Iterable[str]) -> _Measured:
    image = image_reader.read(binary)
    registered = [registered_operators.read(path) for path in manifests]
    operators = _operators(registered)
    libraries = {Source(library.label, library.yaml_names).namespace: library.label for library in registered}
    return _Measured(
        image,
        Attribution(operators, libraries, symbols.demangled_names(binary, _NM.value)),
        frozenset(name for names in operators.values() for name in names),
    )


def _addition(measured: _Measured, label: str, binary: str) -> Addition:
    manifests = [given.split("\t") for given in _WHAT_IF_MANIFESTS.value]
    other = _measure(binary, [path for of, path in manifests if of == label])
    return Addition(
        label,
        tuple(sorted(other.operators - measured.operators)),
        attribution.added(measured.image, measured.attribution, other.image, other.attribution),
    )


def _operators(registered: Sequence[Library]) -> dict[str, set[str]]:
    operators: dict[str, set[str]] = {}
    for library in registered:
        for operator in library.operators:
            for kernel in operator.kernels:
                operators.setdefault(kernel.function, set()).add(str(operator.schema.name))
    return operators


def _needed(binary: str, libraries: Sequence[str]) -> tuple[SharedLibrary, ...]:
    """Returns the libraries that the binary needs, directly or through other libraries."""
    given = {Path(path).name: path for path in libraries}
    needed: set[str] = set()
    reached = [binary]
    while reached:
        linking = dynamic_linking.read(Path(reached.pop()))
        new = {name for name in (linking.needed if linking else ()) if name in given} - needed
        needed |= new
        reached += [given[name] for name in new]
    return tuple(SharedLibrary(name, image_reader.loaded_bytes(given[name])) for name in sorted(needed))
