"""MobileNetV2 quantized to 8 bits by PT2E, with random weights: all its convolutions are of bytes.

ReLU6 and the padding of TensorFlow's models are between them, each with a quantization of its own.
"""

import executorch.kernels.quantized  # noqa: F401, registers the out variants of quantized_decomposed
import torch
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from examples.mobilenet_v2.model import Classifier, images, settle_statistics


def get_model() -> torch.export.ExportedProgram:
    classifier = Classifier(image_size=96, depth_multiplier=0.35, num_labels=10)
    settle_statistics(classifier, images(4, size=96, seed=0))
    example = (images(1, size=96, seed=1),)
    quantizer = XNNPACKQuantizer().set_global(get_symmetric_quantization_config(is_per_channel=True))
    prepared = prepare_pt2e(torch.export.export(classifier.eval(), example).module(), quantizer)
    for seed in range(2):
        prepared(images(1, size=96, seed=seed))  # Observes the range of each tensor.
    return torch.export.export(convert_pt2e(prepared), example)
