"""A ViT-S/16 whose linear layers are quantized to 8 bits by PT2E, their inputs at run time, with random weights.

Nothing is lowered to a backend, so the program finds the range of each linear layer's input itself, by
`quantized_decomposed.choose_qparams`.
"""

import executorch.kernels.quantized  # noqa: F401, registers the out variants of quantized_decomposed
import torch
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from examples.models.vit_s import Classifier, image


def get_model() -> torch.export.ExportedProgram:
    example = image(seed=1)
    config = get_symmetric_quantization_config(is_per_channel=True, is_dynamic=True)
    quantizer = XNNPACKQuantizer().set_operator_type(torch.ops.aten.linear.default, config)
    classifier = Classifier(layers=2, classes=10).eval()
    prepared = prepare_pt2e(torch.export.export(classifier, example).module(), quantizer)
    prepared(*example)
    return torch.export.export(convert_pt2e(prepared), example)


def get_sample_inputs() -> list[tuple[torch.Tensor]]:
    return [image(seed) for seed in (1, 2)]
