"""The memory image of a binary: its sections, and the symbols that name parts of the sections."""

from __future__ import annotations

from dataclasses import dataclass

# The section of ELF with an entry for each function, by which a function's frame is unwound.
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
        name: the name, `.text` in ELF and `__TEXT,__text` in Mach-O.
        size: the size in bytes.
        symbols: the symbols of the section's parts. Several symbols may name the same bytes. In UNWINDING, each entry
            has the names of its function.
        address: the address of the first byte; 0 if the reader of the format does not tell it.
    """

    name: str
    size: int
    symbols: tuple[Symbol, ...]
    address: int = 0


@dataclass(frozen=True, slots=True)
class Image:
    """The memory image of a binary.

    Attributes:
        sections: the sections, in the order of the file.
        sources: the names of the source files with local symbols. Two files may have the same name.
    """

    sections: tuple[Section, ...]
    sources: tuple[str, ...]
