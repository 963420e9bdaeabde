"""EfficientNet-B0 for images of 64x64 pixels, with random weights."""

import torch
from transformers import EfficientNetConfig, EfficientNetForImageClassification


class Classifier(torch.nn.Module):
    """float32 [1, 3, 64, 64] image -> float32 [1, 10] logits."""

    def __init__(self) -> None:
        super().__init__()
        config = EfficientNetConfig(width_coefficient=1.0, depth_coefficient=1.0, hidden_dim=1280, num_labels=10)
        self.network = EfficientNetForImageClassification(config)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.network(image).logits
        return logits


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    generator = torch.Generator().manual_seed(1)
    model = Classifier()
    for module in model.modules():  # Those of transformers make all logits 0.
        if isinstance(module, torch.nn.Conv2d | torch.nn.BatchNorm2d | torch.nn.Linear):
            module.reset_parameters()
    with torch.no_grad():  # Batch norms learn what they normalize.
        model.train()(torch.rand(8, 3, 64, 64, generator=generator))
    return model, (torch.rand(1, 3, 64, 64, generator=generator),)
