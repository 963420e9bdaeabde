"""Tests of the page of a comparison in a browser: on a phone and on a wide screen, light and dark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from absl.testing import absltest

from profiles import numbers_page
from profiles.numbers_table import Row
from profiles.profile_data import Frame
from third_party import browser

_LINE = Frame(
    "transformers/models/mobilenet_v2/modeling_mobilenet_v2.py", 147, "forward", "x = self.convolution(x) < 1"
)
_ROWS = [
    Row(
        3,
        "rules_executorch::packed_convolution.out",
        "network.layers.2",
        _LINE,
        ("float32 [1, 64, 112, 112]",),
        ("conv2d", "relu6"),
        "activations",
        1,
        3,
        26.0,
        110.0,
        0.125,
        False,
    ),
    *(
        Row(number, "aten::add.out", "network", None, ("float32 [1, 64]",), ("add",), "", snr=136.0 - number, drop=1.0)
        for number in (0, 1, 2, 4, 5)
    ),
    Row(6, "aten::view_copy.out", "", None, (), (), "", why="no node of torch.export's graph has this value"),
]
_MEASURE = """\
  const first = page.querySelector("li");
  measured.width = page.documentElement.scrollWidth;
  measured.operators = [...page.querySelectorAll("li b")].map((operator) => operator.innerText);
  measured.first = first.innerText;
  const two = [first, first.nextElementSibling].map((row) => row.querySelector("b"));
  measured.decoration = two.map((operator) => style(operator).textDecorationLine);
  measured.bars = [...page.querySelectorAll(".bar > span")].map((bar) => bar.getBoundingClientRect().width);
  measured.chart = page.querySelector("svg").getBoundingClientRect().width;
  measured.background = style(page.body).backgroundColor;
  measured.text = style(page.body).color;
  measured.soft = style(page.querySelector("small")).color;
"""


class NumbersPageTest(absltest.TestCase):
    def test_screens(self) -> None:
        page = numbers_page.render("//package:model.numbers", "forward", _ROWS)
        for width in (360, 1300):
            for is_dark in (False, True):
                with self.subTest(width=width, is_dark=is_dark):
                    folder = Path(self.create_tempdir().full_path)
                    self._check(browser.measure(page, width, folder, _MEASURE, is_dark=is_dark), width)

    def _check(self, measured: dict[str, Any], width: int) -> None:
        self.assertLessEqual(measured["width"], width)
        self.assertEqual(measured["operators"], [row.operator for row in _ROWS])
        for text in (
            *("26.0 dB", "drop 110.0 dB", "max 0.125", "sample 1, iteration 3", "x = self.convolution(x) < 1", ":147"),
            *("float32 [1, 64, 112, 112]", "eager conv2d, relu6", "pass activations", "network.layers.2"),
        ):
            self.assertIn(text, measured["first"])
        self.assertEqual(measured["decoration"], ["underline", "none"])
        self.assertEqual(measured["bars"][1:], sorted(measured["bars"][1:], reverse=True))
        self.assertLess(measured["bars"][0], measured["bars"][-1])
        self.assertGreater(measured["chart"], 0.8 * min(width, 1024))
        for text in ("text", "soft"):
            self.assertGreaterEqual(browser.contrast(measured[text], measured["background"]), 4.5)


if __name__ == "__main__":
    absltest.main()
