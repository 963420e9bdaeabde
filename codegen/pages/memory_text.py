"""A memory report as text."""

from __future__ import annotations

from collections.abc import Iterator

from codegen.artifacts.memory_report import Constant, MemoryReport, Method, PlannedTensor, WhatIf

_NAME_WIDTH = 64
# The numbers of lines for tensors and constants.
_TENSORS = 20
_CONSTANTS = 10


def render(report: MemoryReport) -> str:
    """Returns the text."""
    return "\n".join([*_lines(report), ""])


def _lines(report: MemoryReport) -> Iterator[str]:
    yield f"{report.label}: {report.bytes:,} bytes, the file and the planned memory of the largest method"
    for method in report.methods:
        yield ""
        yield from _method(method)
    yield ""
    yield _line(0, "program file", report.program_bytes)
    if report.weights_bytes:
        yield _line(0, "weights files", report.weights_bytes)
    yield from _constants(report.constants, report.constant_bytes)
    for other in report.what_if:
        yield ""
        yield from _what_if(report, other)


def _method(method: Method) -> Iterator[str]:
    yield _line(0, f"method {method.name}, planned memory", method.planned)
    if len(method.memories) > 1:
        yield from (_line(1, f"memory {number}", size) for number, size in enumerate(method.memories, 1))
    if method.instructions:
        yield _line(1, f"in use at the peak, instruction {method.peak}", method.peak_bytes)
        yield f"    {method.instructions[method.peak]}"
        yield _line(1, "not in use at the peak", method.planned - method.peak_bytes)
    if tensors := method.at_peak:
        yield "  at the peak"
        for tensor in tensors[:_TENSORS]:
            yield from _tensor(method, tensor)
        if rest := tensors[_TENSORS:]:
            yield _line(2, f"{len(rest)} more", sum(tensor.bytes for tensor in rest))
    if method.ports:
        yield "  inputs and outputs"
        for port in method.ports:
            yield _line(2, f"{port.name}, {port.tensor}", port.bytes)
            yield "      in planned memory" if port.is_planned else "      in memory of the application"
    if method.backends:
        yield f"  and the memory of the backends: {', '.join(method.backends)}"


def _tensor(method: Method, tensor: PlannedTensor) -> Iterator[str]:
    yield _line(2, ", ".join(filter(None, (tensor.name, tensor.tensor))), tensor.bytes)
    span = "in" if tensor.first == tensor.last else "from"
    yield f"      {span} {tensor.first} {method.instructions[tensor.first]}"
    if tensor.first != tensor.last:
        yield f"      to {tensor.last} {method.instructions[tensor.last]}"


def _constants(constants: tuple[Constant, ...], total: int) -> Iterator[str]:
    yield _line(1, "constants in the file", total)
    for constant in constants[:_CONSTANTS]:
        where = ", in another file" if constant.is_external else ""
        yield _line(2, f"{constant.tensor}{where}", constant.bytes)
        yield f"      read by {constant.user}"
    if rest := constants[_CONSTANTS:]:
        yield _line(2, f"{len(rest)} more", sum(constant.bytes for constant in rest))


def _what_if(report: MemoryReport, other: WhatIf) -> Iterator[str]:
    yield f"what if the program were {other.label}"
    yield _changed("program file", other.program_bytes, report.program_bytes)
    planned = {method.name: method.planned for method in report.methods}
    for name, size in other.planned:
        yield _changed(f"method {name}, planned memory", size, planned.get(name, 0))


def _changed(name: str, size: int, before: int) -> str:
    return f"{_line(1, name, size)} {f'{size - before:+,}' if size != before else '0':>12}"


def _line(depth: int, name: str, size: int) -> str:
    return f"{'  ' * depth + name:<{_NAME_WIDTH}} {size:>12,}"
