"""A BERT-shaped encoder with random weights, those of linear layers quantized to 4 bits, or to 8, by torchao."""

import torch
from torchao.quantization import IntxWeightOnlyConfig, quantize_
from torchao.quantization.granularity import PerAxis, PerGroup

from examples.models.minilm import SentenceEncoder


def _is_wide(module: torch.nn.Module, name: str) -> bool:
    return isinstance(module, torch.nn.Linear) and "intermediate" in name


def _is_narrow(module: torch.nn.Module, name: str) -> bool:
    return isinstance(module, torch.nn.Linear) and "intermediate" not in name


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor, torch.Tensor]]:
    encoder = SentenceEncoder(num_hidden_layers=2, vocab_size=1000).eval()
    quantize_(encoder, IntxWeightOnlyConfig(torch.int8, PerAxis(0)), _is_wide)
    quantize_(encoder, IntxWeightOnlyConfig(torch.int4, PerGroup(32)), _is_narrow)  # type: ignore[attr-defined]
    tokens = torch.randint(1, 1000, (1, 32), generator=torch.Generator().manual_seed(1))
    return encoder, (tokens, torch.ones_like(tokens))
