"""Tests of a report's page in a browser: on a phone and on a wide screen, light and dark."""

from __future__ import annotations

import json
import os
from pathlib import Path

from absl.testing import absltest

from third_party import browser

_PAGE = Path(os.environ["PAGE"])
_MEASURE = """\
  measured.width = page.documentElement.scrollWidth;
  measured.background = style(page.body).backgroundColor;
  measured.text = style(page.body).color;
  measured.soft = style(page.querySelector("small")).color;
  measured.numbers = [...page.querySelectorAll(".row")].map((row) => row.lastChild.offsetWidth / row.offsetWidth);
  const picture = page.querySelector(".places"), area = picture.getBoundingClientRect();
  measured.picture = {width: area.width, height: area.height};
  measured.boxes = [...picture.querySelectorAll("rect")].map((box) => {
    const at = box.getBoundingClientRect();
    return {left: at.left - area.left, top: at.top - area.top, width: at.width, height: at.height};
  });
"""


class PageTest(absltest.TestCase):
    def test_screens(self) -> None:
        for width in (360, 1300):
            for is_dark in (False, True):
                with self.subTest(f"{width}, dark {is_dark}"):
                    self._check(width, is_dark=is_dark)

    def _check(self, width: int, *, is_dark: bool) -> None:
        folder = Path(self.create_tempdir().full_path)
        measured = browser.measure(_PAGE.read_text(), width, folder, _MEASURE, is_dark=is_dark)
        self.assertLessEqual(measured["width"], width)
        self.assertEqual(browser.luminance(measured["background"]) < 0.1, is_dark)
        # What WCAG asks of text (AA).
        self.assertGreaterEqual(browser.contrast(measured["text"], measured["background"]), 4.5)
        self.assertGreaterEqual(browser.contrast(measured["soft"], measured["background"]), 4.5)
        # Numbers leave room for names.
        self.assertLess(max(measured["numbers"]), 0.5)
        # The picture has the width of the page, and a box where each tensor is.
        (method,) = json.loads(_PAGE.with_suffix(".json").read_text())["methods"]
        picture = measured["picture"]
        self.assertGreater(picture["width"], width * 0.75)
        across, down = picture["width"] / len(method["instructions"]), picture["height"] / method["planned"]
        starts = [sum(method["memories"][:i]) for i in range(len(method["memories"]))]
        expected = sorted(
            (
                tensor["first"] * across,
                (starts[tensor["memory"] - 1] + tensor["offset"]) * down,
                (tensor["last"] + 1 - tensor["first"]) * across,
                tensor["bytes"] * down,
            )
            for tensor in method["tensors"]
        )
        found = sorted((box["left"], box["top"], box["width"], box["height"]) for box in measured["boxes"])
        self.assertLen(found, len(expected))
        for box, tensor in zip(found, expected, strict=True):
            for at, should in zip(box, tensor, strict=True):
                self.assertAlmostEqual(at, should, delta=2)


if __name__ == "__main__":
    absltest.main()
