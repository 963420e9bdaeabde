"""Reads the loaded sections of an ELF binary, and the symbols that name parts of the sections."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from elftools.common.exceptions import DWARFError, ELFError
from elftools.dwarf.callframe import FDE, CallFrameInfo
from elftools.dwarf.structs import DWARFStructs
from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile

from diagnostics.errors import Finding, InputError

_NAMED = frozenset({"STT_FUNC", "STT_OBJECT", "STT_NOTYPE", "STT_LOOS"})  # STT_LOOS: functions that choose themselves.
# Exceptions that the reader raises for damaged files.
_BROKEN = (
    ELFError,
    DWARFError,
    OSError,
    ValueError,
    KeyError,
    IndexError,
    TypeError,
    AttributeError,
    OverflowError,
    AssertionError,
)

# The section with an entry for each function, by which a function's frame is unwound.
UNWINDING = ".eh_frame"


@dataclass(frozen=True, slots=True)
class Symbol:
    """A name for bytes of a section.

    Attributes:
        name: the mangled name.
        start: the offset of the first byte in the section.
        size: the number of bytes.
        is_local: whether other files cannot link with the symbol.
        source: for a local symbol, the index of the source file in `Image.sources`; -1 for none.
    """

    name: str
    start: int
    size: int
    is_local: bool
    source: int


@dataclass(frozen=True, slots=True)
class Section:
    """A section that takes memory.

    Attributes:
        name: the name with the dot, `.text`.
        size: the size in bytes.
        symbols: the symbols of the section's parts. Several symbols may name the same bytes. In UNWINDING, each entry
            has the names of its function.
    """

    name: str
    size: int
    symbols: tuple[Symbol, ...]


@dataclass(frozen=True, slots=True)
class Image:
    """The memory image of a binary.

    Attributes:
        sections: the sections, in the order of the file.
        sources: the names of the source files with local symbols. Two files may have the same name.
    """

    sections: tuple[Section, ...]
    sources: tuple[str, ...]


def read(path: str) -> Image:
    """Reads a binary.

    Raises:
        InputError: the file is not an ELF file, is damaged, or has no symbols.
    """
    try:
        with Path(path).open("rb") as file:
            elf = ELFFile(file)
            table: Any = elf.get_section_by_name(".symtab")
            if table is None:
                raise InputError(
                    Finding(
                        id="stripped-binary",
                        where=path,
                        found="the binary has no symbols, so nothing tells what its bytes are for",
                        cause="the binary was stripped: by linkopts -s, by --strip=always, or as <name>.stripped",
                        fix="measure the binary before it is stripped; symbols take no memory when the binary runs",
                    )
                )
            return _image(elf, table)
    except _BROKEN as error:
        raise InputError(
            Finding(
                id="unreadable-binary",
                where=path,
                found=f"cannot read the binary as an ELF file: {error}",
                cause="the file is for a platform with another format, is not a binary, or is truncated",
                fix="give a binary for Linux, Android or bare metal that the build links",
            )
        ) from error


def loaded_bytes(path: str) -> int:
    """Returns the memory of the loaded sections of a binary or a shared library, in bytes.

    Raises:
        InputError: the file is not an ELF file, or is damaged.
    """
    try:
        with Path(path).open("rb") as file:
            return sum(int(section["sh_size"]) for _, section in _loaded(ELFFile(file)))
    except _BROKEN as error:
        raise InputError(
            Finding(
                id="unreadable-binary",
                where=path,
                found=f"cannot read the library as an ELF file: {error}",
                cause="the file is not a shared library, or is truncated",
                fix="give the library that the binary is linked with",
            )
        ) from error


def _loaded(elf: ELFFile) -> Iterator[tuple[int, Any]]:
    for index, section in enumerate(elf.iter_sections()):
        if section["sh_flags"] & SH_FLAGS.SHF_ALLOC:
            yield index, section


def _image(elf: ELFFile, table: Any) -> Image:
    loaded = dict(_loaded(elf))
    symbols: dict[int, list[Symbol]] = {index: [] for index in loaded}
    sources: list[str] = []
    for entry in table.iter_symbols():
        kind, binding = entry["st_info"]["type"], entry["st_info"]["bind"]
        if kind == "STT_FILE":
            sources.append(entry.name)
            continue
        index, size = entry["st_shndx"], entry["st_size"]
        if index not in symbols or not size or kind not in _NAMED:
            continue
        start = entry["st_value"] - loaded[index]["sh_addr"]
        # On ARM, the lowest bit of an address marks functions of Thumb instructions.
        if kind == "STT_FUNC" and elf["e_machine"] == "EM_ARM":
            start -= start % 2
        is_local = binding == "STB_LOCAL"
        symbols[index].append(Symbol(entry.name, start, size, is_local, len(sources) - 1 if is_local else -1))
    functions: dict[int, list[Symbol]] = {}
    for index, section in loaded.items():
        for symbol in symbols[index]:
            functions.setdefault(section["sh_addr"] + symbol.start, []).append(symbol)
    for index, section in loaded.items():
        if section.name == UNWINDING:
            symbols[index] = list(_entries(elf, section, functions))
    return Image(
        tuple(
            Section(section.name, int(section["sh_size"]), tuple(symbols[index])) for index, section in loaded.items()
        ),
        tuple(sources),
    )


def _entries(elf: ELFFile, section: Any, functions: Mapping[int, Sequence[Symbol]]) -> Iterator[Symbol]:
    """Yields the entries of UNWINDING as symbols with the names of the functions at the entries' addresses."""
    structs = DWARFStructs(elf.little_endian, 32, elf.elfclass // 8)
    content = section.data()
    table = CallFrameInfo(io.BytesIO(content), len(content), section["sh_addr"], structs, for_eh_frame=True)
    for entry in table.get_entries():
        if isinstance(entry, FDE):
            size = entry["length"] + entry.structs.initial_length_field_size()
            for function in functions.get(entry["initial_location"], ()):
                yield replace(function, start=entry.offset, size=size)
