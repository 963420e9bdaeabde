"""ResNet-18 for images of 224x224 pixels, quantized to 8 bits by PT2E, with random weights.

Nothing is lowered to a backend, so the program has operators of `quantized_decomposed` between the others.
"""

import executorch.kernels.quantized  # noqa: F401, registers the out variants of quantized_decomposed
import torch
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from examples.models.resnet18 import Classifier, image


def _quantized(classifier: torch.nn.Module) -> torch.export.ExportedProgram:
    quantizer = XNNPACKQuantizer().set_global(get_symmetric_quantization_config(is_per_channel=True))
    prepared = prepare_pt2e(torch.export.export(classifier.eval(), image(seed=1)).module(), quantizer)
    for seed in range(2):
        prepared(*image(seed))  # Observes the range of each tensor.
    return torch.export.export(convert_pt2e(prepared), image(seed=1))


def get_model() -> torch.export.ExportedProgram:
    return _quantized(Classifier(blocks=[1, 1, 1, 1], classes=10))


def get_full_size_model() -> torch.export.ExportedProgram:
    return _quantized(Classifier(blocks=[2, 2, 2, 2], classes=1000))
