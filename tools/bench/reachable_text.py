"""How much code of a shared library some of its functions need."""

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
    """The functions of an x86-64 library, by its unwinding tables, and which refers to which: by a call, a jump, or an
    address that is taken. A function that is only called through a table among the library's data counts as not needed.
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
        # Where the loader writes a function's address.
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
        """The code of functions with these names, without their parameters, and of all that they refer to."""
        waiting = [self._function(address) for name in names for address in self._symbols.get(name, ())]
        seen: set[int | None] = {None}
        while waiting:
            function = waiting.pop()
            if function not in seen:
                seen.add(function)
                waiting += self._references.get(function, ())
        return sum(self._ends[i] - self._starts[i] for i in seen if i is not None)

    def _function(self, address: int) -> int | None:
        """The index of the function that has an address."""
        i = bisect.bisect_right(self._starts, address) - 1
        return i if i >= 0 and address < self._ends[i] else None
