"""Makes copies of ExecuTorch's libraries that are libraries of their own for the dynamic linker.

A process loads a library once by its name (SONAME), and ExecuTorch's libraries have a registry of kernels. Copies of
other names have registries of their own. The new names have the length of the old ones, so that no other byte changes.
"""

from __future__ import annotations

import io
import re

from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile

# The beginning of the names of libraries that change. `key` has as many characters as `executorch`.
_NAME = re.compile(rb"\0libexecutorch(\w*\.so)(?=\0)")


def private_copy(library: bytes, key: str, runpath: str) -> bytes:
    """Returns a library with other names for ExecuTorch's libraries, its own name and those that it needs.

    Args:
        library: the content of an ELF file.
        key: what stands for `executorch` in a name.
        runpath: the folders in which the dynamic linker looks for needed libraries. Those of the library go away, if
            it has any.
    """
    elf = ELFFile(io.BytesIO(library))
    (dynamic,) = (section for section in elf.iter_sections() if isinstance(section, DynamicSection))
    strings = elf.get_section(dynamic["sh_link"])
    begin = strings["sh_offset"]
    end = begin + strings["sh_size"]
    table = bytearray(_NAME.sub(b"\0lib" + key.encode() + rb"\1", library[begin:end]))
    for tag in dynamic.iter_tags():
        if tag.entry.d_tag in ("DT_RPATH", "DT_RUNPATH"):
            at, path = tag.entry.d_val, runpath.encode() + b"\0"
            if len(path) > table.index(b"\0", at) + 1 - at:
                raise ValueError("the run path of a library has no room for another")
            table[at : at + len(path)] = path
    return library[:begin] + bytes(table) + library[end:]
