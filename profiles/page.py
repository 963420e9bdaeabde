"""A profile as one web page that needs nothing else: no script, no other file, no network."""

from __future__ import annotations

import html
from collections.abc import Iterable

from codegen.pages import style
from profiles.profile_data import Frame, Node, Origin, Profile

_COLORS = 8
_TEMPLATE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>
{style}
.lane {{ overflow-x: auto; border-radius: .25rem; background: var(--lane); }}
svg {{ display: block; width: 100%; min-width: 40rem; height: 4rem; }}
{colors}
</style>
</head>
<body>
<h1>{title}</h1>
<p>{total}: the median of {runs}. All times are those of this run.</p>
<h2>By operator</h2>
<ul>
{operators}
</ul>
<h2>Timeline</h2>
<p class="soft">Each of the slowest operators has a color of its own; a node shows its name and time where a pointer
rests.</p>
<div class="lane">
{timeline}
</div>
{legend}
<h2>By line of Python</h2>
<ul>
{lines}
</ul>
<h2>By node</h2>
<p class="soft">Open one for the lines of Python that lead to the node.</p>
<ul>
{nodes}
</ul>
</body>
</html>
"""


def render(title: str, profile: Profile) -> str:
    """The page.

    Args:
        title: what was profiled.
        profile: what to show.
    """
    slowest = [name for name, _, _ in _grouped((node.operator, node.ns) for node in profile.nodes)]
    color_of = {name: index for index, name in enumerate(slowest[:_COLORS])}
    return _TEMPLATE.format(
        title=html.escape(title),
        total=_time(profile.run.ns),
        runs=f"{profile.runs} runs" if profile.runs > 1 else "one run",
        style=style.STYLE,
        colors=_colors(),
        operators=_operators(profile),
        timeline=_timeline(profile, color_of),
        legend=_legend(color_of),
        lines=_lines(profile),
        nodes="\n".join(
            _node(node, profile.run.ns) for node in sorted(profile.nodes, key=lambda node: node.ns, reverse=True)
        ),
    )


def _grouped(times: Iterable[tuple[str, float]]) -> list[tuple[str, float, int]]:
    """The sum of the times of each name, with how many there are, the largest first."""
    groups: dict[str, list[float]] = {}
    for name, ns in times:
        groups.setdefault(name, []).append(ns)
    return sorted(((name, sum(each), len(each)) for name, each in groups.items()), key=lambda group: -group[1])


def _operators(profile: Profile) -> str:
    groups = _grouped((node.operator, node.ns) for node in profile.nodes)
    rows = [
        _row(f"<code>{html.escape(name)}</code> <small>{_count(n)}</small>", ns, profile.run.ns)
        for name, ns, n in groups
    ]
    rest = max(profile.run.ns - sum(ns for _, ns, _ in groups), 0)
    return "\n".join(f"<li>{row}</li>" for row in [*rows, _row("the runtime itself", rest, profile.run.ns)])


def _lines(profile: Profile) -> str:
    lines: dict[str, Frame | None] = {}
    times = []
    for node in profile.nodes:
        for frame, ns in _innermost(node):
            place = f"{frame.file}:{frame.line}" if frame else "unknown"
            lines[place] = frame
            times.append((place, ns))
    rows = []
    for place, ns, _ in _grouped(times):
        frame = lines[place]
        code = f"<br><code>{html.escape(frame.code)}</code>" if frame else ""
        rows.append(f"<li>{_row(f'{html.escape(place)}{code}', ns, profile.run.ns)}</li>")
    return "\n".join(rows)


def _innermost(node: Node) -> list[tuple[Frame | None, float]]:
    """The line that a node comes from; what a backend took may come from many, which share its time alike."""
    origins = [origin for origin in (node.origin.parts or (node.origin,)) if origin.stack] if node.origin else []
    if not origins:
        return [(None, node.ns)]
    return [(origin.stack[-1], node.ns / len(origins)) for origin in origins]


def _node(node: Node, total: float) -> str:
    name = f"<code>{html.escape(node.operator)}</code> <small>node {node.number}{_at(node.origin)}</small>"
    inside = _origin(node.origin) if node.origin else '<p class="soft">The export says nothing of this node.</p>'
    if node.parts:
        told = "".join(f"<li>{_row(html.escape(part.name), part.ns, total)}</li>" for part in node.parts)
        inside += f'<p class="soft">What the backend tells:</p><ul>{told}</ul>'
    row = f'<span class="row"><span>{name}</span><span>{_time(node.ns)}</span></span>'
    return f"<li><details><summary>{row}{_bar(node.ns, total)}</summary>{inside}</details></li>"


def _at(origin: Origin | None) -> str:
    if origin is None or not origin.stack:
        return ""
    return f", {html.escape(origin.stack[-1].file)}:{origin.stack[-1].line}"


def _origin(origin: Origin) -> str:
    text = f'<p class="soft">module <code>{html.escape(origin.module)}</code></p>' if origin.module else ""
    for frame in origin.stack:
        place = f"{frame.file}:{frame.line}, in {frame.function}"
        text += f"<p>{html.escape(place)}</p><pre><code>{html.escape(frame.code)}</code></pre>"
    if origin.parts:
        taken = "".join(
            f"<li><code>{html.escape(part.operator)}</code> <small>{_at(part).removeprefix(', ')}</small></li>"
            for part in origin.parts
        )
        text += f'<p class="soft">What the backend took:</p><ul>{taken}</ul>'
    return text


def _timeline(profile: Profile, color_of: dict[str, int]) -> str:
    run = profile.run
    length = max(run.ns, 1)
    names = {node.number: node.operator for node in profile.nodes}
    parts = [
        f'<svg viewBox="0 0 1000 40" preserveAspectRatio="none" role="img" aria-label="timeline of {_time(run.ns)}">'
    ]
    for event in run.events:
        name = names[event.instruction]
        x, width = (1000 * (event.start - run.start) / length, 1000 * event.ns / length)
        title = html.escape(f"{name}, node {event.instruction}: {_time(event.ns)}")
        color = color_of.get(name, "more")
        parts.append(
            f'<rect class="c{color}" x="{x:.2f}" y="4" width="{width:.2f}" height="32"><title>{title}</title></rect>'
        )
    return "\n".join([*parts, "</svg>"])


def _legend(color_of: dict[str, int]) -> str:
    items = [f'<span class="key c{color}"></span> <code>{html.escape(name)}</code>' for name, color in color_of.items()]
    return f'<p class="legend">{" ".join(f"<span>{item}</span>" for item in items)}</p>'


def _colors() -> str:
    hues = [210, 30, 140, 280, 0, 180, 60, 320]
    rules = [
        f".c{index} {{ fill: hsl({hue} 60% 50%); background: hsl({hue} 60% 50%); }}" for index, hue in enumerate(hues)
    ]
    assert len(rules) == _COLORS
    return "\n".join(
        [
            *rules,
            ".cmore { fill: var(--soft); background: var(--soft); }",
            ".legend { display: flex; flex-wrap: wrap; gap: .25rem .75rem; padding: .5rem; font-size: .875rem; }",
            ".key { display: inline-block; width: .75rem; height: .75rem; border-radius: .125rem; }",
        ]
    )


def _row(name: str, ns: float, total: float) -> str:
    percent = 100 * ns / total if total else 0
    return (
        f'<span class="row"><span>{name}</span><span>{_time(ns)} <small>{percent:.1f}%</small></span></span>'
        f"{_bar(ns, total)}"
    )


def _bar(ns: float, total: float) -> str:
    percent = min(100 * ns / total, 100) if total else 0
    return f'<span class="bar"><span style="width: {percent:.2f}%"></span></span>'


def _count(count: int) -> str:
    return f"{count} calls" if count > 1 else "1 call"


def _time(ns: float) -> str:
    if ns >= 1e6:
        return f"{ns / 1e6:,.2f} ms"
    return f"{ns / 1e3:,.2f} µs"
