"""A classifier of 28 x 28 pixels, with random weights that are the same in each run."""

import torch


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    """The entry point of executorch_model: the module and its example inputs."""
    torch.manual_seed(0)
    layers = (torch.nn.Flatten(), torch.nn.Linear(28 * 28, 128), torch.nn.GELU(), torch.nn.Linear(128, 10))
    return torch.nn.Sequential(*layers), (torch.randn(1, 28, 28),)
