"""The style that all pages of reports have: light and dark, for a phone and for a wide screen."""

from __future__ import annotations

STYLE = """\
:root { --text: #1b1f24; --soft: #59636e; --page: #ffffff; --line: #d1d9e0; --bar: #2f6fb5; --lane: #eef1f4; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6edf3; --soft: #9aa5b1; --page: #0f141a; --line: #30363d; --bar: #5b9bdd; --lane: #1c232b; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 64rem; color: var(--text); background: var(--page);
  font: 1rem/1.45 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.35rem; margin: 0 0 .25rem; }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
p { margin: .25rem 0; }
.soft, small { color: var(--soft); }
code { font: .875em/1.4 ui-monospace, monospace; }
ul { list-style: none; margin: 0; padding: 0; }
li { border-top: 1px solid var(--line); padding: .4rem 0; }
li ul { margin-left: 1rem; }
.row { display: flex; gap: .75rem; justify-content: space-between; }
.row > :last-child { flex: none; text-align: right; font-variant-numeric: tabular-nums; }
.bar { display: block; height: .5rem; margin-top: .2rem; border-radius: .25rem; background: var(--lane); }
.bar > span { display: block; height: 100%; border-radius: .25rem; background: var(--bar); }
summary { cursor: pointer; }
summary > .row { display: inline-flex; width: calc(100% - 1.5rem); vertical-align: top; }
pre { margin: .25rem 0; white-space: pre-wrap; }"""
