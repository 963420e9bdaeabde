"""Measures pages in headless Chromium, which $CHROMIUM starts."""

from __future__ import annotations

import html
import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

# Shows the page in a frame as wide as a screen, and measures the page there.
_MEASURED = """\
<!DOCTYPE html>
<meta charset="utf-8">
<iframe style="width: {width}px; height: 800px; border: 0" src="page.html"></iframe>
<pre id="measured"></pre>
<script>
const frame = document.querySelector("iframe");
frame.onload = async () => {{
  const page = frame.contentDocument, measured = {{}};
  const style = (element) => frame.contentWindow.getComputedStyle(element);
  const settled = () => new Promise((resolve) => setTimeout(resolve, 100));
  try {{
{script}
  }} catch (error) {{
    measured.error = error.stack;
  }}
  document.getElementById("measured").textContent = JSON.stringify(measured);
}};
</script>
"""


def measure(page: str, width: int, folder: Path, script: str, *, is_dark: bool) -> dict[str, Any]:
    """What a script finds out about a page.

    Args:
        page: the HTML.
        width: of the screen, in CSS pixels.
        folder: an empty one to write to.
        script: JavaScript that fills an object `measured`; it has the document `page`, `style(element)`,
            and `await settled()` for what the browser does on its own time.
        is_dark: whether the browser asks for dark pages.
    """
    (folder / "page.html").write_text(page)
    shown = folder / "measured.html"
    shown.write_text(_MEASURED.format(width=width, script=script))
    finished = subprocess.run(
        [
            Path(os.environ["CHROMIUM"]).absolute(),
            "--headless",
            "--no-sandbox",  # The test runs in a sandbox.
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--allow-file-access-from-files",  # The page is another file than what measures it.
            f"--window-size={width + 100},1000",
            f"--user-data-dir={folder}/profile",
            f"--blink-settings=preferredColorScheme={0 if is_dark else 1}",
            "--virtual-time-budget=5000",
            "--dump-dom",
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
    assert "error" not in measured, measured["error"]
    return measured


def luminance(color: str) -> float:
    """Of an opaque color `rgb(...)`, as WCAG defines it."""
    channels = [int(channel) / 255 for channel in re.findall(r"\d+", color)[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Of two colors, as WCAG defines it."""
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)
