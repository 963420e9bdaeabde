"""Tests of a report's page in a browser: on a phone and on a wide screen, light and dark."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from absl.testing import absltest

from third_party import browser

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
      shape: map.closest(".wide, .tall").className, width: area.width, height: area.height,
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

# Follows every box of the map that is shown, into maps of several names and to lines.
_FOLLOW = """\
  const number = (text) => Number(text.replaceAll(",", ""));
  const shown = () => [...page.querySelectorAll(".map")].filter((map) => map.offsetWidth);
  const of = (map) => [...map.querySelectorAll(".box")];
  const bytes = (box) => number(/([0-9,]+) bytes?, [0-9.]+%$/.exec(box.title)[1]);
  measured.maps = [];
  measured.lines = [];
  const pending = [null];
  while (pending.length) {
    const box = pending.pop();
    if (box) {
      page.querySelector(`.${measured.shape} [href="${box.link}"]`).click();
      await settled();
    } else {
      measured.shape = shown()[0].closest(".wide, .tall").className;
    }
    const boxes = of(shown()[0]);
    measured.maps.push({
      count: shown().length, expected: box && box.bytes, names: box && box.names,
      bytes: boxes.reduce((sum, each) => sum + bytes(each), 0),
      boxes: boxes.reduce((sum, each) => sum + (each.title.match(/: ([0-9]+) more, /)?.[1] ?? 1) * 1, 0),
      top: shown()[0].getBoundingClientRect().top,
      focus: (boxes[0].focus(), page.activeElement === boxes[0]),
    });
    for (const each of boxes.filter((each) => each.matches(".several"))) {
      pending.push({link: each.hash, bytes: bytes(each), names: number(/: ([0-9]+) more, /.exec(each.title)[1])});
    }
    for (const each of boxes.filter((each) => !each.matches(".several"))) {
      const row = page.querySelector(`${each.hash} .row`);
      measured.lines.push({title: each.title, bytes: bytes(each), text: row && row.textContent});
    }
  }
  shown()[0].parentElement.querySelector("p a").click();
  await settled();
  measured.overview = shown()[0].parentElement.className;
  const last = [...page.querySelectorAll(`.${measured.shape} .box:not(.several)`)].at(-1);
  last.click();
  await settled();
  const line = page.querySelector(":target");
  measured.last = {top: line.getBoundingClientRect().top, height: line.offsetHeight};
  measured.width = page.documentElement.scrollWidth;
"""


class PageTest(absltest.TestCase):
    def test_light_phone(self) -> None:
        self._check(390, "tall", is_dark=False)

    def test_dark_small_phone(self) -> None:
        self._check(320, "tall", is_dark=True)

    def test_dark_wide_screen(self) -> None:
        self._check(1280, "wide", is_dark=True)

    def test_what_if(self) -> None:
        page = _PAGE.read_text()
        self.assertIn("<h2>What if the models of //examples/quickstart:model were added</h2>", page)
        self.assertIn("<li>my_ops::squareplus.out</li>", page)

    def test_nothing_is_loaded(self) -> None:
        self.assertNotRegex(_PAGE.read_text(), r"\bsrc=|<link|<img|@import|url\(|https?:|fetch|import\(")

    def test_boxes_open(self) -> None:
        for width, shape in ((360, "tall"), (1280, "wide")):
            folder = Path(self.create_tempdir().full_path)
            measured = browser.measure(_PAGE.read_text(), width, folder, _FOLLOW, is_dark=False)
            self.assertEqual(measured["shape"], shape)
            whole, *inner = measured["maps"]
            self.assertEqual(whole["bytes"], json.loads(_PAGE.with_suffix(".json").read_text())["bytes"])
            self.assertGreater(len(inner), 0)
            for each in measured["maps"]:
                self.assertEqual(each["count"], 1)
                self.assertTrue(each["focus"])
            for each in inner:
                self.assertEqual(each["bytes"], each["expected"])
                self.assertEqual(each["boxes"], each["names"])
                self.assertTrue(0 <= each["top"] <= 800, each["top"])
            self.assertEqual(measured["overview"], "overview")
            # In the end, each name has a box, and the box leads to its line.
            parts = json.loads(_PAGE.with_suffix(".json").read_text())["parts"]
            self.assertEqual(len(measured["lines"]), len({(part["group"], part["name"]) for part in parts}))
            for line in measured["lines"]:
                name = line["title"].partition(": ")[2].rpartition(f", {line['bytes']:,} byte")[0]
                self.assertTrue(line["text"].startswith(name), line)
                self.assertIn(f"{line['bytes']:,}", line["text"])
            self.assertGreater(measured["last"]["height"], 20)
            self.assertTrue(0 <= measured["last"]["top"] <= 800, measured["last"]["top"])
            self.assertLessEqual(measured["width"], width)

    def test_changes(self) -> None:
        page = _PAGE.read_text()
        changes = page[page.index("<h2>Changes</h2>") : page.index("<h2>Operators</h2>")]
        self.assertRegex(changes, r"<details>\n<summary>\d+ parts changed: \+[\d,]+ and -[\d,]+ bytes</summary>")
        report, baseline = (
            {(part["group"], part["name"]) for part in json.loads(file.read_text())["parts"]}
            for file in (_PAGE.with_suffix(".json"), _PAGE.with_name("quickstart.json"))
        )
        self.assertEqual(len(re.findall(r"\+[\d,]+ <small>new</small>", changes)), len(report - baseline))
        self.assertEqual(len(re.findall(r"-[\d,]+ <small>gone</small>", changes)), len(baseline - report))
        self.assertNotIn("of 0", changes)

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
