"""Writes the C++ header with the checks of dim orders, in a build action.

write_dim_orders --own=own_custom_ops.yaml --output=dim_orders.h
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from absl import app, flags

from export.graph_passes.generator import dim_order_checks, own_operators

_OWN = flags.DEFINE_string("own", None, "YAML file of our own operators.", required=True)
_OUTPUT = flags.DEFINE_string("output", None, "Header to write.", required=True)


def _main(arguments: Sequence[str]) -> None:
    if len(arguments) > 1:
        raise app.UsageError(f"unknown argument: {arguments[1]}")
    Path(_OUTPUT.value).write_text(dim_order_checks.header(own_operators.read(_OWN.value)))


if __name__ == "__main__":
    app.run(_main)
