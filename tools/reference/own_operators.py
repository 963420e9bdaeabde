"""Writes the table of our own operators in docs/optimized_kernels.md, of what own_custom_ops.yaml says of each.

tools/bazel run //tools/reference:own_operators
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from absl import app

ROOT = Path(__file__).parents[2]
YAML = Path("kernels/optimized/own_custom_ops.yaml")
PAGE = Path("docs/optimized_kernels.md")
_COMMENT = "<!-- The YAML's own text: `tools/bazel run //tools/reference:own_operators` writes the table. -->\n\n"
_END = "\n\n<!-- End of the operators. -->"
# What stands above a schema, and the schema without its out argument.
_ENTRY = re.compile(r"^# (.+)\.\n# Dtypes: (.+)\.\n- func: (\S+?)\((.*?)(?:, \*)?, Tensor\(a!\) out\) ->", re.MULTILINE)


def table(yaml: str) -> str:
    """The operators of a YAML file, in its order: the schema without the out argument, what it computes, dtypes.

    Raises:
        ValueError: nothing, or something else, stands above a schema.
    """
    rows = [f"| `{name}({given})` | {what} | {dtypes} |" for what, dtypes, name, given in _ENTRY.findall(yaml)]
    if len(rows) != yaml.count("- func:"):
        raise ValueError(f"above each schema of {YAML} stand two lines: '# What it computes.' and '# Dtypes: all.'")
    return "\n".join(["| operator | what it computes | dtypes |", "|---|---|---|", *rows])


def updated(page: str, yaml: str) -> str:
    """A page with the table of a YAML file in the place of its own."""
    before, _, rest = page.partition(_COMMENT)
    _, _, after = rest.partition(_END)
    return before + _COMMENT + table(yaml) + _END + after


def main(_: Sequence[str]) -> None:
    root = Path(os.environ["BUILD_WORKSPACE_DIRECTORY"])
    (root / PAGE).write_text(updated((root / PAGE).read_text(), (root / YAML).read_text()))


if __name__ == "__main__":
    app.run(main)
