"""Tests of the documentation's pages: their links, and their look and search in a browser."""

from __future__ import annotations

import html
import json
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag

from absl.testing import absltest

from tools.site import site

_SITE = Path("docs/site").absolute()

# Puts what a script says of a page in a frame into the page around it.
_ASKED = """\
<!DOCTYPE html>
<meta charset="utf-8">
<iframe src="{page}" style="width: {width}px; height: 800px; border: 0"></iframe>
<pre id="measured"></pre>
<script>
const frame = document.querySelector("iframe");
frame.onload = async () => {{
  const shown = frame.contentWindow, page = frame.contentDocument;
  const answer = await (async () => {{ {script} }})();
  document.getElementById("measured").textContent = JSON.stringify(answer);
}};
</script>
"""
# The first result of each search. A script of the page itself: names of its scripts' are not properties of its window.
_FIRST_RESULTS = """
  const script = page.createElement("script");
  script.textContent = `window.results = ${{JSON.stringify({queries})}}.map(
      (query) => Search._performSearch(...Search._parseQuery(query)).at(-1) ?? []);`;
  page.body.append(script);
  return shown.results.map(([name, , anchor]) => `${{name}}.html${{anchor}}`);
"""
# What the buttons put into a clipboard.
_COPIED = """
  const copied = [];
  Object.defineProperty(shown.navigator, "clipboard", {{value: {{writeText: async (text) => copied.push(text)}}}});
  for (const block of page.querySelectorAll("article div.highlight")) block.querySelector("button.copy").click();
  return [page.querySelectorAll("article pre").length, copied];
"""

# Of each table that is wider than the page, scrolled to its end: the edges of the table, and of the cells of a row.
_SCROLLED = """
  const tables = [...page.querySelectorAll("article .table-wrapper")];
  return tables.filter((table) => table.scrollWidth > table.clientWidth + 1).map((table) => {{
    table.scrollLeft = table.scrollWidth;
    const edges = (element) => [element.getBoundingClientRect().left, element.getBoundingClientRect().right];
    return [edges(table), ...[...table.querySelectorAll("tbody tr:first-child td")].map(edges)];
  }});
"""

# Shows each page in a frame of some width, one after the other, and says which of them are wider than the frame.
_WIDTHS = """\
<!DOCTYPE html>
<meta charset="utf-8">
<iframe style="width: {width}px; height: 800px; border: 0"></iframe>
<pre id="measured"></pre>
<script>
const pages = {pages}, wide = {{}};
const frame = document.querySelector("iframe");
let shown = -1;
frame.onload = () => {{
  const page = frame.contentDocument;
  if (shown >= 0 && page.documentElement.scrollWidth > {width}) {{
    const widest = [...page.querySelectorAll("article *")].filter(
        (element) => element.getBoundingClientRect().right > {width} && !element.closest(".table-wrapper, pre"));
    wide[pages[shown]] = [page.documentElement.scrollWidth, ...widest.slice(0, 3).map((e) => e.outerHTML.slice(0, 99))];
  }}
  shown += 1;
  if (shown < pages.length) frame.src = pages[shown];
  else document.getElementById("measured").textContent = JSON.stringify({{shown: shown, wide: wide}});
}};
frame.src = "about:blank";
</script>
"""


class _Page(HTMLParser):
    """What a page refers to, and the places in it that others can refer to."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.ids: set[str] = set()
        self.text = file.read_text()
        self.feed(self.text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value for name, value in attrs if value is not None}
        self.ids.update(value for name, value in given.items() if name in ("id", "name"))
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag in ("link", "script", "img", "iframe"):
            self.loaded += [given[name] for name in ("href", "src") if name in given]


class SiteTest(absltest.TestCase):
    pages: Mapping[Path, _Page]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.pages = {file: _Page(file) for file in sorted(_SITE.rglob("*.html"))}

    def _browse(self, page: str) -> str:
        """What a browser makes of a page."""
        folder = Path(self.create_tempdir().full_path)
        finished = subprocess.run(
            [
                Path(os.environ["CHROMIUM"]).absolute(),
                "--headless",
                "--no-sandbox",  # The test runs in a sandbox.
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--allow-file-access-from-files",
                f"--user-data-dir={folder}/profile",
                "--virtual-time-budget=60000",
                "--window-size=1400,900",
                "--dump-dom",
                page,
            ],
            capture_output=True,
            check=False,
            env={**os.environ, "HOME": str(folder)},
            text=True,
            timeout=200,
        )
        return finished.stdout

    def _measured(self, page: str) -> Any:
        shown = Path(self.create_tempfile("measured.html").full_path)
        shown.write_text(page)
        found = re.search(r'<pre id="measured">(.+?)</pre>', self._browse(shown.as_uri()), re.DOTALL)
        assert found
        return json.loads(html.unescape(found[1]))

    def _asked(self, page: str, script: str, width: int = 1280) -> Any:
        """What a script, the body of a function, returns of a page of the site."""
        return self._measured(_ASKED.format(page=(_SITE / page).as_uri(), script=script, width=width))

    def _first_results(self, queries: Sequence[str]) -> list[str]:
        script = _FIRST_RESULTS.format(queries=json.dumps(queries))
        first: list[str] = self._asked("search.html", script)
        return first

    def _too_wide(self, width: int) -> dict[str, Any]:
        measured = self._measured(_WIDTHS.format(width=width, pages=json.dumps([page.as_uri() for page in self.pages])))
        self.assertEqual(len(self.pages), measured["shown"])
        wide: dict[str, Any] = measured["wide"]
        return wide

    def test_phone(self) -> None:
        self.assertEqual({}, self._too_wide(360))

    def test_desktop(self) -> None:
        self.assertEqual({}, self._too_wide(1280))

    def test_the_first_column_stays_where_a_table_scrolls(self) -> None:
        for page in ("docs/benchmarks.html", "docs/models.html", "docs/kernels.html"):
            scrolled = self._asked(page, _SCROLLED.format(), width=360)
            self.assertNotEmpty(scrolled, page)
            for (left, right), first, *_, last in scrolled:
                self.assertBetween(first[0], left, left + 8)
                self.assertLess(first[1], left + 0.6 * (right - left))  # Figures have room beside it.
                self.assertLess(last[1], right + 8)

    def test_search_needs_no_server(self) -> None:
        found = self._browse(f"{(_SITE / 'search.html').as_uri()}?q=dtype_selective_build")
        self.assertIn("docs/dtype_selection.html", found.partition('id="search-results"')[2])

    def test_search_finds_the_section_of_each_error(self) -> None:
        ids = re.findall(r"^### (\S+)$", Path("docs/errors.md").read_text(), re.MULTILINE)
        self.assertIn("missing-operator", ids)
        self.assertEqual([f"docs/errors.html#{one}" for one in ids], self._first_results(ids))

    def test_search_finds_flags_and_attributes(self) -> None:
        """Each flag of the rules, as Bazel takes it, without slashes, and by its name alone."""
        pages = ("docs/optimized_kernels.md", "docs/remote.md", "docs/workspace.md")
        text = "".join(Path(page).read_text() for page in pages)
        flags = sorted(set(re.findall(r"--@rules_executorch//([\w:]+)", text)))
        self.assertIn("rules:instruction_sets", flags)
        for spelling in ("--@rules_executorch//{}", "--//{}=some", "--{}"):
            for flag, first in zip(flags, self._first_results([spelling.format(flag) for flag in flags]), strict=True):
                page, _, anchor = first.partition("#")
                section = self.pages[_SITE / page].text.partition(f'id="{anchor}"')[2].partition("</section>")[0]
                self.assertIn(flag, re.sub(r"<[^>]*>", "", section), f"{spelling}: {first}")
        rules = Path("docs/rules.md").read_text()
        for attribute in ("graph_passes", "dtype_selective_build", "functions_yaml_target"):
            rule = re.findall(r"^### (\S+)", rules.partition(f"\n- `{attribute}`")[0], re.MULTILINE)[-1]
            self.assertEqual([f"docs/rules.html#{rule.replace('_', '-')}"], self._first_results([attribute]))

    def test_search_finds_what_is_not_supported(self) -> None:
        queries = ("LLM runners", "training on a device")
        for query, first in zip(queries, self._first_results(queries), strict=True):
            self.assertStartsWith(first, "docs/not_supported.html", query)

    def test_search_finds_platforms(self) -> None:
        """One page says what runs on a platform, the other one what does not."""
        queries = ("Windows", "macOS", "Android", "iOS", "WebAssembly")
        for query, first in zip(queries, self._first_results(queries), strict=True):
            self.assertRegex(first, r"^docs/(not_supported|platforms)\.html", query)

    def test_copy_buttons(self) -> None:
        blocks, copied = self._asked("index.html", _COPIED.format())
        self.assertGreater(blocks, 5)
        self.assertLen(copied, blocks)
        self.assertIn("tools/bazel run //examples/quickstart", copied)
        self.assertTrue(any(text.startswith("load(") and "\n" in text for text in copied))
        self.assertEmpty([text for text in copied if "$ tools/bazel" in text or "PASSED" in text])

    def test_version(self) -> None:
        version = re.search(r'^    version = "(.+)"', Path("MODULE.bazel").read_text(), re.MULTILINE)
        assert version
        for file, page in self.pages.items():
            brand = re.search(r'class="sidebar-brand-text">([^<]*)<', page.text)
            assert brand, file
            self.assertEqual(f"rules_executorch {version[1]}", brand[1])

    def test_contents(self) -> None:
        """Each page is there once; the sections of the page that is shown are below it, and no others."""
        entry = re.compile(r'<li class="toctree-l(\d)[^"]*">\s*<a class="[^"]*" href="([^"]*)"')
        listed = {file for file in self.pages if "sources" not in file.relative_to(_SITE).parts}
        listed -= {_SITE / "search.html", _SITE / "genindex.html"}
        for file in listed:
            with self.subTest(str(file.relative_to(_SITE))):
                tree = self.pages[file].text.partition('class="sidebar-tree"')[2].partition("</aside>")[0]
                entries = entry.findall(tree)
                self.assertNotIn(" checked=", tree)
                pages = [
                    os.path.normpath(file.parent / href) if href != "#" else str(file)
                    for level, href in entries
                    if level == "1"
                ]
                self.assertSameElements(map(str, listed), pages)
                self.assertLen(pages, len(listed))
                self.assertEmpty([href for level, href in entries if level != "1" and not href.startswith("#")])
        of_errors = entry.findall(self.pages[_SITE / "docs/errors.html"].text)
        self.assertIn(("2", "#selecting-operators"), of_errors)

    def test_links(self) -> None:
        self.assertGreater(len(self.pages), 25)
        for file, page in self.pages.items():
            for link in page.links:
                target, anchor = urldefrag(unquote(link))
                if "://" in target:
                    continue
                linked = Path(os.path.normpath(file.parent / target)) if target else file
                self.assertTrue(linked.is_file(), f"{file}: {link}")
                if anchor and linked.suffix == ".html":
                    self.assertIn(anchor, self.pages[linked].ids, f"{file}: {link}")

    def test_nothing_is_loaded_from_elsewhere(self) -> None:
        for file, page in self.pages.items():
            self.assertEqual([], [address for address in page.loaded if "//" in address], file)
        for style in _SITE.rglob("*.css"):
            self.assertNotRegex(style.read_text(), r"url\(['\"]?(https?:)?//", style)

    def test_changed_links(self) -> None:
        pages = {
            "README.md": "index.md",
            "docs/a.md": "docs/a.md",
            "examples/b": "sources/examples/b.md",
            "examples/b/README.md": "examples/b/README.md",
            "src": "sources/src.md",
            "src/c.cpp": "sources/src/c.cpp.md",
        }
        text = (
            "# a\n[x](../examples/b) [`y`](../README.md#z) [w](../src/c.cpp) [v](https://v)"
            "\n```\n# [x](../d)\n```\n[u](#u)[t](../src)"
        )
        expected = (
            "# a\n[x](../examples/b/README.md) [`y`](../index.md#z) [w](../sources/src/c.cpp.md) [v](https://v)"
            "\n```\n# [x](../d)\n```\n[u](#u)[t](../sources/src.md)"
        )
        self.assertEqual(expected, site.for_site("docs/a.md", text, pages))

    def test_a_link_to_what_the_site_lacks_is_an_error(self) -> None:
        for link in ("../src/c.cpp", "../src", "b.md#c", "plot.svg"):
            with self.assertRaisesRegex(site.SiteError, "^docs/a.md links to "):
                site.for_site("docs/a.md", f"# a\n[x]({link})", {"docs/a.md": "docs/a.md"})

    def test_a_page_has_one_title(self) -> None:
        for text in ("a", "# a\n\n# b"):
            with self.assertRaisesRegex(site.SiteError, "^docs/a.md has [02] headings of the first level"):
                site.for_site("docs/a.md", text, {"docs/a.md": "docs/a.md"})

    def test_sources(self) -> None:
        pages = site.source_pages({"a/b/c.py": "x = 1\n", "a/d": "````\n"})
        self.assertIn("\n# `a/b/c.py`\n\n```python\nx = 1\n```\n", pages["a/b/c.py"])
        self.assertIn("\n`````text\n````\n`````\n", pages["a/d"])
        self.assertIn("\n- [`b/c.py`](a/b/c.py.md)\n- [`d`](a/d.md)\n", pages["a"])
        self.assertEqual({"a", "a/b", "a/b/c.py", "a/d"}, set(pages))


if __name__ == "__main__":
    absltest.main()
