"""One of two models that share a library."""

import torch


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    """The entry point of executorch_model."""
    return torch.nn.Sequential(torch.nn.Linear(16, 4), torch.nn.ReLU()), (torch.randn(2, 16),)
