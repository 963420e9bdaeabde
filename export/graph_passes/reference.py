"""Writes the table of the graph passes in export/README.md from the `reference` of each pass.

tools/bazel run //export:graph_passes_reference
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from absl import app

from export.graph_passes import passes

PAGE = Path("export", "README.md")
_COMMENT = "<!-- The passes' own text: `tools/bazel run //export:graph_passes_reference` writes the table. -->\n\n"
_END = "\n\n<!-- End of the passes. -->"


def table() -> str:
    """Returns the table of the passes, in the order in which they run."""
    rows = [f"| `{one.name}` | {one.reference} | {'`default`' if one.is_default else ''} |" for one in passes.PASSES]
    return "\n".join(["| pass | effect | |", "|---|---|---|", *(row.replace("  |", " |") for row in rows)])


def updated(page: str) -> str:
    """Returns a page with the present table in place of the page's table."""
    before, _, rest = page.partition(_COMMENT)
    _, _, after = rest.partition(_END)
    return before + _COMMENT + table() + _END + after


def main(_: Sequence[str]) -> None:
    page = Path(os.environ["BUILD_WORKSPACE_DIRECTORY"]) / PAGE
    page.write_text(updated(page.read_text()))


if __name__ == "__main__":
    app.run(main)
