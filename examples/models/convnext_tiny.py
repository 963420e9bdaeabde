"""ConvNeXt-T for images of 224x224 pixels, with random weights."""

import torch
from transformers import ConvNextConfig, ConvNextForImageClassification


class Classifier(torch.nn.Module):
    """float32 [1, 3, 224, 224] image -> float32 [1, classes] logits."""

    def __init__(self, *, blocks: list[int], classes: int) -> None:
        super().__init__()
        config = ConvNextConfig(depths=blocks, num_labels=classes, layer_scale_init_value=0.1)
        self.network = ConvNextForImageClassification(config)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.network(image).logits
        return logits


def _image() -> tuple[torch.Tensor]:
    return (torch.rand(1, 3, 224, 224, generator=torch.Generator().manual_seed(1)),)


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    return Classifier(blocks=[1, 1, 1, 1], classes=10), _image()


def get_full_size_model() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    return Classifier(blocks=[3, 3, 9, 3], classes=1000), _image()
