"""Samples of the operator."""

import doubled_op  # noqa: F401 (registers the operator)
import torch


def get_samples() -> list[tuple[torch.Tensor]]:
    """One call's arguments an entry."""
    return [(torch.randn(2, 3),)]
