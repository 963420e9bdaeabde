"""Tests of a report's page in a browser: on a phone and on a wide screen, light and dark."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from absl.testing import absltest

from tools.chromium import browser

_PAGE = Path(os.environ["MOBILENET"])
_MEASURE = """\
  measured.width = page.documentElement.scrollWidth;
  for (const details of page.querySelectorAll("details")) details.open = true;
  measured.widthOpen = page.documentElement.scrollWidth;
  measured.background = style(page.body).backgroundColor;
  measured.text = style(page.body).color;
  measured.soft = style(page.querySelector("small")).color;
  measured.summaries = [...page.querySelectorAll("summary")].map((summary) => summary.offsetHeight);
  measured.numbers = [...page.querySelectorAll(".row")].map((row) => row.lastChild.offsetWidth / row.offsetWidth);
  measured.maps = [...page.querySelectorAll(".map")].filter((map) => map.offsetWidth).map((map) => {
    const area = map.getBoundingClientRect();
    return {
      shape: map.className, width: area.width, height: area.height,
      boxes: [...map.querySelectorAll(".box")].map((box) => {
        const at = box.getBoundingClientRect(), label = box.querySelector("span");
        return {
          title: box.title, area: at.width * at.height, background: style(box).backgroundColor,
          left: at.left - area.left, top: at.top - area.top, width: at.width, height: at.height,
          shown: style(label).display !== "none", labelWidth: label.scrollWidth,
        };
      }),
    };
  });
"""


class PageTest(absltest.TestCase):
    def test_light_phone(self) -> None:
        self._check(390, "map tall", is_dark=False)

    def test_dark_small_phone(self) -> None:
        self._check(320, "map tall", is_dark=True)

    def test_dark_wide_screen(self) -> None:
        self._check(1280, "map wide", is_dark=True)

    def test_what_if(self) -> None:
        page = _PAGE.read_text()
        self.assertIn("<h2>What if the models of //examples/quickstart:runner were added</h2>", page)
        self.assertIn("<li>my_ops::squareplus.out</li>", page)

    def test_nothing_is_loaded(self) -> None:
        self.assertNotRegex(_PAGE.read_text(), r"<script|<link|<img|@import|url\(|https?:")

    def _check(self, width: int, shape: str, *, is_dark: bool) -> None:
        folder = Path(self.create_tempdir().full_path)
        measured = browser.measure(_PAGE.read_text(), width, folder, _MEASURE, is_dark=is_dark)
        # Nothing is wider than the screen, open or not.
        self.assertLessEqual(measured["width"], width)
        self.assertLessEqual(measured["widthOpen"], width)
        self.assertEqual(browser.luminance(measured["background"]) < 0.1, is_dark)
        # What WCAG asks of text (AA), and of what a finger hits.
        self.assertGreaterEqual(browser.contrast(measured["text"], measured["background"]), 4.5)
        self.assertGreaterEqual(browser.contrast(measured["soft"], measured["background"]), 4.5)
        self.assertGreaterEqual(min(measured["summaries"]), 24)
        # Numbers leave room for names.
        self.assertLess(max(measured["numbers"]), 0.5)
        # One treemap, the one for the screen, and its boxes are as large as the bytes are many.
        (treemap,) = measured["maps"]
        self.assertEqual(treemap["shape"], shape)
        total = json.loads(_PAGE.with_suffix(".json").read_text())["bytes"]
        area = treemap["width"] * treemap["height"]
        counted = 0
        for box in treemap["boxes"]:
            found = re.search(r"([\d,]+) bytes?, ", box["title"])
            assert found, box
            count = int(found[1].replace(",", ""))
            counted += count
            self.assertAlmostEqual(box["area"] / area, count / total, delta=0.001, msg=box["title"])
            self.assertGreaterEqual(box["left"], -0.5)
            self.assertLessEqual(box["left"] + box["width"], treemap["width"] + 0.5)
            self.assertGreaterEqual(box["top"], -0.5)
            self.assertLessEqual(box["top"] + box["height"], treemap["height"] + 0.5)
            self.assertGreaterEqual(browser.contrast(measured["text"], box["background"]), 4.5)
            if box["shown"]:
                self.assertLessEqual(box["labelWidth"], box["width"])
        self.assertEqual(counted, total)
        self.assertGreaterEqual(sum(box["shown"] for box in treemap["boxes"]), 6, "boxes with a name")
        self.assertEqual(len({box["background"] for box in treemap["boxes"]}), 7)


if __name__ == "__main__":
    absltest.main()
