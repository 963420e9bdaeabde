"""A size report as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from codegen.artifacts.size_report import SizeReport
from codegen.model import sizes
from codegen.pages import size_changes
from codegen.pages.size_changes import Entry, count, gained, signed

_NAME_WIDTH = 64
# For groups without operators, the text shows the largest names only.
_NAMES = 10
# The number of classes and functions in a line of shared code.
_LARGEST = 2


def render(report: SizeReport, baseline: SizeReport | None) -> str:
    """Returns the text, with a line for each group, name, and dtype of an operator. A baseline adds the changes."""
    return "\n".join([*_lines(report, baseline), ""])


def _lines(report: SizeReport, baseline: SizeReport | None) -> Iterator[str]:
    groups = size_changes.groups(report, baseline)
    yield f"{report.label}: {count(report.bytes)} in memory"
    if baseline:
        yield f"against {baseline.label}: {count(baseline.bytes)}, {signed(report.bytes - baseline.bytes)}"
        yield ""
        changes = size_changes.largest_changes(groups)
        yield "changes:" if changes else "no part changed."
        yield from (_line(1, f"{name.name} ({group})", name) for group, name in changes)
    for group in groups:
        yield ""
        yield from _group(group)
    if shared := size_changes.shared(report):
        yield ""
        yield from _shared(shared)
    if libraries := size_changes.libraries(report, baseline):
        yield ""
        yield "shared libraries, besides"
        yield from (_line(1, library.name, library) for library in libraries)
    for addition in report.what_if:
        yield ""
        yield f"what if the models of {addition.label} were added: {gained(addition)}"
        yield from (f"  {operator}" for operator in addition.operators)
        for group in size_changes.groups(addition, None):
            yield ""
            yield from _group(group)


def _shared(lines: Sequence[Entry]) -> Iterator[str]:
    """Yields the code that kernels share: the largest classes and functions, and the operators that use the code."""
    yield "code that kernels share, by its operators: a binary without all of these lacks the code"
    for line in lines[:_NAMES]:
        names = [f"{name.name} {name.bytes:,}" for name in line.inner[:_LARGEST]]
        if more := len(line.inner) - len(names):
            names.append(f"{more} more")
        yield _line(1, ", ".join(names), line)
        yield f"    of {line.name}" if "::" in line.name else f"    {line.name}"
    if rest := tuple(lines[_NAMES:]):
        yield _line(1, f"{len(rest)} more lines", _rest(rest))


def _group(group: Entry) -> Iterator[str]:
    yield _line(0, group.name, group)
    shown = group.inner if group.name == sizes.OPERATORS else group.inner[:_NAMES]
    for name in shown:
        yield _line(1, name.name, name)
        if group.name == sizes.OPERATORS:
            yield from (_line(2, dtype.name or "no dtype in the name", dtype) for dtype in name.inner)
    if rest := group.inner[len(shown) :]:
        yield _line(1, f"{len(rest)} more", _rest(rest))


def _rest(entries: tuple[Entry, ...]) -> Entry:
    has_before = entries[0].before is not None
    before = sum(entry.before or 0 for entry in entries)
    return Entry("", sum(entry.bytes for entry in entries), before if has_before else None)


def _line(depth: int, name: str, entry: Entry) -> str:
    line = f"{'  ' * depth + name:<{_NAME_WIDTH}} {entry.bytes:>12,}"
    return f"{line} {signed(entry.change):>12}" if entry.before is not None else line
