"""Layers of images and of tokens in float32, for which kernels/optimized has kernels of its own."""

import torch
from torch.nn import functional
from torchao.quantization import Int8DynamicActivationInt8WeightConfig, IntxWeightOnlyConfig, quantize_
from torchao.quantization.granularity import PerGroup

_WORDS, _SIZE, _HEADS = 96, 64, 4


class _Layers(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Conv2d(3, 16, 3, stride=2)
        self.depthwise = torch.nn.Conv2d(16, 16, 3, padding=1, groups=16)
        self.dense = torch.nn.Conv2d(16, 50, 3, padding=1)
        self.sound = torch.nn.Conv1d(8, 24, 5)
        self.words = torch.nn.Embedding(_WORDS, _SIZE)
        self.norm = torch.nn.RMSNorm(_SIZE)
        self.heads = torch.nn.Linear(_SIZE, 3 * _SIZE)
        self.halved = torch.nn.Linear(_SIZE, _SIZE)
        self.dynamic = torch.nn.Linear(_SIZE, _SIZE)
        self.last = torch.nn.Linear(_SIZE, _WORDS, bias=False)
        self.last.weight = self.words.weight

    def forward(
        self, image: torch.Tensor, sound: torch.Tensor, tokens: torch.Tensor, rows: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        image = functional.relu(self.first(image))
        image = functional.hardtanh(self.dense(self.depthwise(image) + image))
        x = self.norm(self.words(tokens))
        shape = (1, tokens.shape[1], _HEADS, _SIZE // _HEADS)
        query, key, value = (part.reshape(shape).transpose(1, 2) for part in self.heads(x).chunk(3, dim=2))
        attention = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + functional.gelu(self.halved(attention.transpose(1, 2).reshape(x.shape)))
        x = x + self.dynamic(x)
        product = functional.linear(rows, rows)
        return image.amax(dim=(2, 3)), functional.relu(self.sound(sound)), self.last(x), product


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor, ...]]:
    torch.manual_seed(0)
    layers = _Layers().eval()
    four_bits = IntxWeightOnlyConfig(torch.int4, PerGroup(32))  # type: ignore[attr-defined]
    quantize_(layers, four_bits, lambda module, name: name == "halved")
    quantize_(layers, Int8DynamicActivationInt8WeightConfig(), lambda module, name: name == "dynamic")
    image = torch.randn(1, 3, 81, 75).to(memory_format=torch.channels_last)
    return layers, (image, torch.randn(1, 8, 40), torch.randint(0, _WORDS, (1, 9)), torch.randn(7, 20))
