"""Qwen2 (0.5B) with random weights, which takes a text of any length from 2 to 64 tokens."""

from typing import Any

import torch
from transformers import Qwen2Config, Qwen2ForCausalLM

_LONGEST = 64


class LanguageModel(torch.nn.Module):
    """int64 [1, length] tokens -> float32 [1, length, vocabulary] logits."""

    def __init__(self, *, layers: int, vocabulary: int, inner_size: int) -> None:
        super().__init__()
        config = Qwen2Config(
            vocab_size=vocabulary,
            hidden_size=896,
            intermediate_size=inner_size,
            num_hidden_layers=layers,
            num_attention_heads=14,
            num_key_value_heads=2,
            max_position_embeddings=_LONGEST,
            tie_word_embeddings=True,
            use_cache=False,
        )
        self.qwen = Qwen2ForCausalLM(config)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.qwen(tokens).logits
        return logits


def _tokens(length: int) -> tuple[torch.Tensor]:
    return (torch.randint(1000, (1, length), generator=torch.Generator().manual_seed(length)),)


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    return LanguageModel(layers=1, vocabulary=1000, inner_size=1216), _tokens(16)


def get_full_size_model() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    return LanguageModel(layers=24, vocabulary=151936, inner_size=4864), _tokens(16)


def get_dynamic_shapes() -> dict[str, Any]:
    return {"tokens": {1: torch.export.Dim("length", min=2, max=_LONGEST)}}


def get_sample_inputs() -> list[tuple[torch.Tensor]]:
    return [_tokens(length) for length in (16, 2, _LONGEST, 33)]
