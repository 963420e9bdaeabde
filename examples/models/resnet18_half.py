"""ResNet-18 in half precision, for images of 224x224 pixels, with random weights."""

import torch

from examples.models import resnet18


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    classifier, (image,) = resnet18.get_model()
    return classifier.half(), (image.half(),)
