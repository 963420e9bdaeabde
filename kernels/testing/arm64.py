"""arm64 processors in QEMU's user-mode emulator."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

# QEMU's processors by the widest instruction set of rules/private/actions/instruction_sets.bzl that they have, from the
# narrowest set on.
PROCESSORS = {"baseline": "cortex-a53", "dotprod": "cortex-a76", "i8mm_bf16": "max"}


@dataclass(frozen=True)
class Emulator:
    """The emulator and the libraries of its programs.

    Attributes:
        qemu: QEMU's emulator of arm64 programs.
        loader: the dynamic loader of arm64, below the folder `lib` in which programs look for it.
    """

    qemu: Path
    loader: Path

    def command(self, processor: str) -> list[str]:
        """Returns the start of a command that runs a program on a processor, as QEMU's -cpu names it."""
        return [str(self.qemu.resolve()), "-cpu", processor, "-L", str(self.loader.resolve().parents[1])]
