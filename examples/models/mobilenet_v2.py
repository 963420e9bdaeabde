"""MobileNetV2 at its full size, for images of 224x224 pixels and 1,000 classes, with random weights."""

import torch

from examples.mobilenet_v2.model import Classifier, images, settle_statistics


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    classifier = Classifier(image_size=224, depth_multiplier=1.0, num_labels=1000)
    settle_statistics(classifier, images(4, size=224, seed=0))
    return classifier, (images(1, size=224, seed=1),)
