"""A perceptron in bfloat16."""

import torch


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    torch.manual_seed(0)
    layers = torch.nn.Sequential(torch.nn.Linear(64, 96), torch.nn.GELU(), torch.nn.Linear(96, 48))
    return layers.bfloat16().eval(), (torch.randn(5, 64, dtype=torch.bfloat16),)
