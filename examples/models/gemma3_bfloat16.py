"""Gemma 3 (270M) in bfloat16, with random weights."""

import torch
from transformers import Gemma3ForCausalLM, Gemma3TextConfig


class LanguageModel(torch.nn.Module):
    """int64 [1, 24] tokens -> bfloat16 [1, 24, vocabulary] logits."""

    def __init__(self, *, layer_types: list[str], vocabulary: int) -> None:
        super().__init__()
        config = Gemma3TextConfig(
            vocab_size=vocabulary,
            hidden_size=640,
            intermediate_size=2048,
            num_hidden_layers=len(layer_types),
            layer_types=layer_types,
            num_attention_heads=4,
            num_key_value_heads=1,
            head_dim=256,
            sliding_window=16,
            use_cache=False,
        )
        self.gemma = Gemma3ForCausalLM(config).bfloat16()

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.gemma(tokens).logits
        return logits


def _tokens(seed: int) -> tuple[torch.Tensor]:
    return (torch.randint(1000, (1, 24), generator=torch.Generator().manual_seed(seed)),)


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    return LanguageModel(layer_types=["sliding_attention", "full_attention"], vocabulary=1000), _tokens(seed=1)


def get_full_size_model() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    layer_types = (5 * ["sliding_attention"] + ["full_attention"]) * 3
    return LanguageModel(layer_types=layer_types, vocabulary=262144), _tokens(seed=1)


def get_sample_inputs() -> list[tuple[torch.Tensor]]:
    return [_tokens(seed) for seed in (1, 2)]
