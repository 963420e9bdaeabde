"""The common style of report pages: light and dark, for phones and for wide screens."""

from __future__ import annotations

# The hues of boxes: class `c0` has the first hue, and `c-more` no hue. `--fill-0` is the color behind text, and
# `--strong-0` is the color of boxes without text.
HUES = (210, 140, 30, 280, 0, 180, 60, 320)

_COLORS = "\n".join(
    [
        *(
            f"  --fill-{i}: hsl({hue} var(--fill)); --strong-{i}: hsl({hue} var(--strong));"
            for i, hue in enumerate(HUES)
        ),
        "  --fill-more: var(--line); --strong-more: var(--soft);",
    ]
)
_CLASSES = "\n".join(f".c{i} {{ background: var(--fill-{i}); }}" for i in range(len(HUES)))

STYLE = f"""\
:root {{ --text: #1b1f24; --soft: #59636e; --page: #ffffff; --line: #d1d9e0; --bar: #2f6fb5; --lane: #eef1f4;
  --control: #818b95; --fill: 55% 82%; --strong: 55% 42%;
{_COLORS}
}}
@media (prefers-color-scheme: dark) {{
  :root {{ --text: #e6edf3; --soft: #9aa5b1; --page: #0f141a; --line: #30363d; --bar: #5b9bdd; --lane: #1c232b;
    --control: #6e7884; --fill: 38% 28%; --strong: 55% 60%; }}
}}
* {{ box-sizing: border-box; }}
[hidden] {{ display: none !important; }}
body {{ margin: 0 auto; padding: 1rem; max-width: 64rem; color: var(--text); background: var(--page);
  font: 1rem/1.45 system-ui, sans-serif; overflow-wrap: anywhere; }}
h1 {{ font-size: 1.35rem; margin: 0 0 .25rem; }}
h2 {{ font-size: 1.1rem; margin: 2rem 0 .5rem; }}
p {{ margin: .25rem 0; }}
a {{ color: inherit; }}
.soft, small {{ color: var(--soft); }}
code {{ font: .875em/1.4 ui-monospace, monospace; }}
ul {{ list-style: none; margin: 0; padding: 0; }}
li {{ border-top: 1px solid var(--line); padding: .4rem 0; }}
li ul {{ margin-left: 1rem; }}
button, input, select {{ min-height: 2rem; padding: .2rem .6rem; border: 1px solid var(--control);
  border-radius: .25rem; color: inherit; background: var(--page); font: inherit; }}
button {{ cursor: pointer; }}
:focus-visible {{ outline: 2px solid var(--bar); outline-offset: 1px; }}
.row {{ display: flex; gap: .75rem; justify-content: space-between; }}
.row > :last-child {{ flex: none; text-align: right; font-variant-numeric: tabular-nums; }}
.bar {{ display: block; height: .5rem; margin-top: .2rem; border-radius: .25rem; background: var(--lane); }}
.bar > span {{ display: block; height: 100%; border-radius: .25rem; background: var(--bar); }}
.legend {{ display: flex; flex-wrap: wrap; gap: .25rem .9rem; }}
.key {{ display: inline-block; width: .85rem; height: .85rem; border-radius: .125rem; vertical-align: -.1rem; }}
{_CLASSES}
.c-more {{ background: var(--fill-more); }}
summary {{ cursor: pointer; }}
summary > .row {{ display: inline-flex; width: calc(100% - 1.5rem); vertical-align: top; }}
pre {{ margin: .25rem 0; white-space: pre-wrap; }}"""
