"""Tests of a page in a browser: on a phone, light and dark."""

from __future__ import annotations

import html
import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

from absl.testing import absltest

from profiles import page
from profiles.etdump import Event, Part, Run
from profiles.profile_data import Frame, Origin, summarize

# Shows the page in a frame as wide as a phone, and measures the page there.
_MEASURED = """\
<!DOCTYPE html>
<meta charset="utf-8">
<iframe style="width: {width}px; height: 800px; border: 0" srcdoc="{page}"></iframe>
<pre id="measured"></pre>
<script>
const frame = document.querySelector("iframe");
frame.onload = () => {{
  const page = frame.contentDocument, body = page.body, all = page.documentElement;
  const color = (element, name) => frame.contentWindow.getComputedStyle(element)[name];
  const details = page.querySelector("details"), before = details.offsetHeight;
  const width = all.scrollWidth;
  details.open = true;
  document.getElementById("measured").textContent = JSON.stringify({{
    width: width,
    widthOpen: all.scrollWidth,
    grown: details.offsetHeight - before,
    background: color(body, "backgroundColor"),
    text: color(body, "color"),
    soft: color(page.querySelector("small"), "color"),
    bars: [...page.querySelectorAll("ul .bar > span")].map((bar) => bar.offsetWidth),
    fontSize: parseFloat(color(body, "fontSize")),
    summaries: [...page.querySelectorAll("summary")].map((summary) => summary.offsetHeight),
    rects: [...page.querySelectorAll("rect")].map((rect) => color(rect, "fill")),
  }});
}};
</script>
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


def _luminance(color: str) -> float:
    """As WCAG defines it."""
    channels = [int(channel) / 255 for channel in re.findall(r"\d+", color)[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one: str, other: str) -> float:
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


class BrowserTest(absltest.TestCase):
    def _measure(self, width: int, *flags: str) -> dict[str, Any]:
        folder = Path(self.create_tempdir().full_path)
        shown = folder / "measured.html"
        shown.write_text(_MEASURED.format(width=width, page=html.escape(_profile_page())))
        finished = subprocess.run(
            [
                Path(os.environ["CHROMIUM"]).absolute(),
                "--headless",
                "--no-sandbox",  # The test runs in a sandbox.
                "--disable-gpu",
                "--disable-dev-shm-usage",
                f"--user-data-dir={folder}/profile",
                "--virtual-time-budget=5000",
                "--dump-dom",
                *flags,
                shown.as_uri(),
            ],
            capture_output=True,
            check=False,
            env={**os.environ, "HOME": str(folder)},
            text=True,
            timeout=120,
        )
        found = re.search(r'<pre id="measured">(.+?)</pre>', finished.stdout, re.DOTALL)
        assert found, finished.stderr
        measured: dict[str, Any] = json.loads(html.unescape(found[1]))
        return measured

    def test_light_phone(self) -> None:
        self._check(390, scheme=1, is_dark=False)

    def test_dark_small_phone(self) -> None:
        self._check(320, scheme=0, is_dark=True)

    def _check(self, width: int, scheme: int, *, is_dark: bool) -> None:
        measured = self._measure(width, f"--blink-settings=preferredColorScheme={scheme}")
        # Nothing is wider than the screen, open or not.
        self.assertLessEqual(measured["width"], width)
        self.assertLessEqual(measured["widthOpen"], width)
        self.assertGreater(measured["grown"], 40)
        self.assertEqual(_luminance(measured["background"]) < 0.1, is_dark)
        # What WCAG asks of text (AA), and of what a finger hits.
        self.assertGreaterEqual(_contrast(measured["text"], measured["background"]), 4.5)
        self.assertGreaterEqual(_contrast(measured["soft"], measured["background"]), 4.5)
        self.assertGreaterEqual(measured["fontSize"], 16)
        self.assertGreaterEqual(min(measured["summaries"]), 24)
        # The bars are as long as their times.
        self.assertGreater(measured["bars"][0], measured["bars"][1])
        self.assertEqual(len(set(measured["rects"])), 9)  # Eight operators, and the others.


if __name__ == "__main__":
    absltest.main()
