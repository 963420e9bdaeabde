"""Compares a size report with a baseline: the bytes of each part now and before."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from codegen.artifacts.size_report import Addition, SizeReport
from codegen.model import sizes
from codegen.model.sizes import SharedCode

# The number of operators that a line names.
_OPERATORS = 8


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a report.

    Attributes:
        name: the name of a group, a name in a group, or dtypes. Empty if the dtypes are unknown.
        bytes: the number of bytes.
        before: the number of bytes in the baseline; None without a baseline.
        inner: the entries of the parts, the largest first.
    """

    name: str
    bytes: int
    before: int | None
    inner: tuple[Entry, ...] = ()

    @property
    def change(self) -> int:
        """The number of additional bytes, negative for fewer bytes; 0 without a baseline."""
        return self.bytes - self.before if self.before is not None else 0


def groups(report: SizeReport | Addition, baseline: SizeReport | None) -> list[Entry]:
    """Returns the groups that have bytes in a report or in its baseline. Groups contain names, and names dtypes."""
    now = {(part.group, part.name, part.dtype): part.bytes for part in report.parts}
    before = {(part.group, part.name, part.dtype): part.bytes for part in baseline.parts} if baseline else {}
    tree: dict[str, dict[str, list[Entry]]] = {}
    for key in now.keys() | before.keys():
        group, name, dtype = key
        entry = Entry(dtype, now.get(key, 0), before.get(key, 0) if baseline else None)
        tree.setdefault(group, {}).setdefault(name, []).append(entry)
    return [
        _sum(group, (_sum(name, dtypes) for name, dtypes in tree[group].items()))
        for group in sizes.GROUPS
        if group in tree
    ]


def libraries(report: SizeReport, baseline: SizeReport | None) -> list[Entry]:
    """Returns the shared libraries, sorted by name."""
    now = {library.name: library.bytes for library in report.libraries}
    before = {library.name: library.bytes for library in baseline.libraries} if baseline else {}
    return [
        Entry(name, now.get(name, 0), before.get(name, 0) if baseline else None)
        for name in sorted(now.keys() | before.keys())
    ]


def shared(report: SizeReport) -> list[Entry]:
    """Returns the code that kernels share, by the operators to remove to lose it, with its classes and functions."""
    return [
        Entry(_users(code), code.bytes, None, tuple(Entry(name, number, None) for name, number in code.names))
        for code in report.shared
    ]


def _users(code: SharedCode) -> str:
    if code.is_of_program:
        return "used by the program, too: stays without operators"
    if not code.operators:
        return "no use found"
    more = len(code.operators) - _OPERATORS
    names = ", ".join(code.operators[:_OPERATORS])
    return f"{names} and {more:,} more operators" if more > 1 else ", ".join(code.operators)


def largest_changes(entries: Iterable[Entry]) -> list[tuple[str, Entry]]:
    """Returns the names with changed bytes and their groups, the largest change first."""
    changed = [(group.name, name) for group in entries for name in group.inner if name.change]
    return sorted(changed, key=lambda each: (-abs(each[1].change), each[0], each[1].name))


def _sum(name: str, entries: Iterable[Entry]) -> Entry:
    inner = tuple(sorted(entries, key=lambda entry: (-entry.bytes, -(entry.before or 0), entry.name)))
    befores = [entry.before for entry in inner if entry.before is not None]
    return Entry(name, sum(entry.bytes for entry in inner), sum(befores) if befores else None, inner)


def gained(addition: Addition) -> str:
    """Returns a text such as `1,234 bytes more, with 2 new operators`."""
    operators = len(addition.operators)
    return f"{count(addition.bytes)} more, with {operators} new {'operator' if operators == 1 else 'operators'}"


def count(number: int) -> str:
    """Returns a text such as `1,234 bytes`."""
    return f"{number:,} {'byte' if number == 1 else 'bytes'}"


def was(entry: Entry) -> str:
    """Returns the note beside a change: `new`, `gone`, or the former bytes, as in `of 1,234`."""
    if not entry.before:
        return "new"
    return f"of {entry.before:,}" if entry.bytes else "gone"


def signed(number: int) -> str:
    """Returns a number with its sign: `+1,234`, `-1,234` or `0`."""
    return f"{number:+,}" if number else "0"
