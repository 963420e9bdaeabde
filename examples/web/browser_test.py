"""The page classifies digits that somebody draws, in a browser."""

import json
import os
import shutil
from pathlib import Path

from absl.testing import absltest

from third_party import browser

# Strokes of each digit, with corners on a grid.
_DIGITS = [
    ["30 10 03 07 1a 3a 57 53 30"],
    ["20 1a"],
    ["02 10 40 62 63 0a 6a"],
    ["01 20 50 63 54 34 54 67 59 3a 09"],
    ["10 06 76", "52 5a"],
    ["60 10 05 45 67 59 3a 09"],
    ["50 23 06 08 2a 5a 68 66 45 06"],
    ["00 60 2a"],
    ["30 11 13 36 68 5a 1a 08 36 53 51 30"],
    ["61 30 02 04 25 54 61 5a"],
]

_DRAW = """\
  const canvas = page.querySelector("canvas"), output = page.querySelector("output");
  // WebAssembly is compiled in a time of its own, and the clock of the page waits for requests only.
  while (output.value === "Loading") {
    await fetch("page.html", {cache: "no-store"});
  }
  const send = (kind, [x, y], buttons = 1) => {
    const {left, top} = canvas.getBoundingClientRect();
    canvas.dispatchEvent(new PointerEvent(`pointer${kind}`, {clientX: left + x, clientY: top + y, buttons}));
  };
  measured.shown = digits.map((strokes) => {
    page.querySelector("button").click();
    for (const stroke of strokes) {
      const points = stroke.split(" ").map((point) => [...point].map((at) => 60 + 15 * parseInt(at, 16)));
      send("down", points[0]);
      points.forEach((point) => send("move", point));
    }
    return output.value;
  });
  send("move", [0, 0], 0);
  measured.afterwards = output.value;
  page.querySelector("button").click();
  measured.cleared = output.value;
"""


class BrowserTest(absltest.TestCase):
    def test_digits(self) -> None:
        folder = Path(self.create_tempdir().full_path)
        shutil.copy(os.environ["PROGRAM"], folder)
        page = Path("examples/web/index.html").read_text()
        script = f"  const digits = {json.dumps(_DIGITS)};\n{_DRAW}"
        measured = browser.measure(page, 400, folder, script, is_dark=True)
        self.assertEqual([text.partition(" ")[0] for text in measured["shown"]], list("0123456789"), measured)
        self.assertEqual(measured["afterwards"], measured["shown"][-1])
        self.assertEqual("", measured["cleared"])


if __name__ == "__main__":
    absltest.main()
