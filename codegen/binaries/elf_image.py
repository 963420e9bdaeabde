"""Reads the loaded sections of an ELF binary, and the symbols that name parts of the sections."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from elftools.common.exceptions import DWARFError, ELFError
from elftools.dwarf.callframe import FDE, CallFrameInfo
from elftools.dwarf.structs import DWARFStructs
from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile

from codegen.binaries.image import UNWINDING, Image, Section, Symbol

_NAMED = frozenset({"STT_FUNC", "STT_OBJECT", "STT_NOTYPE", "STT_LOOS"})  # STT_LOOS: functions that choose themselves.
# The type of the relocations of pointers into the binary itself.
_RELATIVE = {"EM_X86_64": 8, "EM_AARCH64": 1027}
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


class BrokenError(Exception):
    """A file is damaged, or is no ELF file."""


def read(path: str) -> Image | None:
    """Reads an ELF binary; None if it has no symbols.

    Raises:
        BrokenError: the file is damaged.
    """
    with _opened(path) as elf:
        table: Any = elf.get_section_by_name(".symtab")
        return _image(elf, table) if table is not None else None


def loaded_bytes(path: str) -> int:
    """Returns the memory of the loaded sections of an ELF file, in bytes.

    Raises:
        BrokenError: the file is damaged.
    """
    with _opened(path) as elf:
        return sum(int(section["sh_size"]) for _, section in _loaded(elf))


def pointers(path: str) -> list[tuple[int, int]]:
    """Returns the pointers in the data of an ELF binary for any load address: their addresses, and their targets.

    Raises:
        BrokenError: the file is damaged.
    """
    with _opened(path) as elf:
        relative = _RELATIVE.get(elf["e_machine"])
        return [
            (int(entry["r_offset"]), int(entry["r_addend"]))
            for _, section in _loaded(elf)
            if section["sh_type"] == "SHT_RELA"
            for entry in section.iter_relocations()
            if entry["r_info_type"] == relative
        ]


@contextlib.contextmanager
def _opened(path: str) -> Iterator[ELFFile]:
    try:
        with Path(path).open("rb") as file:
            yield ELFFile(file)
    except _BROKEN as error:
        raise BrokenError(str(error)) from error


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
            Section(section.name, int(section["sh_size"]), tuple(symbols[index]), int(section["sh_addr"]))
            for index, section in loaded.items()
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
