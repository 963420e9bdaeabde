"""Plots are readable in a browser: on a phone and on a desk, light and dark."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from absl.testing import absltest, parameterized

from third_party import browser
from tools.bench import report

# The width of a page, and that of its text.
_WIDTHS = ((360, 328), (740, 708))
_LEAST_FONT = 9
# Contrasts that WCAG asks for, of text and of graphics.
_OF_TEXT, _OF_GRAPHICS = 4.5, 3

_PAGE = '<!DOCTYPE html><body style="margin: 16px"><style>svg {{ max-width: 100%; height: auto }}</style>{}</body>'
_SCRIPT = """
  const svg = page.querySelector("svg"), shown = svg.getBoundingClientRect();
  const box = (element) => {
    const {left, top, right, bottom} = element.getBoundingClientRect();
    return [left, top, right, bottom];
  };
  measured.scale = shown.width / svg.viewBox.baseVal.width;
  measured.svg = box(svg);
  measured.page = style(svg.querySelector("rect.page")).fill;
  measured.texts = [...svg.querySelectorAll("text")].map(
      (text) => [text.textContent, box(text), parseFloat(style(text).fontSize), style(text).fill]);
  measured.marks = [...svg.querySelectorAll("path.mark")].map((mark) => [box(mark), style(mark).fill]);
"""

# Names as long as they come, and figures far apart.
_SERIES = ["the wheel's kernels", "PyTorch eager", "torch.compile", "AOTInductor", "ONNX Runtime", *"abcd"]
_ROWS = {f"BERT-shaped encoder, 6x384, 32 tokens, int8 ({i})": i for i in range(1, 4)}
_MADE = {
    "dots": report.dots("Speed", {row: {s: 5.0 ** (j - 4) for j, s in enumerate(_SERIES)} for row in _ROWS}, "much"),
    "few_dots": report.dots("Speed", {"model": {"a": 1.1, "b": 1.2}}, "little"),
    "lines": report.plot(
        {
            "large": ("targets", "MB", {"a": [(1, 1), (1_234_567, 98_765)], "b": [(0, 0)]}),
            "small": ("operators", "s", {"a": [(1, 0.00012), (3, 0.00034)]}),
        },
        "all",
    ),
}
_KEPT = {plot.stem: plot.read_text() for plot in sorted(Path("docs").glob("*.svg"))}


def _overlap(one: list[float], other: list[float]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


class PlotsTest(parameterized.TestCase):
    def _measured(self, svg: str, width: int, *, is_dark: bool) -> dict[str, Any]:
        folder = Path(self.create_tempdir().full_path)
        return browser.measure(_PAGE.format(svg), width, folder, _SCRIPT, is_dark=is_dark)

    @parameterized.product(name=(*_MADE, *_KEPT), widths=_WIDTHS)
    def test_readable(self, name: str, widths: tuple[int, int]) -> None:
        page, of_text = widths
        measured = self._measured({**_MADE, **_KEPT}[name], page, is_dark=False)
        left, top, right, bottom = measured["svg"]
        self.assertLessEqual(right - left, of_text)
        for text, _, font, _ in measured["texts"]:
            self.assertGreaterEqual(font * measured["scale"], _LEAST_FONT, text)
        boxes = [(text, box) for text, box, *_ in measured["texts"]] + [("mark", box) for box, _ in measured["marks"]]
        for text, box in boxes:
            self.assertTrue(left <= box[0] and box[2] <= right and top <= box[1] and box[3] <= bottom, text)
        for (text, box, *_), (other, other_box, *_) in itertools.combinations(measured["texts"], 2):
            self.assertFalse(_overlap(box, other_box), f"{text} lies over {other}")

    @parameterized.product(name=("dots", *_KEPT), is_dark=(False, True))
    def test_contrast(self, name: str, is_dark: bool) -> None:
        measured = self._measured({**_MADE, **_KEPT}[name], 740, is_dark=is_dark)
        self.assertEqual(is_dark, browser.luminance(measured["page"]) < 0.1)
        for text, _, _, color in measured["texts"]:
            self.assertGreaterEqual(browser.contrast(color, measured["page"]), _OF_TEXT, text)
        for _, color in measured["marks"]:
            self.assertGreaterEqual(browser.contrast(color, measured["page"]), _OF_GRAPHICS, color)

    def test_pages_say_what_plots_show(self) -> None:
        """The text beside an image is the image's own description, which comes from the figures."""
        found = {}
        for page in sorted(Path("docs").glob("*.md")):
            found.update({file: text for text, file in re.findall(r"!\[([^\]]*)\]\((\w+)\.svg\)", page.read_text())})
        self.assertEqual(_KEPT.keys(), found.keys())
        for name, svg in _KEPT.items():
            self.assertEqual(ElementTree.fromstring(svg).findtext("{http://www.w3.org/2000/svg}desc"), found[name])
            self.assertRegex(found[name], r"\d")


if __name__ == "__main__":
    absltest.main()
