"""Writes tables for docs/benchmarks.md, and plots as SVG."""

from __future__ import annotations

import html
import math
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

Points = Sequence[tuple[float, float]]

# In pixels of the SVG. A page of 740 pixels shows the SVG at full size. A phone of 360 pixels, with 328 for text, shows
# the SVG at three quarters.
_WIDTH, _FONT = 440, 13
_STYLE = """\
text { fill: #1f2328 } .page { fill: #ffffff } .mark { fill: currentColor; stroke: #ffffff }
.axis { stroke: #1f2328 } .grid { stroke: #d0d7de }
.s0 { color: #0060b0 } .s1 { color: #c2410c } .s2 { color: #1a7f37 } .s3 { color: #8250df } .s4 { color: #8a5a00 }
.s5 { color: #bf3989 } .s6 { color: #0e7490 } .s7 { color: #57606a } .s8 { color: #4d5d00 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .page { fill: #16181d } .mark { stroke: #16181d }
.axis { stroke: #e6edf3 } .grid { stroke: #3d444d }
.s0 { color: #6cb6ff } .s1 { color: #ff8f5e } .s2 { color: #57d27a } .s3 { color: #c297ff } .s4 { color: #e3b341 }
.s5 { color: #ff80c8 } .s6 { color: #4dd4e6 } .s7 { color: #b1bac4 } .s8 { color: #c6d94a }
}"""
# The shapes of the series, one for each color, around 0,0.
_SHAPES = (
    "M-4.5,0a4.5,4.5 0 1,0 9,0a4.5,4.5 0 1,0 -9,0z",  # circle
    "M-4,-4H4V4H-4z",  # square
    "M0,-5L5,4H-5z",  # triangle
    "M0,-5.5L5.5,0L0,5.5L-5.5,0z",  # diamond
    "M0,5L5,-4H-5z",  # triangle on its tip
    "M-1.5,-5H1.5V-1.5H5V1.5H1.5V5H-1.5V1.5H-5V-1.5H-1.5z",  # plus
    "M-5,-3L-3,-5L0,-2L3,-5L5,-3L2,0L5,3L3,5L0,2L-3,5L-5,3L-2,0z",  # cross
    "M0,-6L1.8,-1.8L6,-1.8L2.6,1.2L3.8,5.4L0,2.8L-3.8,5.4L-2.6,1.2L-6,-1.8L-1.8,-1.8z",  # star
    "M-4.5,-4.5H4.5V4.5H-4.5zM-2,-2V2H2V-2z",  # square with a hole
)


def processor() -> str:
    """Returns the name of this machine's processor."""
    text = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    name = re.search(r"^model name\s*: (.*)$", text, re.MULTILINE)
    return name[1] if name else "unknown processor"


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Returns a Markdown table with right-aligned numbers."""
    lines = ["| " + " | ".join(header) + " |", "|---|" + "--:|" * (len(header) - 1)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def replace_section(document: Path, name: str, text: str) -> None:
    """Replaces the section between two comments with its name, or adds the section at the end."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    old = document.read_text() if document.exists() else "# Benchmarks\n"
    section = f"{begin}\n\n{text.strip()}\n\n{end}\n"
    head, found, rest = old.partition(begin)
    new = head + section + rest.partition(end + "\n")[2] if found else f"{old.rstrip()}\n\n{section}"
    document.write_text(new)


def publish(name: str, section: str) -> None:
    """Prints a section of docs/benchmarks.md and, under `bazel run`, writes it into the page."""
    print(section)
    root = os.environ.get("BUILD_WORKSPACE_DIRECTORY")
    if root:
        replace_section(Path(root, "docs", "benchmarks.md"), name, section)


def image(file: str, shows: str) -> str:
    """Returns an image for a Markdown page. `shows` is the alternative text."""
    return f"![{shows}]({file})"


def plot(charts: Mapping[str, tuple[str, str, Mapping[str, Points]]], shows: str) -> str:
    """Returns an SVG with charts below each other. Both axes start at zero.

    Args:
        charts: by title: the name of each axis, and the lines by name.
        shows: the alternative text.
    """
    height = 230
    body = [
        f'<g transform="translate(0,{i * height})">{_chart(title, *chart, height)}</g>'
        for i, (title, chart) in enumerate(charts.items())
    ]
    return _svg(height * len(charts), "; ".join(charts), shows, body)


def dots(title: str, rows: Mapping[str, Mapping[str, float]], shows: str) -> str:
    """Returns an SVG with a line for each row, and marks for the row's figures on a logarithmic axis.

    Args:
        title: the title of the figures.
        rows: the figures of each row, by name. Figures are positive.
        shows: the alternative text.
    """
    figures = [figure for row in rows.values() for figure in row.values()]
    least, most = (math.floor(math.log2(min(figures))), math.ceil(math.log2(max(figures)))) if figures else (0, 1)
    names = list(dict.fromkeys(name for row in rows.values() for name in row))
    left, right, step = 24, _WIDTH - 24, 46
    spacing = (right - left) / max(1, most - least)
    legend, below = _legend(names, 46)
    top, bottom = below + 14, below + 14 + step * len(rows)

    def place(figure: float) -> float:
        return left + spacing * (math.log2(figure) - least)

    parts = [_text(8, 20, title, "font-weight='bold'"), *legend]
    labeled = math.ceil(3.5 * _FONT / spacing)  # The distance of labels, in powers of 2. 1 has a label.
    for power in range(least, most + 1):
        parts.append(f'<path class="{"grid" if power else "axis"}" d="M{place(2.0**power):.1f},{top}V{bottom}"/>')
        if power % labeled == 0:
            value = f"{2**power}" if power >= 0 else f"1/{2**-power}"
            parts.append(_text(place(2.0**power), bottom + 18, value, "text-anchor='middle'"))
    for i, (row, values) in enumerate(rows.items()):
        line = top + step * i + 34
        # The background of the row's name covers the grid lines.
        parts.append(f'<rect class="page" x="8" y="{line - 31}" width="{_WIDTH - 16}" height="17"/>')
        parts.append(_text(8, line - 18, row))
        parts.append(f'<path class="grid" d="M{left},{line}H{right}"/>')
        marks = sorted(values.items(), key=lambda item: item[1])
        for (name, figure), lane in zip(marks, _lanes([place(figure) for _, figure in marks]), strict=True):
            parts.append(_mark(names.index(name), place(figure), line + 8 * lane, f"{name}: {figure:.3g}"))
    return _svg(bottom + 28, title, shows, parts)


def _lanes(places: Sequence[float]) -> list[int]:
    """Returns the lane of each mark, from left to right: on the line, above or below, so that marks do not overlap."""
    ends = dict.fromkeys((0, -1, 1), -math.inf)
    found = []
    for place in places:
        lane = next((lane for lane, end in ends.items() if place - end >= 11), min(ends, key=lambda lane: ends[lane]))
        ends[lane] = place
        found.append(lane)
    return found


def _svg(height: int, title: str, shows: str, body: Sequence[str]) -> str:
    """Returns an SVG with its own background, light or dark by the reader's preference."""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}"'
            f' viewBox="0 0 {_WIDTH} {height}" font-family="sans-serif" font-size="{_FONT}" role="img">',
            f"<title>{html.escape(title)}</title>",
            f"<desc>{html.escape(shows)}</desc>",
            f"<style>\n{_STYLE}\n</style>",
            f'<rect class="page" width="{_WIDTH}" height="{height}"/>',
            *body,
            "</svg>\n",
        ]
    )


def _text(x: float, y: float, text: str, attributes: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" {attributes}>{html.escape(text)}</text>'.replace(" >", ">")


def _mark(series: int, x: float, y: float, title: str) -> str:
    """Returns the mark of a series, which has a color and a shape."""
    return (
        f'<path class="mark s{series}" fill-rule="evenodd" transform="translate({x:.1f},{y:.1f})"'
        f' d="{_SHAPES[series]}"><title>{html.escape(title)}</title></path>'
    )


def _legend(names: Sequence[str], top: int) -> tuple[list[str], int]:
    """Returns the legend in two columns, and the y coordinate of its end."""
    if len(names) > len(_SHAPES):
        raise ValueError(f"{len(names)} series, where {len(_SHAPES)} can be told apart")
    parts = []
    for i, name in enumerate(names):
        x, y = 16 + _WIDTH // 2 * (i % 2), top + 20 * (i // 2)
        parts += [_mark(i, x, y - 4, name), _text(x + 12, y, name)]
    return parts, top + 20 * ((len(names) - 1) // 2)


def _ticks(most: float) -> list[float]:
    """Returns round numbers from zero to the first one that is at least `most`."""
    magnitude = 10.0 ** math.floor(math.log10(most))
    step = next(magnitude * factor for factor in (0.2, 0.5, 1, 2, 5) if most / (magnitude * factor) <= 5)
    return [i * step for i in range(math.ceil(most / step - 1e-9) + 1)]


def _chart(title: str, x_name: str, y_name: str, lines: Mapping[str, Points], height: int) -> str:
    points = [point for line in lines.values() for point in line]
    x_ticks, y_ticks = _ticks(max(x for x, _ in points)), _ticks(max(y for _, y in points))
    legend, below = _legend(list(lines), 42)
    left, right, top, bottom = 72, _WIDTH - 40, below + 16, height - 48

    def place(x: float, y: float) -> tuple[float, float]:
        return left + (right - left) * x / x_ticks[-1], bottom - (bottom - top) * y / y_ticks[-1]

    parts = [_text(8, 20, f"{title}, {y_name} by {x_name}", "font-weight='bold'"), *legend]
    for tick in y_ticks:
        _, y = place(0, tick)
        parts.append(f'<path class="{"grid" if tick else "axis"}" d="M{left},{y:.1f}H{right}"/>')
        parts.append(_text(left - 8, y + 4, f"{tick:,g}", "text-anchor='end'"))
    for tick in x_ticks:
        parts.append(_text(place(tick, 0)[0], bottom + 18, f"{tick:,g}", "text-anchor='middle'"))
    parts.append(_text((left + right) / 2, bottom + 36, x_name, "text-anchor='middle'"))
    for i, (name, line) in enumerate(lines.items()):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(*point) for point in line))
        parts.append(f'<polyline class="s{i}" points="{path}" fill="none" stroke="currentColor" stroke-width="2"/>')
        parts += [_mark(i, *place(x, y), f"{name}: {x:,g} {x_name}, {y:.3g} {y_name}") for x, y in line]
    return "\n".join(parts)
