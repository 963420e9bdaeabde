"""ResNet-18 for images of 224x224 pixels, with random weights."""

import torch
from transformers import ResNetConfig, ResNetForImageClassification


class Classifier(torch.nn.Module):
    """float32 [1, 3, 224, 224] image -> float32 [1, classes] logits."""

    def __init__(self, *, blocks: list[int], classes: int) -> None:
        super().__init__()
        config = ResNetConfig(
            embedding_size=64,
            hidden_sizes=[64, 128, 256, 512],
            depths=blocks,
            layer_type="basic",
            num_labels=classes,
        )
        self.network = ResNetForImageClassification(config)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.network(image).logits
        return logits


def image(seed: int) -> tuple[torch.Tensor]:
    return (torch.rand(1, 3, 224, 224, generator=torch.Generator().manual_seed(seed)),)


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    return Classifier(blocks=[2, 2, 2, 1], classes=10), image(seed=1)


def get_full_size_model() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    return Classifier(blocks=[2, 2, 2, 2], classes=1000), image(seed=1)
