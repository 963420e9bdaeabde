"""The other one, which calls operators that the first does not call."""

import torch


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    """The entry point of executorch_model."""
    return torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.Softmax(-1)), (torch.randn(2, 4),)
