"""Measures pages in headless Chromium. $CHROMIUM is the command."""

from __future__ import annotations

import html
import json
import os
import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

# Shows the page in a frame with the width of a screen, and measures the page in the frame.
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


class _Handler(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def _serve(folder: Path) -> Iterator[str]:
    """Serves a folder at an address. A page that is a file cannot fetch other files."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, directory=folder)) as server:
        threading.Thread(target=server.serve_forever).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def measure(page: str, width: int, folder: Path, script: str, *, is_dark: bool) -> dict[str, Any]:
    """Runs a script on a page. Returns the measured values.

    Args:
        page: the HTML.
        width: the width of the screen, in CSS pixels.
        folder: a folder for files, which may have some that the page fetches.
        script: JavaScript that fills an object `measured`. The script can use the document `page`, `style(element)`,
            and `await settled()`, which waits for asynchronous work of the browser.
        is_dark: whether the browser prefers dark pages.
    """
    (folder / "page.html").write_text(page)
    (folder / "measured.html").write_text(_MEASURED.format(width=width, script=script))
    with _serve(folder) as address:
        finished = subprocess.run(
            [
                Path(os.environ["CHROMIUM"]).absolute(),
                "--headless",
                "--no-sandbox",  # The test itself runs in a sandbox.
                "--disable-gpu",
                "--disable-dev-shm-usage",
                f"--window-size={width + 100},1000",
                f"--user-data-dir={folder}/profile",
                f"--blink-settings=preferredColorScheme={0 if is_dark else 1}",
                "--virtual-time-budget=5000",
                "--dump-dom",
                f"{address}/measured.html",
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
    """Returns the relative luminance of an opaque color `rgb(...)`, as defined by WCAG."""
    channels = [int(channel) / 255 for channel in re.findall(r"\d+", color)[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Returns the contrast ratio of two colors, as defined by WCAG."""
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)
