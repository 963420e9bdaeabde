"""MobileNetV2 in bfloat16, for images of 224x224 pixels and 1,000 classes, with random weights."""

import torch

from examples.models import mobilenet_v2


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    classifier, (image,) = mobilenet_v2.get_model()
    return classifier.bfloat16(), (image.bfloat16(),)
