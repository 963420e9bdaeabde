"""A size report as one self-contained web page. The boxes of the treemap link to details."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass

from codegen.artifacts.size_report import Addition, SizeReport
from codegen.model import sizes
from codegen.pages import size_changes, style, treemap
from codegen.pages.size_changes import Entry, count, gained, signed, was

# The treemaps on a wide screen and on a phone: width, height, and the smallest fraction of a map with its own box.
_SHAPES = {"wide": (100.0, 56.0, 1 / 300), "tall": (100.0, 170.0, 1 / 120)}
# So many names always have their own boxes, however small. So a map of the other names is smaller than the map that
# links to it.
_FEWEST_BOXES = 20
# The beginning of the anchors of lines.
_LINE = "line"
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
.map {{ position: relative; width: 100%; margin: .75rem 0; overflow: hidden; border-radius: .25rem; }}
.wide .map {{ aspect-ratio: 100 / 56; }}
.tall .map {{ aspect-ratio: 100 / 170; }}
.tall, .rest {{ display: none; }}
@media (max-width: 40rem) {{ .wide {{ display: none; }} .tall {{ display: block; }} }}
.rest:target {{ display: block; }}
.rest:target ~ .overview {{ display: none; }}
.box {{ position: absolute; overflow: hidden; border: 1px solid var(--page); container-type: size;
  font-size: .75rem; line-height: 1.2; text-decoration: none; }}
.box:focus-visible {{ outline-offset: -3px; }}
.several {{ text-decoration: underline; }}
.box > span {{ display: none; padding: .1rem .25rem; }}
@container (min-width: 3.4rem) and (min-height: 2.2rem) {{ .box > span {{ display: block; }} }}
li:target {{ background: var(--lane); outline: 2px solid var(--bar); scroll-margin-top: 2rem; }}
summary {{ padding: .2rem 0; }}
</style>
</head>
<body>
<h1>Size of {label}</h1>
<p>{total} in memory when the binary runs{libraries_total}.</p>
{against}
{maps}
<p class="legend">{legend}</p>
<p class="soft">A box leads to its line below, one of several names to a map of these.</p>
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
{shared}
{libraries}
<script>
// Browsers do not all open what a link leads into.
addEventListener("hashchange", () => {{
  const target = document.querySelector(":target");
  for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  if (target) target.scrollIntoView({{block: "nearest"}});
}});
</script>
</body>
</html>
"""


def render(report: SizeReport, baseline: SizeReport | None) -> str:
    """Returns the page. With a baseline, the page shows the changes."""
    groups = size_changes.groups(report, baseline)
    libraries = size_changes.libraries(report, baseline)
    operators = next((group.inner for group in groups if group.name == sizes.OPERATORS), ())
    return _TEMPLATE.format(
        label=html.escape(report.label),
        style=style.STYLE,
        total=count(report.bytes),
        libraries_total=f"; its shared libraries have {count(sum(each.bytes for each in libraries))} more"
        if report.libraries
        else "",
        against=_against(report, baseline) if baseline else "",
        maps="\n".join(_maps(shape, groups, report.bytes) for shape in _SHAPES),
        legend=" ".join(
            f'<span><span class="key c{sizes.GROUPS.index(group.name)}"></span> {html.escape(group.name)}</span>'
            for group in groups
            if group.bytes
        ),
        changes=_changes(groups) if baseline else "",
        what_if="\n".join(map(_what_if, report.what_if)),
        operators=_items(operators, report.bytes),
        groups=_items(groups, report.bytes, _LINE),
        shared=_shared(report),
        libraries=f"<h2>Shared libraries</h2>\n<ul>\n{_items(libraries, max(each.bytes for each in libraries))}\n</ul>"
        if libraries
        else "",
    )


def _against(report: SizeReport, baseline: SizeReport) -> str:
    change = signed(report.bytes - baseline.bytes)
    return f"<p>Against {html.escape(baseline.label)}, {count(baseline.bytes)}: <strong>{change}</strong>.</p>"


@dataclass(frozen=True)
class _Part:
    """A part of a treemap.

    Attributes:
        group: the name of the group.
        names: the shown names of the group, the largest first, with the anchors of their lines.
    """

    group: str
    names: Sequence[tuple[Entry, str]]

    @property
    def bytes(self) -> int:
        return sum(entry.bytes for entry, _ in self.names)


def _maps(shape: str, groups: Sequence[Entry], total: int) -> str:
    """Returns the treemap of all groups for a shape of screen, and the treemaps that boxes of several names link to."""
    parts = [
        _Part(group.name, [(name, f"{_LINE}-{i}-{j}") for j, name in enumerate(group.inner) if name.bytes])
        for i, group in enumerate(groups)
        if group.bytes
    ]
    rests: list[str] = []
    overview = _map(shape, sorted(parts, key=lambda part: -part.bytes), total, rests)
    # The overview comes last, so that CSS can hide it while one of the treemaps before it is shown.
    section = f'<section class="overview" id="{shape}">\n{overview}\n</section>'
    return "\n".join([f'<div class="{shape}">', *rests, section, "</div>"])


def _map(shape: str, parts: Sequence[_Part], total: int, rests: list[str]) -> str:
    """Returns a treemap. Adds to `rests` sections with treemaps of the names without their own boxes."""
    width, height, smallest = _SHAPES[shape]
    shown = sum(part.bytes for part in parts)
    areas = treemap.split([part.bytes for part in parts], treemap.Box(0, 0, width, height))
    lines = [f'<div class="map" role="group" aria-label="treemap of {count(shown)}">']
    for part, area in zip(parts, areas, strict=True):
        boxed, rest = _boxed(part, shown * smallest)
        boxes = [(entry.name, entry.bytes, link, "") for entry, link in boxed]
        if rest.names:
            name = f"{len(rest.names)} more"
            # The recursive call adds its own rests first, which take the next numbers.
            content = _map(shape, [rest], total, rests)
            link = f"{shape}-{len(rests)}"
            back = f'<p><a href="#{shape}">All</a> / {_title(rest.group, name, rest.bytes, total)}</p>'
            rests.append(f'<section class="rest" id="{link}">\n{back}\n{content}\n</section>')
            boxes.append((name, rest.bytes, link, " several"))
        boxes.sort(key=lambda box: -box[1])
        places = treemap.split([box[1] for box in boxes], area)
        for (name, size, link, kind), place in zip(boxes, places, strict=True):
            lines.append(
                f'<a class="box c{sizes.GROUPS.index(part.group)}{kind}" href="#{link}" '
                f'title="{_title(part.group, name, size, total)}" style="'
                f"left:{100 * place.left / width:.3f}%;top:{100 * place.top / height:.3f}%;"
                f'width:{100 * place.width / width:.3f}%;height:{100 * place.height / height:.3f}%">'
                f"<span>{html.escape(name).removeprefix('aten::')}<br>{size:,}</span></a>"
            )
    return "\n".join([*lines, "</div>"])


def _title(group: str, name: str, size: int, total: int) -> str:
    return f"{html.escape(group)}: {html.escape(name)}, {count(size)}, {100 * size / total:.1f}%"


def _boxed(part: _Part, smallest: float) -> tuple[Sequence[tuple[Entry, str]], _Part]:
    """Splits the names of a part into those with their own boxes and the others."""
    own = max(sum(entry.bytes >= smallest for entry, _ in part.names), _FEWEST_BOXES)
    # A box for a single other name would have the size of that name's own box.
    own += len(part.names) == own + 1
    return part.names[:own], _Part(part.group, part.names[own:])


def _changes(groups: Sequence[Entry]) -> str:
    changes = size_changes.largest_changes(groups)
    if not changes:
        return "<h2>Changes</h2>\n<p>No part changed.</p>"
    rows = [
        f'<li><span class="row"><span>{html.escape(name.name)} <small>{html.escape(group)}</small></span>'
        f"<span>{signed(name.change)} <small>{was(name)}</small></span></span></li>"
        for group, name in changes
    ]
    more, less = (sum(name.change for _, name in changes if name.change * sign > 0) for sign in (1, -1))
    parts = f"{len(changes):,} {'part' if len(changes) == 1 else 'parts'}"
    summary = f"<summary>{parts} changed: {signed(more)} and {signed(less)} bytes</summary>"
    return "\n".join(["<h2>Changes</h2>", "<details>", summary, "<ul>", *rows, "</ul>", "</details>"])


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


def _shared(report: SizeReport) -> str:
    lines = size_changes.shared(report)
    if not lines:
        return ""
    return "\n".join(
        [
            "<h2>Code that kernels share, by operators</h2>",
            '<p class="soft">A binary without all operators of a line lacks the code of the line.</p>',
            f"<ul>\n{_items(lines, report.bytes)}\n</ul>",
        ]
    )


def _items(entries: Sequence[Entry], total: int, anchor: str = "") -> str:
    """Returns the lines of entries. With an anchor, each line has the anchor with its number appended."""
    lines = []
    for index, entry in enumerate(entries):
        inner = f"{anchor}-{index}" if anchor else ""
        identity = f' id="{inner}"' if inner else ""
        lines.append(f"<li{identity}>{_item(entry, total, inner)}</li>")
    return "\n".join(lines)


def _item(entry: Entry, total: int, anchor: str) -> str:
    share = 100 * entry.bytes / total if total else 0
    # The change is below the bytes, so that a phone has room for the name.
    change = f"<br><small>{signed(entry.change)}</small>" if entry.before is not None else ""
    name = html.escape(entry.name) or "no dtype in the name"
    numbers = f"{entry.bytes:,} <small>{share:.1f}%</small>{change}"
    row = f'<span class="row"><span>{name}</span><span>{numbers}</span></span>'
    bar = f'<span class="bar"><span style="width: {share:.2f}%"></span></span>'
    # A single inner line without a name adds no information.
    if not entry.inner or (len(entry.inner) == 1 and not entry.inner[0].name):
        return row + bar
    return f"<details><summary>{row}{bar}</summary><ul>\n{_items(entry.inner, total, anchor)}\n</ul></details>"
