"""The operators of the modes of torch.nn.functional.pad that repeat or mirror elements of the input."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from export.graph_passes import calls

# For each mode, the views of its operators (call.py): of one, two and three padded dimensions.
OF_MODES: Mapping[str, tuple[Any, ...]] = {
    "reflect": (calls.ReflectionPad1d, calls.ReflectionPad2d, calls.ReflectionPad3d),
    "replicate": (calls.ReplicationPad1d, calls.ReplicationPad2d, calls.ReplicationPad3d),
}
ALL: tuple[Any, ...] = tuple(operator for operators in OF_MODES.values() for operator in operators)
# The names of those that pad images.
OF_IMAGES = frozenset(operators[1].OPERATOR for operators in OF_MODES.values())
