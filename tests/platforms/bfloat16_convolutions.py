"""Convolutions in bfloat16, of channels-last images: of an odd count of channels, of pairs, and depthwise."""

import torch


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    torch.manual_seed(0)
    layers = torch.nn.Sequential(
        torch.nn.Conv2d(3, 16, 3, stride=2),
        torch.nn.ReLU(),
        torch.nn.Conv2d(16, 16, 3, padding=1, groups=16),
        torch.nn.Conv2d(16, 70, 3),
        torch.nn.Hardtanh(),
    )
    image = torch.randn(1, 3, 17, 15, dtype=torch.bfloat16).to(memory_format=torch.channels_last)
    return layers.bfloat16().eval(), (image,)
