"""Tests that passes take layers of no features, of no rows and of no images."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from absl.testing import absltest, parameterized
from torch import nn
from torch.nn import functional

from export.graph_passes.tests import rewriting


class _Tied(nn.Module):
    """An embedding that shares its table with a linear layer."""

    def __init__(self, tokens: int, features: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.rand(tokens, features))

    def forward(self, indices: torch.Tensor) -> torch.Tensor:
        return functional.linear(functional.embedding(indices, self.table), self.table)


class _Attention(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return functional.scaled_dot_product_attention(x, x, x)


def _quantized(module: nn.Module, *shape: int) -> tuple[nn.Module, torch.Tensor]:
    """A module of bytes; the ranges of its values are those of other inputs, of one row or image."""
    # Defines the operators' out variants.
    import executorch.kernels.quantized  # noqa: F401
    from executorch.backends.xnnpack.quantizer import xnnpack_quantizer
    from torchao.quantization.pt2e import quantize_pt2e

    config = xnnpack_quantizer.get_symmetric_quantization_config(is_per_channel=True)
    quantizer = xnnpack_quantizer.XNNPACKQuantizer().set_global(config)
    exported = torch.export.export(module.eval(), (torch.rand(shape),), dynamic_shapes=({0: torch.export.Dim.AUTO},))
    prepared = quantize_pt2e.prepare_pt2e(exported.module(), quantizer)
    prepared(torch.rand(shape))
    return quantize_pt2e.convert_pt2e(prepared), torch.rand(0, *shape[1:])


def _by_torchao(config: str, inputs: int, features: int, rows: int) -> tuple[nn.Module, torch.Tensor]:
    from torchao import quantization

    module = nn.Sequential(nn.Linear(inputs, features)).eval()
    quantization.quantize_(module, getattr(quantization, config)())
    return module, torch.rand(rows, inputs)


_IMAGES = (0, 8, 16, 16)
_MODULES: Mapping[str, Callable[[], tuple[nn.Module, torch.Tensor]]] = {
    "features": lambda: (nn.Sequential(nn.Linear(4, 0), nn.ReLU()), torch.rand(3, 4)),
    "features_without_bias": lambda: (nn.Linear(4, 0, bias=False), torch.rand(3, 4)),
    "input_features": lambda: (nn.Sequential(nn.Linear(0, 48), nn.ReLU()), torch.rand(3, 0)),
    "rows": lambda: (nn.Sequential(nn.Linear(4, 48), nn.GELU()), torch.rand(2, 0, 4)),
    "rows_with_strides": lambda: (nn.Sequential(nn.Linear(1, 48), nn.ReLU()), torch.rand(3, 34)[:0, :1]),
    "tokens": lambda: (_Attention(), torch.rand(2, 0, 1)),
    "half_precision": lambda: (nn.Linear(4, 0).bfloat16(), torch.rand(3, 4).bfloat16()),
    "sequences": lambda: (nn.LSTM(4, 8, 2, bidirectional=True), torch.rand(3, 0, 4)),
    "sequences_of_gates": lambda: (nn.GRU(4, 8, batch_first=True), torch.rand(0, 3, 4)),
    "images": lambda: (nn.Sequential(nn.Conv2d(8, 32, 3), nn.ReLU(), nn.Conv2d(32, 32, 3)), torch.rand(_IMAGES)),
    "input_channels": lambda: (nn.Conv2d(0, 8, 3), torch.rand(1, 0, 16, 16)),
    "padded_rows": lambda: (nn.Sequential(nn.ZeroPad2d(2), nn.Conv2d(2, 1, 3, padding=1)), torch.rand(4, 2, 0, 4)),
    "padded_lines": lambda: (nn.Sequential(nn.ZeroPad1d(2), nn.Conv1d(8, 32, 3)), torch.rand(4, 8, 0)),
    "images_without_columns": lambda: (
        nn.Sequential(nn.Conv2d(8, 8, 3, padding=1), nn.ConvTranspose2d(8, 8, 2, padding=1)),
        torch.rand(2, 8, 8, 1),
    ),
    "images_of_norms": lambda: (nn.Sequential(nn.Conv2d(8, 32, 3), nn.BatchNorm2d(32)), torch.rand(_IMAGES)),
    "rows_of_norms": lambda: (nn.RMSNorm(8), torch.rand(0, 8)),
    "features_of_norms": lambda: (nn.RMSNorm(0), torch.rand(3, 0)),
    "indices": lambda: (_Tied(480, 48), torch.zeros(0, dtype=torch.int64)),
    "features_of_embeddings": lambda: (_Tied(480, 0), torch.tensor([3, 4])),
    "quantized_rows": lambda: _quantized(nn.Sequential(nn.Linear(4, 48), nn.ReLU()), 3, 4),
    "quantized_images": lambda: _quantized(nn.Sequential(nn.Conv2d(8, 32, 3), nn.AvgPool2d(2)), 3, 8, 6, 6),
    "weights_of_bytes": lambda: _by_torchao("Int8WeightOnlyConfig", 64, 320, 0),
}


class NoElementsTest(parameterized.TestCase):
    @parameterized.named_parameters(_MODULES.items())
    def test_all_passes(self, make: Callable[[], tuple[nn.Module, torch.Tensor]]) -> None:
        module, x = make()
        if not isinstance(module, torch.fx.GraphModule):
            module.eval()
        rewritten = rewriting.Rewritten(torch.export.export(module, (x,)))
        for one in rewriting.steps(rewritten, ["all"]):
            rewriting.run(rewritten, one)
            rewriting.compare(module, rewritten, (x,))
        rewritten.emit()


if __name__ == "__main__":
    absltest.main()
