"""What the benchmarks write into docs/benchmarks.md: tables, and plots as SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

Points = Sequence[tuple[float, float]]

_WIDTH, _HEIGHT, _MARGIN = 320, 220, 46
_COLORS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd")


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
    width = _WIDTH * len(charts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{_HEIGHT}" font-family="sans-serif" '
        f'font-size="10">\n<rect width="{width}" height="{_HEIGHT}" fill="white"/>\n{body}</svg>\n'
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
