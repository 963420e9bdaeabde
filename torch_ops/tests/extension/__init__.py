import torch  # noqa: F401

from . import _C, ops  # type: ignore[attr-defined]

__all__ = ["_C", "ops"]
