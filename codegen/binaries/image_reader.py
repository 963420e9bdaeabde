"""Reads the memory image of a binary, by the format of the file."""

from __future__ import annotations

from pathlib import Path

from codegen.binaries import elf_image, formats, macos_and_windows
from codegen.binaries.image import Image
from diagnostics.errors import Finding, InputError


def read(path: str) -> Image:
    """Reads a binary.

    Raises:
        InputError: the file is neither an ELF nor a Mach-O file, is damaged, or has no symbols; or the file is a Mach-O
            file, and LIEF is not installed.
    """
    try:
        image = _mach_o(path) if _is_mach_o(path, "binary") else elf_image.read(path)
    except (elf_image.BrokenError, OSError) as error:
        raise InputError.of(
            id="unreadable-binary",
            where=path,
            found=f"cannot read the binary as an ELF or Mach-O file: {error}",
            cause="the file is for a platform with another format, is not a binary, or is truncated",
            fix="give a binary for Linux, Android, macOS or bare metal that the build links",
        ) from error
    if image is None or not any(section.symbols for section in image.sections):
        raise InputError.of(
            id="stripped-binary",
            where=path,
            found="the binary has no symbols, so nothing tells what its bytes are for",
            cause="the binary was stripped: by linkopts -s, by --strip=always, or as <name>.stripped",
            fix="measure the binary before it is stripped; symbols take no memory when the binary runs",
        )
    return image


def loaded_bytes(path: str) -> int:
    """Returns the memory of the sections of a binary or a shared library, in bytes.

    Raises:
        InputError: the file is neither an ELF nor a Mach-O file, or is damaged; or the file is a Mach-O file, and LIEF
            is not installed.
    """
    try:
        if _is_mach_o(path, "library"):
            return sum(section.size for section in _mach_o(path).sections)
        return elf_image.loaded_bytes(path)
    except (elf_image.BrokenError, OSError) as error:
        raise InputError.of(
            id="unreadable-binary",
            where=path,
            found=f"cannot read the library as an ELF or Mach-O file: {error}",
            cause="the file is not a shared library, or is truncated",
            fix="give the library that the binary is linked with",
        ) from error


def _is_mach_o(path: str, what: str) -> bool:
    """Returns whether a file is a Mach-O file.

    Raises:
        InputError: the file has a format that has no image.
        OSError: the file cannot be read.
    """
    with Path(path).open("rb") as file:
        head = file.read(formats.HEAD)
    format_ = formats.format_of(head)
    if formats.is_universal(head):
        found = f"the {what} is a universal Mach-O file, with code for several processors"
        cause, fix = "the build links for more than one processor", "give the file for one of the processors"
    elif format_ in (formats.COFF, formats.PE):
        found = f"the {what} is a {format_} file, for Windows"
        cause, fix = "symbols have no sizes in files for Windows", "give a file for Linux, Android, macOS or bare metal"
    else:
        return format_ == formats.MACH_O
    raise InputError(Finding(id="unreadable-binary", where=path, found=found, cause=cause, fix=fix))


def _mach_o(path: str) -> Image:
    image = macos_and_windows.image(Path(path).read_bytes(), path)
    if image is None or not image.sections:
        raise elf_image.BrokenError("the file is a damaged Mach-O file")
    return image
