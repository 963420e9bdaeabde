"""Tests of a page in a browser: on a phone, light and dark."""

from __future__ import annotations

from pathlib import Path

from absl.testing import absltest

from profiles import page
from profiles.etdump import Event, Part, Run
from profiles.profile_data import Frame, Origin, summarize
from tools.chromium import browser

# Fills `measured`, and opens what can be opened in between.
_MEASURE = """\
  const details = page.querySelector("details"), before = details.offsetHeight;
  measured.width = page.documentElement.scrollWidth;
  details.open = true;
  measured.widthOpen = page.documentElement.scrollWidth;
  measured.grown = details.offsetHeight - before;
  measured.background = style(page.body).backgroundColor;
  measured.text = style(page.body).color;
  measured.soft = style(page.querySelector("small")).color;
  measured.bars = [...page.querySelectorAll("ul .bar > span")].map((bar) => bar.offsetWidth);
  measured.fontSize = parseFloat(style(page.body).fontSize);
  measured.summaries = [...page.querySelectorAll("summary")].map((summary) => summary.offsetHeight);
  measured.rects = [...page.querySelectorAll("rect")].map((rect) => style(rect).fill);
"""


def _profile_page() -> str:
    """The page of a profile with long names, as models of transformers have them."""
    operators = [f"aten::_native_batch_norm_legit_no_training_{i}.out" for i in range(12)]
    events = [
        Event(i, "", 1000 * i, 1000 * i + 990 - 80 * i, (Part("Fully Connected (NC, F32) GEMM #1", 90),))
        for i in range(12)
    ]
    frame = Frame("transformers/models/mobilenet_v2/modeling_mobilenet_v2.py", 147, "forward", "features = " + "x" * 90)
    origins = {i: Origin(name, "model.layers.0.attention.self", (frame, frame), ()) for i, name in enumerate(operators)}
    return page.render("//a/rather/long/package:binary.profile", summarize([Run(0, 12000, tuple(events))], origins))


class BrowserTest(absltest.TestCase):
    def test_light_phone(self) -> None:
        self._check(390, is_dark=False)

    def test_dark_small_phone(self) -> None:
        self._check(320, is_dark=True)

    def _check(self, width: int, *, is_dark: bool) -> None:
        folder = Path(self.create_tempdir().full_path)
        measured = browser.measure(_profile_page(), width, folder, _MEASURE, is_dark=is_dark)
        # Nothing is wider than the screen, open or not.
        self.assertLessEqual(measured["width"], width)
        self.assertLessEqual(measured["widthOpen"], width)
        self.assertGreater(measured["grown"], 40)
        self.assertEqual(browser.luminance(measured["background"]) < 0.1, is_dark)
        # What WCAG asks of text (AA), and of what a finger hits.
        self.assertGreaterEqual(browser.contrast(measured["text"], measured["background"]), 4.5)
        self.assertGreaterEqual(browser.contrast(measured["soft"], measured["background"]), 4.5)
        self.assertGreaterEqual(measured["fontSize"], 16)
        self.assertGreaterEqual(min(measured["summaries"]), 24)
        # The bars are as long as their times.
        self.assertGreater(measured["bars"][0], measured["bars"][1])
        self.assertEqual(len(set(measured["rects"])), 9)  # Eight operators, and the others.


if __name__ == "__main__":
    absltest.main()
