"""RegNetY-400MF, with random weights: an image; its 3x3 convolutions have groups of 8 channels."""

import torch
from transformers import RegNetConfig, RegNetForImageClassification


class Classifier(torch.nn.Module):
    """float32 [1, 3, 224, 224] image -> float32 [1, 1000] logits."""

    def __init__(self) -> None:
        super().__init__()
        config = RegNetConfig(
            hidden_sizes=[48, 104, 208, 440], depths=[1, 3, 6, 6], groups_width=8, layer_type="y", num_labels=1000
        )
        self.regnet = RegNetForImageClassification(config)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.regnet(image).logits
        return logits


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    return Classifier(), (torch.randn(1, 3, 224, 224, generator=torch.Generator().manual_seed(1)),)
