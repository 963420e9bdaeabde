"""Swin-T, with random weights: an image; attention is within windows of 7x7 patches, which every other layer shifts."""

import torch
from transformers import SwinConfig, SwinForImageClassification


class Classifier(torch.nn.Module):
    """float32 [1, 3, 224, 224] image -> float32 [1, 1000] logits."""

    def __init__(self) -> None:
        super().__init__()
        self.swin = SwinForImageClassification(SwinConfig(num_labels=1000))

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.swin(image).logits
        return logits


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    return Classifier(), (torch.randn(1, 3, 224, 224, generator=torch.Generator().manual_seed(1)),)
