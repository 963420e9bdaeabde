"""The schemas of the operators that only kernels/optimized has, which own_custom_ops.yaml declares."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import yaml

_YAML = Path(__file__).parent.parent / "own_custom_ops.yaml"

# By the operators' names: `rules_executorch::rms_norm.out`.
SCHEMAS: Mapping[str, str] = {
    entry["func"].partition("(")[0]: entry["func"] for entry in yaml.safe_load(_YAML.read_text())
}
