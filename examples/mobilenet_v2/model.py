"""MobileNetV2 for images of 96x96 pixels and 10 classes, with random weights."""

import torch
from transformers import MobileNetV2Config, MobileNetV2ForImageClassification

_SIZE = 96


class Classifier(torch.nn.Module):
    """float32 [1, 3, image_size, image_size] image -> float32 [1, num_labels] logits."""

    def __init__(self, *, image_size: int, depth_multiplier: float, num_labels: int, tf_padding: bool = True) -> None:
        super().__init__()
        config = MobileNetV2Config(
            image_size=image_size, depth_multiplier=depth_multiplier, num_labels=num_labels, tf_padding=tf_padding
        )
        self.network = MobileNetV2ForImageClassification(config)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.network(image).logits
        return logits


def images(count: int, *, size: int, seed: int) -> torch.Tensor:
    return torch.rand(count, 3, size, size, generator=torch.Generator().manual_seed(seed))


def settle_statistics(classifier: torch.nn.Module, batch: torch.Tensor) -> None:
    """Gives the batch norms the statistics of a batch of images.

    With those that a new module has, and random weights, the signal dies out on its way through the layers, and all
    images give zeros.
    """
    for layer in classifier.modules():
        if isinstance(layer, torch.nn.BatchNorm2d):
            layer.momentum = None  # Takes the average of all batches, of which there is one.
    with torch.no_grad():
        classifier.train()(batch)


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    torch.manual_seed(0)
    classifier = Classifier(image_size=_SIZE, depth_multiplier=0.35, num_labels=10)
    settle_statistics(classifier, images(8, size=_SIZE, seed=0))
    return classifier, (images(1, size=_SIZE, seed=1),)


def get_sample_inputs() -> list[tuple[torch.Tensor]]:
    return [(images(1, size=_SIZE, seed=seed),) for seed in (1, 2, 3)]
