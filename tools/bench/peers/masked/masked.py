"""Copies of libraries that see a processor without its widest instruction sets.

Most peers choose their kernels by the instruction `cpuid`, and have no setting that limits the choice. In a copy, each
`cpuid` is replaced by `clts`, which is as long, and which no processor executes in a user program. The signal handler
of cpuid_mask.c, which `environment` loads, executes `cpuid` instead, and removes the wider sets from the result.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from tools.bench import elf

# The sets that a copy can be limited to.
SETS = ("avx2", "avx512")

_PATHS = ("LD_LIBRARY_PATH", "PYTHONPATH")
_CPUID = b"\x0f\xa2"
_CLTS = b"\x0f\x06"
_LINE = re.compile(r"\s*([0-9a-f]+):\s+cpuid\s*$")
_HANDLER = Path(__file__).with_name("libcpuid_mask.so")


def mask(library: Path) -> int:
    """Replaces the `cpuid` instructions of an ELF file of x86-64, in place. Returns the number of instructions.

    Raises:
        FileNotFoundError: there is no objdump (binutils, which GCC needs, too).
        subprocess.CalledProcessError: objdump cannot read the file.
        ValueError: the file does not have the bytes that objdump shows.
    """
    command = ["objdump", "--disassemble", "--no-show-raw-insn", str(library)]
    # The listing of a library can have a gigabyte.
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        addresses = [int(found[1], 16) for line in process.stdout if (found := _LINE.match(line))]
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, command)
    content = bytearray(library.read_bytes())
    for address in addresses:
        offset = elf.file_offset(content, address)
        if content[offset : offset + 2] != _CPUID:
            raise ValueError(f"{library}: objdump shows cpuid at {address:#x}, and the file has other bytes there")
        content[offset : offset + 2] = _CLTS
    if addresses:
        library.write_bytes(content)
    return len(addresses)


def copies(packages: Iterable[Path], libraries: Iterable[Path], state: Path) -> Path:
    """Returns a folder with masked copies of Python packages and of libraries; makes the folder if it does not exist.

    Args:
        packages: the folders of Python packages, for PYTHONPATH.
        libraries: shared libraries, for LD_LIBRARY_PATH.
        state: the folder for the result, whose name has a hash of the libraries.
    """
    packages, libraries = list(packages), list(libraries)
    sources = [*libraries, *(file for package in packages for file in sorted(package.rglob("*.so*")))]
    digest = hashlib.sha256()
    for source in sources:
        digest.update(source.name.encode() + source.read_bytes())
    folder = state / f"masked-{digest.hexdigest()[:16]}"
    if folder.exists():
        return folder
    draft = folder.with_suffix(".draft")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    for package in packages:
        shutil.copytree(package, draft / package.name)
    for library in libraries:
        shutil.copy(library, draft / library.name)
    for file in draft.rglob("*.so*"):
        file.chmod(0o755)
        mask(file)
    draft.rename(folder)
    return folder


def environment(folder: Path, variables: dict[str, str]) -> dict[str, str]:
    """Returns environment variables with which a process finds the copies of a folder first."""
    first = {name: os.pathsep.join(filter(None, (str(folder), variables.get(name)))) for name in _PATHS}
    return {**variables, **first, "LD_PRELOAD": str(_HANDLER)}
