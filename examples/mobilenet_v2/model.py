"""MobileNetV2 for images of 96x96 pixels and 10 classes, with random weights."""

import torch
from transformers import MobileNetV2Config, MobileNetV2ForImageClassification


class Classifier(torch.nn.Module):
    """float32 [1, 3, 96, 96] image -> float32 [1, 10] logits."""

    def __init__(self) -> None:
        super().__init__()
        config = MobileNetV2Config(image_size=96, depth_multiplier=0.35, num_labels=10)
        self.network = MobileNetV2ForImageClassification(config)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.network(image).logits
        return logits


def _images(count: int, seed: int) -> torch.Tensor:
    return torch.rand(count, 3, 96, 96, generator=torch.Generator().manual_seed(seed))


def _settle_statistics(classifier: torch.nn.Module) -> None:
    """Gives the batch norms the statistics of a batch of images.

    With those that a new module has, and random weights, the signal dies out on its way through the layers, and all
    images give zeros.
    """
    for layer in classifier.modules():
        if isinstance(layer, torch.nn.BatchNorm2d):
            layer.momentum = None  # Takes the average of all batches, of which there is one.
    with torch.no_grad():
        classifier.train()(_images(8, seed=0))


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    torch.manual_seed(0)
    classifier = Classifier()
    _settle_statistics(classifier)
    return classifier, (_images(1, seed=1),)


def get_sample_inputs() -> list[tuple[torch.Tensor]]:
    return [(_images(1, seed),) for seed in (1, 2, 3)]
