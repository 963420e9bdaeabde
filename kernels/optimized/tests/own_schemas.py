"""The schemas and the dim orders of the operators in own_custom_ops.yaml, which only kernels/optimized has."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import yaml

_YAML = Path(__file__).parent.parent / "own_custom_ops.yaml"


def read(file: Path) -> Mapping[str, str]:
    """The schemas of a YAML of custom operators, by operator name such as `rules_executorch::rms_norm.out`."""
    return {entry["func"].partition("(")[0]: entry["func"] for entry in yaml.safe_load(file.read_text())}


SCHEMAS: Mapping[str, str] = read(_YAML)
# The declared order of each tensor argument and of `out`, by operator name and argument.
DIM_ORDERS: Mapping[str, Mapping[str, str]] = {
    entry["func"].partition("(")[0]: entry["dim_orders"] for entry in yaml.safe_load(_YAML.read_text())
}
