"""Writes the table of our own operators in docs/optimized_kernels.md, from the comments in own_custom_ops.yaml.

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
# The comments above a schema, the schema without the out arguments, and the dim orders.
_ENTRY = re.compile(
    r"^# (.+)\.\n# Dtypes: (.+)\.\n"
    r"- func: (\S+?)\((.*?)(?:, \*)?, Tensor\(a!\) out(?:, Tensor\([b-z]!\) \w+)*\) -> .+\n  dim_orders: {(.*)}$",
    re.MULTILINE,
)


def table(yaml: str) -> str:
    """Returns the table of the operators in a YAML file: schema without the out arguments, description, dtypes, orders.

    Raises:
        ValueError: the comments above a schema or the dim orders below it are missing or have another form.
    """
    rows = [
        f"| `{name}({given})` | {what} | {dtypes} | {_orders(orders)} |"
        for what, dtypes, name, given, orders in _ENTRY.findall(yaml)
    ]
    if len(rows) != yaml.count("- func:"):
        raise ValueError(
            f"above each schema of {YAML} stand two lines: '# What it computes.' and '# Dtypes: all.'; below it stands "
            "one: 'dim_orders: {input: any, out: any}'"
        )
    return "\n".join(["| operator | result | dtypes | dim orders other than contiguous |", "|---|---|---|---|", *rows])


def _orders(declared: str) -> str:
    """Returns the dim orders of a declaration that are not contiguous."""
    return ", ".join(f"`{one}`" for one in declared.split(", ") if not one.endswith(": contiguous")) or "none"


def updated(page: str, yaml: str) -> str:
    """Returns a page with the table of a YAML file in place of the page's table."""
    before, _, rest = page.partition(_COMMENT)
    _, _, after = rest.partition(_END)
    return before + _COMMENT + table(yaml) + _END + after


def main(_: Sequence[str]) -> None:
    root = Path(os.environ["BUILD_WORKSPACE_DIRECTORY"])
    (root / PAGE).write_text(updated((root / PAGE).read_text(), (root / YAML).read_text()))


if __name__ == "__main__":
    app.run(main)
