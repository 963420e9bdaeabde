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
        return self.network(image).logits


def _image(seed: int) -> torch.Tensor:
    return torch.rand(1, 3, 96, 96, generator=torch.Generator().manual_seed(seed))


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    torch.manual_seed(0)
    return Classifier(), (_image(seed=1),)


def get_sample_inputs() -> list[tuple[torch.Tensor]]:
    return [(_image(seed),) for seed in (1, 2, 3)]
