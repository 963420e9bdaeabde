"""The schemas of the operators in own_custom_ops.yaml, which only kernels/optimized has."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import yaml

_YAML = Path(__file__).parent.parent / "own_custom_ops.yaml"


def read(file: Path) -> Mapping[str, str]:
    """The schemas of a YAML of custom operators, by operator name such as `rules_executorch::rms_norm.out`."""
    return {entry["func"].partition("(")[0]: entry["func"] for entry in yaml.safe_load(file.read_text())}


SCHEMAS: Mapping[str, str] = read(_YAML)
