"""Counts the instructions that a program executes on an emulated arm64 processor."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from absl import flags

from kernels.testing import arm64

_QEMU = flags.DEFINE_string("qemu", None, "QEMU's emulator of arm64 programs.", required=True)
_LOADER = flags.DEFINE_string("loader", None, "The dynamic loader of arm64, below lib.", required=True)


class EmulationError(Exception):
    """A program failed on the emulated processor."""


def instructions(processor: str, command: Sequence[str | Path]) -> int:
    """Returns the number of instructions that a command executes on a processor, as QEMU's -cpu names it.

    The number includes the start of the program. The difference between two runs is that of their work.

    Raises:
        EmulationError: the command failed.
    """
    emulator = arm64.Emulator(Path(_QEMU.value), Path(_LOADER.value))
    reader, writer = os.pipe()
    logs = ["-d", "in_asm,exec,nochain", "-D", f"/dev/fd/{writer}"]
    process = subprocess.Popen(
        [*emulator.command(processor), *logs, *map(str, command)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        pass_fds=[writer],
    )
    os.close(writer)
    with os.fdopen(reader, "rb") as log:
        count = executed(log)
    output = process.communicate()[0].decode(errors="replace")
    if process.returncode != 0:
        raise EmulationError(f"{command[0]} on {processor}: exit code {process.returncode}\n{output}")
    return count


def executed(log: Iterable[bytes]) -> int:
    """Returns the number of executed instructions, from a log of QEMU with -d in_asm,exec,nochain.

    The log has the instructions of each block when QEMU translates the block, a line each:

        IN: main
        0x0000000000400580:  d10103ff  sub      sp, sp, #0x40

    and a line for each execution of a block, with the address of the first instruction after the first slash:

        Trace 0: 0x7f10d4000100 [0000000000000000/0000000000400580/00000001/00000200] main
    """
    lengths: dict[int, int] = {}
    block = 0
    count = 0
    for line in log:
        if line.startswith(b"Trace"):
            count += lengths[int(line.split(b"/", 2)[1], 16)]
        elif line.startswith(b"IN:"):
            block = 0
        elif line.startswith(b"0x"):
            address = int(line[: line.index(b":")], 16)
            block = block or address
            lengths[block] = (address - block) // 4 + 1
    return count
