"""Measures the code of a shared library that some functions need."""

from __future__ import annotations

import bisect
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

_FRAME = re.compile(r"pc=([0-9a-f]+)\.\.([0-9a-f]+)")
_RELOCATION = re.compile(r"^([0-9a-f]+) +[0-9a-f]+ R_X86_64_\w+ +([0-9a-f]+)")
_INSTRUCTION = re.compile(r"^ +([0-9a-f]+):\t(\S+) +(.*)$")
_TARGET = re.compile(r"^([0-9a-f]+) <|# ([0-9a-f]+) <")


def _lines(*command: str) -> Iterator[str]:
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield from process.stdout


class Text:
    """The functions of an x86-64 library, from the unwinding tables, and their references to each other.

    A reference is a call, a jump, or a taken address. A function that is only called through a table in the library's
    data counts as not needed.
    """

    def __init__(self, library: Path) -> None:
        frames = [_FRAME.search(line) for line in _lines("readelf", "--debug-dump=frames", str(library))]
        ranges = sorted({(int(frame[1], 16), int(frame[2], 16)) for frame in frames if frame})
        self._starts = [start for start, _ in ranges]
        self._ends = [end for _, end in ranges]
        self._symbols: dict[str, set[int]] = defaultdict(set)
        for line in _lines("nm", "--dynamic", "--defined-only", "--demangle", str(library)):
            value, _, name = line.rstrip("\n").split(" ", 2)
            self._symbols[name.partition("(")[0]].add(int(value, 16))
        # The places at which the loader writes the address of a function.
        slots = {}
        for line in _lines("readelf", "--relocs", "--wide", str(library)):
            if (found := _RELOCATION.match(line)) and (address := int(found[2], 16)) != 0:
                slots[int(found[1], 16)] = address
        self._references: dict[int | None, set[int]] = defaultdict(set)
        stubs = {}
        unresolved = []
        for line in _lines("objdump", "--disassemble", "--no-show-raw-insn", str(library)):
            instruction = _INSTRUCTION.match(line)
            target = instruction and _TARGET.search(instruction[3])
            if not instruction or not target:
                continue
            at, to = int(instruction[1], 16), int(target[1] or target[2], 16)
            to = slots.get(to, to)
            source = self._function(at)
            if instruction[2] == "jmp" and instruction[3].startswith("*"):
                stubs[at] = to
            if source is not None:
                unresolved.append((source, to))
        for source, to in unresolved:
            destination = self._function(stubs.get(to, to))
            if destination is not None and destination != source:
                self._references[source].add(destination)

    def bytes_of(self, names: Iterable[str]) -> int:
        """Returns the bytes of functions with these names (without parameters), and of all referenced functions."""
        waiting = [self._function(address) for name in names for address in self._symbols.get(name, ())]
        seen: set[int | None] = {None}
        while waiting:
            function = waiting.pop()
            if function not in seen:
                seen.add(function)
                waiting += self._references.get(function, ())
        return sum(self._ends[i] - self._starts[i] for i in seen if i is not None)

    def _function(self, address: int) -> int | None:
        """Returns the index of the function at an address; None if there is none."""
        i = bisect.bisect_right(self._starts, address) - 1
        return i if i >= 0 and address < self._ends[i] else None
