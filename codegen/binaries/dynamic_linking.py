"""Reads the libraries and symbol versions that ELF files request from the dynamic linker."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection

_MAGIC = b"\x7fELF"


@dataclass(frozen=True, slots=True)
class DynamicLinking:
    """The dynamic linking of an ELF file.

    Attributes:
        machine: the processor, abbreviated as in the ELF standard, e.g. `x86-64`, `AArch64`.
        needed: the names of the needed libraries.
        versions: the needed versions of symbols, e.g. `GLIBC_2.34`, by library.
    """

    machine: str
    needed: tuple[str, ...]
    versions: dict[str, tuple[str, ...]]


def read(path: Path) -> DynamicLinking | None:
    """Returns the dynamic linking of an ELF file; None for other files and damaged files."""
    with path.open("rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            return None
        try:
            elf = ELFFile(file)
            needed = [
                str(tag.needed)  # type: ignore[attr-defined]
                for section in elf.iter_sections()
                if isinstance(section, DynamicSection)
                for tag in section.iter_tags("DT_NEEDED")
            ]
            versions = {
                str(library.name): tuple(sorted(str(version.name) for version in wanted))
                for section in elf.iter_sections()
                if isinstance(section, GNUVerNeedSection)
                for library, wanted in section.iter_versions()
            }
            return DynamicLinking(_machine(elf), tuple(needed), versions)
        except (ELFError, ValueError, UnicodeDecodeError):
            return None


def _machine(elf: ELFFile) -> str:
    names = {"x64": "x86-64"}
    architecture: str = elf.get_machine_arch()
    return names.get(architecture, architecture)
