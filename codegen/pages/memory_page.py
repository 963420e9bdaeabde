"""A memory report as one self-contained web page, with a picture of the planned memory over the instructions."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from itertools import accumulate

from codegen.artifacts.memory_report import Constant, MemoryReport, Method, PlannedTensor, WhatIf
from codegen.pages import style

# The kinds of contents and their classes of the style.
_KINDS = {"": ("result of an instruction", 0), "input": ("input", 1), "output": ("output", 3), "state": ("state", 2)}
_CONSTANTS = 50
# The picture has a box for each of so many contents, the largest. The rest would be thinner than a line.
_BOXES = 4000
_TEMPLATE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Memory of {label}</title>
<style>
{style}
svg {{ display: block; width: 100%; background: var(--lane); border-radius: .25rem; }}
.places {{ height: 22rem; }}
.use {{ height: 5rem; margin-top: .5rem; }}
rect {{ stroke: var(--page); stroke-width: 1; vector-effect: non-scaling-stroke; }}
path {{ fill: var(--bar); }}
line {{ stroke: var(--text); stroke-width: 1; stroke-dasharray: 3 3; vector-effect: non-scaling-stroke; }}
.k0 {{ fill: var(--fill-0); }} .k1 {{ fill: var(--fill-1); }}
.k2 {{ fill: var(--fill-2); }} .k3 {{ fill: var(--fill-3); }}
.axis {{ display: flex; justify-content: space-between; }}
</style>
</head>
<body>
<h1>Memory of {label}</h1>
<p>{total:,} bytes: the program's file with {program:,}, {weights}and the planned memory of the largest method with
{planned:,}.</p>
<p class="soft">Besides, kernels need scratch memory while they run, and the runtime needs memory for a loaded method.
Both depend on the machine, and the runner of the program measures both:
<code>bazel run :runner -- --memory</code>.</p>
{methods}
<h2>Constants</h2>
<p>{constant_bytes:,} bytes of the program's file.</p>
<ul>
{constants}
</ul>
{what_if}
</body>
</html>
"""


def render(report: MemoryReport) -> str:
    """Returns the page."""
    return _TEMPLATE.format(
        label=html.escape(report.label),
        style=style.STYLE,
        total=report.bytes,
        program=report.program_bytes,
        weights=f"the files of its weights with {report.weights_bytes:,}, " if report.weights_bytes else "",
        planned=report.planned,
        methods="\n".join(map(_method, report.methods)),
        constant_bytes=report.constant_bytes,
        constants=_constants(report.constants),
        what_if="\n".join(_what_if(report, other) for other in report.what_if),
    )


def _method(method: Method) -> str:
    name = html.escape(method.name)
    lines = [f"<h2>Method {name}</h2>", f"<p><strong>{method.planned:,}</strong> bytes of planned memory.</p>"]
    if method.backends:
        lines.append(f"<p>The backends have memory of their own: {html.escape(', '.join(method.backends))}.</p>")
    if method.instructions and method.planned:
        at_peak = html.escape(method.instructions[method.peak])
        lines += [
            f"<p>At the peak, instruction {method.peak} (<code>{at_peak}</code>), {method.peak_bytes:,} bytes are in "
            f"use, and {method.planned - method.peak_bytes:,} are not.</p>",
            _picture(method),
            f"<h3>In use at the peak</h3>\n<ul>\n{_items(_at_peak(method), method.planned)}\n</ul>",
        ]
    ports = [
        (f"{port.name}, {port.tensor}", "in planned memory" if port.is_planned else "application's memory", port.bytes)
        for port in method.ports
    ]
    if ports:
        lines.append(f"<h3>Inputs and outputs</h3>\n<ul>\n{_items(ports, max(port[2] for port in ports))}\n</ul>")
    return "\n".join(lines)


def _picture(method: Method) -> str:
    """Returns the places of the contents over the instructions, and the bytes in use at each instruction."""
    count = len(method.instructions)
    starts = [0, *accumulate(method.memories)]
    largest = sorted(method.tensors, key=lambda tensor: -tensor.bytes * (tensor.last + 1 - tensor.first))[:_BOXES]
    boxes = "\n".join(_box(method, tensor, starts) for tensor in largest)
    # A step of the picture is one instruction wide.
    steps = " ".join(f"L{number} {-size} H{number + 1}" for number, size in enumerate(method.in_use))
    peak = method.peak + 0.5
    kinds = dict.fromkeys(_kind(tensor) for tensor in method.tensors)
    legend = " ".join(f'<span><span class="key c{number}"></span> {name}</span>' for name, number in kinds)
    return f"""\
<svg class="places" viewBox="0 0 {count} {method.planned}" preserveAspectRatio="none" role="img" \
aria-label="Places of tensors in planned memory over the instructions">
{boxes}
<line x1="{peak}" x2="{peak}" y1="0" y2="{method.planned}"/>
</svg>
<svg class="use" viewBox="0 {-method.planned} {count} {method.planned}" preserveAspectRatio="none" role="img" \
aria-label="Bytes in use over the instructions"><path d="M0 0 {steps} V0 Z"/></svg>
<p class="axis soft"><span>instruction 0</span><span>{count - 1}</span></p>
<p class="legend">{legend}</p>
<p class="soft">Above, from top to bottom: the addresses of planned memory. Below: the bytes in use. The dashed line is
the peak.</p>"""


def _box(method: Method, tensor: PlannedTensor, starts: Sequence[int]) -> str:
    _, number = _kind(tensor)
    title = ", ".join(filter(None, (tensor.name, tensor.tensor, f"{tensor.bytes:,} bytes")))
    return (
        f'<rect class="k{number}" x="{tensor.first}" y="{starts[tensor.memory - 1] + tensor.offset}" '
        f'width="{tensor.last + 1 - tensor.first}" height="{tensor.bytes}"><title>{html.escape(title)}\n'
        f"{html.escape(_span(method, tensor))}</title></rect>"
    )


def _kind(tensor: PlannedTensor) -> tuple[str, int]:
    return _KINDS[tensor.name.partition(" ")[0]]


def _span(method: Method, tensor: PlannedTensor) -> str:
    """Returns a line for the first instruction, and a line for the last one."""
    first, last = method.instructions[tensor.first], method.instructions[tensor.last]
    if tensor.first == tensor.last:
        return f"in {tensor.first} {first}"
    return f"from {tensor.first} {first}\nto {tensor.last} {last}"


def _at_peak(method: Method) -> Iterable[tuple[str, str, int]]:
    for tensor in method.at_peak:
        yield ", ".join(filter(None, (tensor.name, tensor.tensor))), _span(method, tensor), tensor.bytes


def _constants(constants: Sequence[Constant]) -> str:
    rows = [
        (constant.tensor, f"{constant.user}{', in another file' if constant.is_external else ''}", constant.bytes)
        for constant in constants[:_CONSTANTS]
    ]
    if rest := constants[_CONSTANTS:]:
        rows.append((f"{len(rest):,} more", "", sum(constant.bytes for constant in rest)))
    return _items(rows, sum(constant.bytes for constant in constants))


def _items(rows: Iterable[tuple[str, str, int]], total: int) -> str:
    """Returns lines with a name, a note below and a bar."""
    return "\n".join(
        f'<li><span class="row"><span>{html.escape(name)}<br><small>{_broken(note)}</small></span>'
        f"<span>{size:,}</span></span>"
        f'<span class="bar"><span style="width: {100 * size / total if total else 0:.2f}%"></span></span></li>'
        for name, note, size in rows
    )


def _broken(note: str) -> str:
    return html.escape(note).replace("\n", "<br>")


def _what_if(report: MemoryReport, other: WhatIf) -> str:
    planned = {method.name: method.planned for method in report.methods}
    rows = [("program file", other.program_bytes, report.program_bytes)]
    rows += [(f"method {name}, planned memory", size, planned.get(name, 0)) for name, size in other.planned]
    lines = "\n".join(
        f'<li><span class="row"><span>{html.escape(name)}</span><span>{size:,} <small>{size - before:+,}</small>'
        "</span></span></li>"
        for name, size, before in rows
    )
    return f"<h2>What if the program were {html.escape(other.label)}</h2>\n<ul>\n{lines}\n</ul>"
