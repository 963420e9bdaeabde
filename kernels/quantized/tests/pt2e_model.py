"""A small convolutional network, quantized with PT2E. Its program calls the quantized kernels."""

# Registers the out variants that programs call.
import executorch.kernels.quantized  # noqa: F401
import torch
from executorch.backends.xnnpack.quantizer import xnnpack_quantizer
from torchao.quantization.pt2e import quantize_pt2e


class Network(torch.nn.Module):
    """float32 [N, 3, 8, 8] -> float32 [N, 5]. Ranges of values are fixed, except those of the head's inputs."""

    def __init__(self) -> None:
        super().__init__()
        self.convolution = torch.nn.Conv2d(3, 4, 3, padding=1)
        self.residual = torch.nn.Conv2d(4, 4, 1)
        self.head = torch.nn.Linear(64, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.convolution(x))
        x = torch.nn.functional.max_pool2d(x + self.residual(x), 2)
        return self.head(x.flatten(1))


def get_model() -> torch.export.ExportedProgram:
    torch.manual_seed(0)
    inputs = (torch.randn(2, 3, 8, 8),)
    config = xnnpack_quantizer.get_symmetric_quantization_config
    quantizer = xnnpack_quantizer.XNNPACKQuantizer()
    quantizer.set_global(config(is_per_channel=True))
    quantizer.set_module_name("head", config(is_per_channel=True, is_dynamic=True))
    prepared = quantize_pt2e.prepare_pt2e(torch.export.export(Network().eval(), inputs).module(), quantizer)
    for _ in range(3):
        prepared(torch.randn(2, 3, 8, 8))
    return torch.export.export(quantize_pt2e.convert_pt2e(prepared), inputs)
