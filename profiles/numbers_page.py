"""A comparison with eager PyTorch as one web page that loads nothing."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from pathlib import Path
from string import Template

from codegen.pages import style
from profiles import numbers_table
from profiles.numbers_table import BEST, WORST, Row

_FOLDER = Path(__file__).parent


def render(title: str, method: str, found: Sequence[Row]) -> str:
    """The page.

    Args:
        title: the program.
        method: the method.
        found: the instructions, sorted.
    """
    compared = [row for row in found if row.snr is not None]
    others = [row for row in found if row.snr is None]
    return Template((_FOLDER / "numbers.html").read_text("utf-8")).substitute(
        title=html.escape(title),
        style=style.STYLE,
        summary=_summary(method, compared, others),
        chart=_chart(compared),
        rows="\n".join(_row(row) for row in compared),
        modules="\n".join(_modules(found)),
        others="\n".join(f"<li>{_what(row)}<small>{html.escape(row.why)}</small></li>" for row in others),
        count=len(others),
    )


def _summary(method: str, compared: Sequence[Row], others: Sequence[Row]) -> str:
    texts = [f"Method {html.escape(method)}: {len(compared)} of {len(compared) + len(others)} instructions compared."]
    if compared:
        first = compared[0]
        texts.append(
            f"The largest drop is {first.drop:.1f} dB, at node {first.number}, "
            f"<code>{html.escape(first.operator)}</code>; "
            f"the lowest ratio is {min(row.snr for row in compared if row.snr is not None):.1f} dB."
        )
    return " ".join(texts)


def _chart(compared: Sequence[Row]) -> str:
    """The ratio of each instruction in the order of the program."""
    in_order = sorted(compared, key=lambda row: row.number)
    if not in_order:
        return ""
    step = 1000 / max(len(in_order) - 1, 1)
    points = [(index * step, _height(row)) for index, row in enumerate(in_order)]
    worst_x, worst_y = points[in_order.index(compared[0])]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return (
        '<svg viewBox="-8 -8 1016 216" preserveAspectRatio="none" role="img" '
        'aria-label="Signal-to-noise ratio in the order of the program">'
        f'<polyline points="{line}"/><path d="M{worst_x:.1f} {worst_y:.1f}h0"/></svg>'
    )


def _height(row: Row) -> float:
    return 200 * (1 - _part(row))


def _part(row: Row) -> float:
    return ((row.snr or 0.0) - WORST) / (BEST - WORST)


def _what(row: Row) -> str:
    texts = [f"node {row.number}", *row.tensors]
    if row.module:
        texts.append(row.module)
    if row.eager:
        texts.append(f"eager {', '.join(row.eager)}")
    if row.graph_pass:
        texts.append(f"pass {row.graph_pass}")
    line = row.line and (
        f"<small>{html.escape(row.line.file)}:{row.line.line} <code>{html.escape(row.line.code)}</code></small>"
    )
    return f"<span><b>{html.escape(row.operator)}</b><small>{html.escape('; '.join(texts))}</small>{line or ''}</span>"


def _row(row: Row) -> str:
    is_far = "" if row.is_close else ' class="far"'
    iteration = "" if row.iteration is None else f", iteration {row.iteration}"
    return (
        f'<li{is_far}><div class="row">{_what(row)}<span>{row.snr:.1f} dB<small>drop {row.drop:.1f} dB</small>'
        f"<small>max {row.max_difference:.3g}, sample {row.sample}{iteration}</small></span></div>"
        f'<span class="bar"><span style="width:{100 * _part(row):.1f}%"></span></span></li>'
    )


def _modules(found: Sequence[Row]) -> Iterator[str]:
    for module, least, lost in numbers_table.modules(found):
        yield (
            f'<li><div class="row"><span>{html.escape(module)}</span>'
            f"<span>{lost:.1f} dB<small>lowest ratio {least:.1f} dB</small></span></div></li>"
        )
