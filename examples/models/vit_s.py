"""ViT-S/16 for images of 224x224 pixels, with random weights."""

import torch
from transformers import ViTConfig, ViTForImageClassification


class Classifier(torch.nn.Module):
    """float32 [1, 3, 224, 224] image -> float32 [1, classes] logits."""

    def __init__(self, *, layers: int, classes: int) -> None:
        super().__init__()
        config = ViTConfig(
            hidden_size=384,
            num_attention_heads=6,
            intermediate_size=1536,
            num_hidden_layers=layers,
            num_labels=classes,
        )
        self.network = ViTForImageClassification(config)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.network(image).logits
        return logits


def image(seed: int) -> tuple[torch.Tensor]:
    return (torch.rand(1, 3, 224, 224, generator=torch.Generator().manual_seed(seed)),)


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    return Classifier(layers=2, classes=10), image(seed=1)


def get_full_size_model() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    return Classifier(layers=12, classes=1000), image(seed=1)
