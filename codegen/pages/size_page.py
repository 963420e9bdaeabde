"""A size report as one web page that needs nothing else: no script, no other file, no network."""

from __future__ import annotations

import html
from collections.abc import Sequence

from codegen.artifacts.size_report import Addition, SizeReport
from codegen.model import sizes
from codegen.pages import size_changes, style, treemap
from codegen.pages.size_changes import Entry, count, gained, signed

# The treemap on a wide screen and on a phone: its sides, and the smallest part of the binary that has a box of its own.
_SHAPES = {"wide": (100.0, 56.0, 1 / 300), "tall": (100.0, 170.0, 1 / 120)}
# In the order of sizes.GROUPS.
_HUES = (210, 140, 30, 280, 0, 180, 60, 240)
_TEMPLATE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Size of {label}</title>
<style>
{style}
:root {{ --fill: 55% 82%; }}
@media (prefers-color-scheme: dark) {{ :root {{ --fill: 38% 28%; }} }}
.map {{ position: relative; width: 100%; margin: .75rem 0; overflow: hidden; border-radius: .25rem; }}
.wide {{ aspect-ratio: 100 / 56; }}
.tall {{ aspect-ratio: 100 / 170; display: none; }}
@media (max-width: 40rem) {{ .wide {{ display: none; }} .tall {{ display: block; }} }}
.box {{ position: absolute; overflow: hidden; border: 1px solid var(--page); container-type: size;
  font-size: .75rem; line-height: 1.2; }}
.box > span {{ display: none; padding: .1rem .25rem; }}
@container (min-width: 3.4rem) and (min-height: 2.2rem) {{ .box > span {{ display: block; }} }}
.legend {{ display: flex; flex-wrap: wrap; gap: .25rem .9rem; }}
.key {{ display: inline-block; width: .85rem; height: .85rem; border-radius: .125rem; vertical-align: -.1rem; }}
summary {{ padding: .2rem 0; }}
{colors}
</style>
</head>
<body>
<h1>Size of {label}</h1>
<p>{total} in memory when the binary runs{libraries_total}.</p>
{against}
{maps}
<p class="legend">{legend}</p>
{changes}
{what_if}
<h2>Operators</h2>
<p class="soft">In bytes. Open one for its dtypes. A kernel of several operators, or a file of several kernels, has one
line.</p>
<ul>
{operators}
</ul>
<h2>All groups</h2>
<ul>
{groups}
</ul>
{libraries}
</body>
</html>
"""


def render(report: SizeReport, baseline: SizeReport | None) -> str:
    """The page; with a baseline, with the changes against it."""
    groups = size_changes.groups(report, baseline)
    libraries = size_changes.libraries(report, baseline)
    operators = next((group.inner for group in groups if group.name == sizes.OPERATORS), ())
    return _TEMPLATE.format(
        label=html.escape(report.label),
        style=style.STYLE,
        colors=_colors(),
        total=count(report.bytes),
        libraries_total=f"; its shared libraries have {count(sum(each.bytes for each in libraries))} more"
        if report.libraries
        else "",
        against=_against(report, baseline) if baseline else "",
        maps="\n".join(_map(shape, groups, report.bytes) for shape in _SHAPES),
        legend=" ".join(
            f'<span><span class="key g{sizes.GROUPS.index(group.name)}"></span> {html.escape(group.name)}</span>'
            for group in groups
            if group.bytes
        ),
        changes=_changes(groups) if baseline else "",
        what_if="\n".join(map(_what_if, report.what_if)),
        operators=_items(operators, report.bytes),
        groups=_items(groups, report.bytes),
        libraries=f"<h2>Shared libraries</h2>\n<ul>\n{_items(libraries, max(each.bytes for each in libraries))}\n</ul>"
        if libraries
        else "",
    )


def _against(report: SizeReport, baseline: SizeReport) -> str:
    change = signed(report.bytes - baseline.bytes)
    return f"<p>Against {html.escape(baseline.label)}, {count(baseline.bytes)}: <strong>{change}</strong>.</p>"


def _map(shape: str, groups: Sequence[Entry], total: int) -> str:
    width, height, smallest = _SHAPES[shape]
    shown = sorted((group for group in groups if group.bytes), key=lambda group: -group.bytes)
    boxes = treemap.split([group.bytes for group in shown], treemap.Box(0, 0, width, height))
    parts = [f'<div class="map {shape}" role="img" aria-label="treemap of {count(total)}">']
    for group, box in zip(shown, boxes, strict=True):
        names = _boxed(group, total * smallest)
        inner = treemap.split([entry.bytes for entry in names], box)
        for entry, place in zip(names, inner, strict=True):
            name = html.escape(entry.name)
            title = f"{html.escape(group.name)}: {name}, {count(entry.bytes)}, {100 * entry.bytes / total:.1f}%"
            parts.append(
                f'<div class="box g{sizes.GROUPS.index(group.name)}" title="{title}" style="'
                f"left:{100 * place.left / width:.3f}%;top:{100 * place.top / height:.3f}%;"
                f'width:{100 * place.width / width:.3f}%;height:{100 * place.height / height:.3f}%">'
                f"<span>{name.removeprefix('aten::')}<br>{entry.bytes:,}</span></div>"
            )
    return "\n".join([*parts, "</div>"])


def _boxed(group: Entry, smallest: float) -> list[Entry]:
    """The names of a group that have a box each, and one for the others."""
    large = [entry for entry in group.inner if entry.bytes >= smallest]
    rest = [entry for entry in group.inner if 0 < entry.bytes < smallest]
    others = Entry(f"{len(rest)} more", sum(entry.bytes for entry in rest), None)
    return sorted([*large, *([others] if rest else [])], key=lambda entry: -entry.bytes)


def _changes(groups: Sequence[Entry]) -> str:
    changes = size_changes.largest_changes(groups)
    if not changes:
        return "<h2>Changes</h2>\n<p>No part changed.</p>"
    rows = [
        f'<li><span class="row"><span>{html.escape(name.name)} <small>{html.escape(group)}</small></span>'
        f"<span>{signed(name.change)} <small>of {name.before:,}</small></span></span></li>"
        for group, name in changes
    ]
    return "\n".join(["<h2>Changes</h2>", "<ul>", *rows, "</ul>"])


def _what_if(addition: Addition) -> str:
    operators = "\n".join(f"<li>{html.escape(operator)}</li>" for operator in addition.operators)
    return "\n".join(
        [
            f"<h2>What if the models of {html.escape(addition.label)} were added</h2>",
            f"<p><strong>{gained(addition)}</strong></p>",
            f"<ul>{operators}</ul>",
            "<h3>New bytes</h3>",
            f"<ul>\n{_items(size_changes.groups(addition, None), addition.bytes)}\n</ul>",
        ]
    )


def _items(entries: Sequence[Entry], total: int) -> str:
    return "\n".join(f"<li>{_item(entry, total)}</li>" for entry in entries)


def _item(entry: Entry, total: int) -> str:
    share = 100 * entry.bytes / total if total else 0
    # Below, so that a phone has room for the name.
    change = f"<br><small>{signed(entry.change)}</small>" if entry.before is not None else ""
    name = html.escape(entry.name) or "no dtype in the name"
    numbers = f"{entry.bytes:,} <small>{share:.1f}%</small>{change}"
    row = f'<span class="row"><span>{name}</span><span>{numbers}</span></span>'
    bar = f'<span class="bar"><span style="width: {share:.2f}%"></span></span>'
    # One line inside that has no name says nothing more.
    if not entry.inner or (len(entry.inner) == 1 and not entry.inner[0].name):
        return row + bar
    return f"<details><summary>{row}{bar}</summary><ul>\n{_items(entry.inner, total)}\n</ul></details>"


def _colors() -> str:
    return "\n".join(
        f".g{index} {{ background: hsl({hue} var(--fill)); }}"
        for index, (_, hue) in enumerate(zip(sizes.GROUPS, _HUES, strict=True))
    )
