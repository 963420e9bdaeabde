"""Reads object files, libraries and binaries of macOS (Mach-O) and Windows (COFF, PE) with LIEF.

LIEF reads ELF files, too, and does not replace the modules that do. LIEF may add 20 ms to the start of a process, and
adds 330. The processor time and the memory of LIEF 1.0.0, pyelftools 0.33 and `object_files`, on a Xeon:

|                                                    |   LIEF | pyelftools | `object_files` |
|----------------------------------------------------|-------:|-----------:|---------------:|
| import                                             | 365 ms |      32 ms |          15 ms |
| memory after the import                            |  64 MB |      17 MB |          14 MB |
| symbols of libexecutorch_kernels_optimized (11 MB) |  14 ms |      61 ms |           4 ms |
| symbols of libtorch_python (30 MB)                 | 1.15 s |     1.96 s |          12 ms |

The times repeat with `time.process_time()` around `import lief`, `lief.parse(path)`, `ELFFile.iter_sections()` and
`object_files.registrations(path)`. LIEF reads no archives, which `formats` opens.

LIEF is therefore imported for a file of its formats only. LIEF has 12 MB (a wheel of 4 MB, for Linux, macOS and Windows
on x86-64 and arm64, for Python 3.10 and newer; Apache 2.0). The lock of the code generator's packages has LIEF on macOS
and Windows only.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from codegen.binaries import formats
from codegen.binaries.formats import Data
from codegen.binaries.image import Image, Section, Symbol
from diagnostics.errors import InputError

# Bits of a Mach-O symbol's type: of a symbol for debuggers, and the kind of other symbols.
_DEBUG = 0xE0
_KIND = 0x0E
_IN_SECTION = 0x0E
_EXTERNAL = 0x01
# The segment for debuggers, which is not loaded.
_DEBUG_SEGMENT = "__DWARF"
# The name of the function that initializes the static variables of a source file. The name of the file follows.
_INITIALIZER = "_GLOBAL__sub_I_"
# LIEF's names of processors, and those of the ELF standard.
_MACHINES = {"AMD64": "x86-64", "X86_64": "x86-64", "ARM64": "AArch64", "I386": "x86", "X86": "x86"}


@dataclass(frozen=True, slots=True)
class Name:
    """A symbol of an object file, a library or a binary.

    Attributes:
        name: the mangled name, without the underscore that macOS adds.
        is_defined: whether the file has the bytes of the symbol.
        content: the bytes from the symbol to the end of its section; empty for others.
    """

    name: str
    is_defined: bool
    content: memoryview

    def text(self) -> str:
        """Returns the symbol's bytes up to a zero byte."""
        return bytes(self.content).partition(b"\0")[0].decode()


@dataclass(frozen=True, slots=True)
class Names:
    """The symbols of a file.

    Attributes:
        names: the symbols.
        source: the name of the source file; empty if the file has none or several.
    """

    names: Sequence[Name]
    source: str


@dataclass(frozen=True, slots=True)
class Linking:
    """The processor of a library or a binary, and the libraries that it needs, without folders."""

    machine: str
    needed: tuple[str, ...]


def names(data: Data, format_: str, where: str) -> Names:
    """Returns the symbols of a file. A file that is damaged has those that LIEF can read.

    Args:
        data: the content, for one processor.
        format_: the format, as `formats.format_of` returns it.
        where: the path, for errors.
    Raises:
        InputError: LIEF is not installed.
    """
    lief = _lief(format_, where)
    if format_ == formats.MACH_O:
        binary, read = _mach_o(lief, data), _mach_o_symbols
    elif format_ == formats.COFF:
        binary, read = lief.COFF.parse(bytes(data)), _coff_symbols
    else:
        binary, read = lief.PE.parse(bytes(data)), _pe_symbols
    return read(binary) if binary is not None else Names((), "")


def image(data: Data, where: str) -> Image | None:
    """Returns the sections of a Mach-O binary, without those for debuggers; None for a damaged file.

    A symbol has no size in Mach-O, and extends to the next one.

    Raises:
        InputError: LIEF is not installed.
    """
    binary = _mach_o(_lief(formats.MACH_O, where), data)
    if binary is None:
        return None
    by_section: dict[int, list[Any]] = {}
    for symbol in binary.symbols:
        if _is_in_section(symbol):
            by_section.setdefault(symbol.numberof_sections, []).append(symbol)
    sections = (
        Section(
            f"{section.segment_name},{section.name}",
            section.size,
            tuple(_named(section, by_section.get(index, ()))),
        )
        for index, section in enumerate(binary.sections, start=1)
        if section.segment_name != _DEBUG_SEGMENT
    )
    return Image(tuple(sections), ())


def linking(data: Data, format_: str, where: str) -> Linking | None:
    """Returns the linking of a Mach-O or PE file; None for a damaged file.

    Raises:
        InputError: LIEF is not installed.
    """
    lief = _lief(format_, where)
    if format_ == formats.PE:
        binary = lief.PE.parse(bytes(data))
        needed = [library.name for library in binary.imports] if binary else []
    else:
        binary = _mach_o(lief, data)
        own = lief.MachO.LoadCommand.TYPE.ID_DYLIB
        libraries = binary.libraries if binary else ()
        needed = [library.name.rpartition("/")[2] for library in libraries if library.command != own]
    if binary is None:
        return None
    machine = getattr(binary.header, "machine" if format_ == formats.PE else "cpu_type")
    # A processor that LIEF does not know is a number.
    name = getattr(machine, "name", str(machine))
    return Linking(_MACHINES.get(name, name), tuple(needed))


def _lief(format_: str, where: str) -> Any:
    try:
        import lief
    except ImportError as error:
        raise InputError.of(
            id="unreadable-binary",
            where=where,
            found=f"cannot read the {format_} file: the Python package lief is not installed",
            cause=f"the file is for {formats.PLATFORMS[format_]}, and the lock of the code generator's packages "
            "has lief on macOS and Windows only",
            fix="add lief to the packages of executorch.codegen_python in MODULE.bazel: to the lock of "
            "requirements, to the environment of site_packages, or to deps",
        ) from error
    # What is damaged is reported by this module's callers.
    lief.logging.disable()
    return lief


def _mach_o(lief: Any, data: Data) -> Any:
    parsed = lief.MachO.parse(bytes(data))
    return parsed.at(0) if parsed is not None and len(parsed) else None


def _is_in_section(symbol: Any) -> bool:
    return not symbol.raw_type & _DEBUG and symbol.raw_type & _KIND == _IN_SECTION


def _mach_o_symbols(binary: Any) -> Names:
    contents = [(section.virtual_address, section.content) for section in binary.sections]
    found: list[Name] = []
    for symbol in binary.symbols:
        if symbol.raw_type & _DEBUG:
            continue
        content = memoryview(b"")
        if _is_in_section(symbol) and 0 < symbol.numberof_sections <= len(contents):
            address, whole = contents[symbol.numberof_sections - 1]
            content = whole[max(symbol.value - address, 0) :]
        found.append(Name(symbol.name.removeprefix("_"), _is_in_section(symbol), content))
    return _with_source(found)


def _coff_symbols(binary: Any) -> Names:
    return _with_source(list(_with_contents(binary)))


def _with_source(found: Sequence[Name]) -> Names:
    # Mach-O names source files in debug information only, and LIEF 1.0.0 leaves letters out of long names in COFF.
    sources = {name.name.removeprefix(_INITIALIZER) for name in found if name.name.startswith(_INITIALIZER)}
    source = sources.pop() if len(sources) == 1 else ""
    # GCC may name the function after a symbol.
    return Names(found, source if "." in source else "")


def _pe_symbols(binary: Any) -> Names:
    imported = (entry.name for library in binary.imports for entry in library.entries if not entry.is_ordinal)
    undefined = (Name(name, False, memoryview(b"")) for name in imported)
    return Names([*_with_contents(binary), *undefined], "")


def _with_contents(binary: Any) -> Iterator[Name]:
    contents = [section.content for section in binary.sections]
    for symbol in binary.symbols:
        if symbol.section_idx == 0:
            yield Name(symbol.name, False, memoryview(b""))
        elif 0 < symbol.section_idx <= len(contents):
            yield Name(symbol.name, True, contents[symbol.section_idx - 1][symbol.value :])


def _named(section: Any, symbols: Collection[Any]) -> Iterator[Symbol]:
    """Yields the symbols of a section. Symbols with the same start share their bytes."""
    bounds = [*sorted({symbol.value for symbol in symbols}), section.virtual_address + section.size]
    ends = dict(itertools.pairwise(bounds))
    for symbol in symbols:
        size = ends[symbol.value] - symbol.value
        if size > 0:
            name, is_local = symbol.name.removeprefix("_"), not symbol.raw_type & _EXTERNAL
            yield Symbol(name, symbol.value - section.virtual_address, size, is_local, -1)
