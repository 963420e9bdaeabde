"""MobileNetV2 of fewer blocks for images of 96x96 pixels and 10 classes, with random weights."""

import torch
from transformers.models.mobilenet_v2.modeling_mobilenet_v2 import MobileNetV2ConvLayer

from examples.mobilenet_v2.model import Classifier, images, settle_statistics

_SIZE = 96
_BLOCKS = 6


class SmallClassifier(Classifier):
    """As Classifier, with fewer blocks: with random weights, each block makes the noise of quantization louder.

    The convolutions pad their inputs themselves. XNNPACK's quantizer knows no operator that pads: with TensorFlow's
    rules, a tensor of 8 bits would turn to floats and back before each convolution.
    """

    def __init__(self) -> None:
        super().__init__(image_size=_SIZE, depth_multiplier=0.35, num_labels=10, tf_padding=False)
        network = self.network.mobilenet_v2
        channels = network.layer[_BLOCKS].expand_1x1.convolution.in_channels
        del network.layer[_BLOCKS:]
        network.conv_1x1 = MobileNetV2ConvLayer(
            self.network.config, in_channels=channels, out_channels=1280, kernel_size=1
        )


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    classifier = SmallClassifier()
    settle_statistics(classifier, images(8, size=_SIZE, seed=0))
    return classifier, (images(1, size=_SIZE, seed=1),)


def get_sample_inputs() -> list[tuple[torch.Tensor]]:
    return [(images(1, size=_SIZE, seed=seed),) for seed in (1, 2, 3)]


def get_calibration_inputs() -> list[tuple[torch.Tensor]]:
    return [(images(1, size=_SIZE, seed=seed),) for seed in range(4, 12)]
