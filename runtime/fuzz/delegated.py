"""A model for a program with a delegate."""

from __future__ import annotations

import torch


def get_model() -> tuple[torch.nn.Module, tuple[object, ...]]:
    return torch.nn.Linear(4, 3), (torch.ones(2, 4),)
