"""What the benchmarks write into docs/benchmarks.md: tables, and plots as SVG."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

Points = Sequence[tuple[float, float]]

_WIDTH, _HEIGHT, _MARGIN = 320, 220, 46
_COLORS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b", "#e377c2", "#7f7f7f", "#17becf")


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table, its numbers aligned to the right."""
    lines = ["| " + " | ".join(header) + " |", "|---|" + "--:|" * (len(header) - 1)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def replace_section(document: Path, name: str, text: str) -> None:
    """Replaces a section between two comments that hold its name, or adds it at the end."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    old = document.read_text() if document.exists() else "# Benchmarks\n"
    section = f"{begin}\n\n{text.strip()}\n\n{end}\n"
    head, found, rest = old.partition(begin)
    new = head + section + rest.partition(end + "\n")[2] if found else f"{old.rstrip()}\n\n{section}"
    document.write_text(new)


def plot(charts: Mapping[str, tuple[str, str, Mapping[str, Points]]]) -> str:
    """An SVG with charts side by side, both axes from zero.

    Args:
        charts: by title: the name of each axis, and the lines by name.
    """
    body = "".join(
        f'<g transform="translate({i * _WIDTH},0)">{_chart(title, *chart)}</g>\n'
        for i, (title, chart) in enumerate(charts.items())
    )
    return _svg(_WIDTH * len(charts), _HEIGHT, body)


def dots(title: str, rows: Mapping[str, Mapping[str, float]]) -> str:
    """An SVG with a line for each row, and on the line a dot for each of its figures, on a logarithmic axis.

    Args:
        title: what the figures are.
        rows: by the row's name: the figures by name, above zero.
    """
    figures = [figure for row in rows.values() for figure in row.values()]
    least, most = (math.floor(math.log2(min(figures))), math.ceil(math.log2(max(figures)))) if figures else (0, 1)
    names = list(dict.fromkeys(name for row in rows.values() for name in row))
    left, right, step, top = 270, 880, 22, 66

    def place(figure: float) -> float:
        return left + (right - left) * (math.log2(figure) - least) / max(1, most - least)

    bottom = top + step * len(rows)
    parts = [f'<text x="8" y="18" font-size="12">{title}</text>']
    for i, name in enumerate(names):
        x, y = 8 + 220 * (i % 4), 34 + 13 * (i // 4)
        parts.append(f'<circle cx="{x + 4}" cy="{y - 3}" r="4" fill="{_COLORS[i % len(_COLORS)]}"/>')
        parts.append(f'<text x="{x + 12}" y="{y}">{name}</text>')
    for power in range(least, most + 1):
        at, color = place(2.0**power), "black" if power == 0 else "#dddddd"
        text = f"{2**power}" if power >= 0 else f"1/{2**-power}"
        parts.append(f'<path d="M{at:.1f},{top}V{bottom}" stroke="{color}"/>')
        parts.append(f'<text x="{at:.1f}" y="{bottom + 14}" text-anchor="middle">{text}</text>')
    for i, (row, values) in enumerate(rows.items()):
        middle = top + step * i + step // 2
        parts.append(f'<text x="{left - 8}" y="{middle + 3}" text-anchor="end">{row}</text>')
        parts.append(f'<path d="M{left},{middle}H{right}" stroke="#dddddd"/>')
        for name, figure in values.items():
            color = _COLORS[names.index(name) % len(_COLORS)]
            parts.append(f'<circle cx="{place(figure):.1f}" cy="{middle}" r="4" fill="{color}"/>')
    return _svg(right + 20, bottom + 24, "\n".join(parts) + "\n")


def _svg(width: int, height: int, body: str) -> str:
    """An SVG on white, for pages that are light and pages that are dark."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" '
        f'font-size="10">\n<rect width="{width}" height="{height}" fill="white"/>\n{body}</svg>\n'
    )


def _chart(title: str, x_name: str, y_name: str, lines: Mapping[str, Points]) -> str:
    points = [point for line in lines.values() for point in line]
    x_most, y_most = max(x for x, _ in points), max(y for _, y in points) * 1.1
    right, bottom = _WIDTH - 12, _HEIGHT - _MARGIN

    def place(x: float, y: float) -> str:
        return f"{_MARGIN + (right - _MARGIN) * x / x_most:.1f},{bottom - (bottom - 30) * y / y_most:.1f}"

    parts = [
        f'<text x="{_WIDTH / 2}" y="16" text-anchor="middle" font-size="12">{title}</text>',
        f'<path d="M{_MARGIN},30V{bottom}H{right}" fill="none" stroke="black"/>',
        f'<text x="{right}" y="{bottom + 14}" text-anchor="end">{x_most:g} {x_name}</text>',
        f'<text x="4" y="28">{y_most / 1.1:.3g} {y_name}</text>',
    ]
    for i, (name, line) in enumerate(lines.items()):
        color = _COLORS[i % len(_COLORS)]
        path = " ".join(place(x, y) for x, y in line)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="1.5"/>')
        for x, y in line:
            at = place(x, y).split(",")
            parts.append(f'<circle cx="{at[0]}" cy="{at[1]}" r="2.5" fill="{color}"/>')
        parts.append(f'<text x="{_MARGIN}" y="{bottom + 27 + 12 * i}" fill="{color}">{name}</text>')
    return "\n".join(parts)
