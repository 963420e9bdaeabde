"""Tests of the documentation's pages: their links, and their look and search in a browser."""

from __future__ import annotations

import html
import json
import os
import re
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag

from absl.testing import absltest

from tools.site import site

_SITE = Path("docs/site").absolute()

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
        self.feed(file.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value for name, value in attrs if value is not None}
        self.ids.update(value for name, value in given.items() if name in ("id", "name"))
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag in ("link", "script", "img", "iframe"):
            self.loaded += [given[name] for name in ("href", "src") if name in given]


class SiteTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.pages = {file: _Page(file) for file in sorted(_SITE.rglob("*.html"))}

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

    def _too_wide(self, width: int) -> dict[str, Any]:
        shown = Path(self.create_tempfile("measured.html").full_path)
        shown.write_text(_WIDTHS.format(width=width, pages=json.dumps([page.as_uri() for page in self.pages])))
        found = re.search(r'<pre id="measured">(.+?)</pre>', self._browse(shown.as_uri()), re.DOTALL)
        assert found
        measured: dict[str, Any] = json.loads(html.unescape(found[1]))
        self.assertEqual(len(self.pages), measured["shown"])
        wide: dict[str, Any] = measured["wide"]
        return wide

    def test_phone(self) -> None:
        self.assertEqual({}, self._too_wide(360))

    def test_desktop(self) -> None:
        self.assertEqual({}, self._too_wide(1280))

    def test_search_needs_no_server(self) -> None:
        found = self._browse(f"{(_SITE / 'search.html').as_uri()}?q=dtype_selective_build")
        self.assertIn("docs/dtype_selection.html", found.partition('id="search-results"')[2])

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
        pages = {"README.md": "index.md", "docs/a.md": "docs/a.md", "examples/b/README.md": "examples/b/README.md"}
        text = "[x](../examples/b) [`y`](../README.md#z) [w](../src/c.cpp) [v](https://v)\n```\n[x](../src/c)\n```\n[u](#u)"
        expected = (
            "[x](../examples/b/README.md) [`y`](../index.md#z) w [v](https://v)\n```\n[x](../src/c)\n```\n[u](#u)"
        )
        self.assertEqual(expected, site.for_site("docs/a.md", text, pages))


if __name__ == "__main__":
    absltest.main()
