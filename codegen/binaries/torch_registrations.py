"""Reads the registrations of a shared library with PyTorch from the symbols of the TORCH_LIBRARY macros.

Each use of a macro leaves a static variable, `[STABLE_]TORCH_LIBRARY_[FRAGMENT_|IMPL_]static_init_<namespace>...`,
among the local symbols, and the function of the body (`..._init_<namespace>`), unless the compiler inlines the
function. If the namespace is a macro, the symbol has the macro's name, and only loading the library gives the
namespace.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from codegen.binaries import symbols
from codegen.model.torch_library import FRAGMENT, IMPL, LIBRARY, TorchRegistration
from diagnostics.errors import InputError, Location

_VARIABLE = re.compile(r"(?:.*::)?(?:STABLE_)?TORCH_LIBRARY_(?:(FRAGMENT|IMPL)_)?static_init_(\w+)")
_MACRO = re.compile(r"\b(?:STABLE_)?TORCH_LIBRARY(?:_(FRAGMENT|IMPL))?\s*\(\s*(\w+)\s*,(?:\s*(\w+)\s*,)?")
# Comments. The pattern also matches strings, so that text in a string is not taken for a comment.
_COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|("(?:\\.|[^"\\\n])*")', re.DOTALL)
# The macro with the module's name in PyTorch's extensions.
_EXTENSION_NAME = "TORCH_EXTENSION_NAME"
_KINDS = {None: LIBRARY, "FRAGMENT": FRAGMENT, "IMPL": IMPL}

_Use = tuple[str, str, str]


def read(library: str, sources: Iterable[str], nm: str, module: str) -> tuple[TorchRegistration, ...]:
    """Returns the registrations of a library, with those of libraries that are linked into it.

    Args:
        library: path of the shared library.
        sources: paths of the sources and headers that may use the macros.
        nm: path of nm.
        module: the name of the library's Python module.
    Raises:
        InputError: the library has no symbols left, or nm cannot read them.
    """
    names = symbols.defined_names(library, nm)
    if not names:
        raise InputError.of(
            id="stripped-library",
            where=Path(library).name,
            found="the library has no local symbols, by which its namespaces would be known",
            cause="the linker was told to strip it, by linkopts = ['-s'] or a feature of the toolchain",
            fix="leave the option out; Bazel strips what is shipped (--strip, -s of the packaging step)",
        )
    places: dict[_Use, list[Location]] = {}
    for path in sources:
        for use, location in _uses(path):
            places.setdefault(use, []).append(location)
    found = []
    for use in sorted(_registrations(names)):
        kind, namespace, key = use
        left = places.get(use)
        name = module if namespace == _EXTENSION_NAME else namespace
        found.append(TorchRegistration(kind, name, key, left.pop(0) if left else None))
    return tuple(found)


def _registrations(names: Iterable[str]) -> Iterator[_Use]:
    for name in names:
        if match := _VARIABLE.fullmatch(name):
            rest = match[2]
            if match[1]:
                rest = rest.rpartition("_")[0]  # The number at the end distinguishes uses of one macro.
            namespace, _, key = rest.rpartition("_") if match[1] == "IMPL" else (rest, "", "")
            yield _KINDS[match[1]], namespace, key


def _uses(path: str) -> Iterator[tuple[_Use, Location]]:
    """Yields the uses of the macros in a source, in the order of lines."""
    text = _COMMENT.sub(_blank, Path(path).read_text(errors="replace"))
    for match in _MACRO.finditer(text):
        use = (_KINDS[match[1]], match[2], (match[3] or "") if match[1] == "IMPL" else "")
        yield use, Location(path, text.count("\n", 0, match.start()) + 1, 1)


def _blank(match: re.Match[str]) -> str:
    return match[1] or "\n" * match[0].count("\n")
