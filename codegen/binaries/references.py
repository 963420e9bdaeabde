"""Reads which places of a binary refer to which others: calls, jumps, addresses in code, and pointers in data."""

from __future__ import annotations

import contextlib
import re
import subprocess
from collections.abc import Iterator, Sequence

from codegen.binaries import elf_image

# objdump's line of an instruction, and the addresses in it: `call 401126 <f>`, `lea 0x2f(%rip),%rax # 4020 <t>`.
_INSTRUCTION = re.compile(r"^ +([0-9a-f]+):\t(.*)$", re.MULTILINE)
_TARGET = re.compile(r"\b(?:0x)?([0-9a-f]+) <")
# On arm64, two instructions make an address: that of a page, and the place in the page.
_PAGE = re.compile(r"^adrp\s+(x\d+), (?:0x)?([0-9a-f]+)\b")
_PLACE = re.compile(r"^(?:add\s+x\d+, (x\d+), #|ldr\s+[\w]+, \[(x\d+), #)(0x[0-9a-f]+|\d+)")


def read(binary: str, objdump: str) -> Sequence[tuple[int, int]]:
    """Returns the references of an ELF binary: the address of the referring place, and the address that it names.

    Args:
        binary: the binary.
        objdump: the toolchain's objdump.
    Returns:
        Nothing if objdump cannot read the binary, or is missing.
    """
    command = [objdump, "--disassemble", "--no-show-raw-insn", binary]
    try:
        listing = subprocess.run(command, capture_output=True, check=True, text=True, errors="replace").stdout
    except (OSError, subprocess.CalledProcessError):
        return []
    found = list(_of_code(listing))
    with contextlib.suppress(elf_image.BrokenError):
        found += elf_image.pointers(binary)
    return found


def _of_code(listing: str) -> Iterator[tuple[int, int]]:
    pages: dict[str, int] = {}
    for match in _INSTRUCTION.finditer(listing):
        at, text = int(match[1], 16), match[2]
        if page := _PAGE.match(text):
            pages[page[1]] = int(page[2], 16)
        elif place := _PLACE.match(text):
            base = pages.get(place[1] or place[2])
            if base is not None:
                yield at, base + int(place[3], 0)
        else:
            for target in _TARGET.finditer(text):
                yield at, int(target[1], 16)
