"""GPT-2 small, with random weights."""

import torch
from transformers import GPT2Config, GPT2LMHeadModel


class LanguageModel(torch.nn.Module):
    """int64 [1, 32] tokens -> float32 [1, 32, vocabulary] logits."""

    def __init__(self, **sizes: int) -> None:
        super().__init__()
        self.gpt2 = GPT2LMHeadModel(GPT2Config(use_cache=False, **sizes))

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.gpt2(tokens).logits
        return logits


def _tokens(seed: int) -> tuple[torch.Tensor]:
    return (torch.randint(1000, (1, 32), generator=torch.Generator().manual_seed(seed)),)


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    return LanguageModel(n_layer=1, vocab_size=1000), _tokens(seed=1)


def get_full_size_model() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    return LanguageModel(), _tokens(seed=1)


def get_sample_inputs() -> list[tuple[torch.Tensor]]:
    return [_tokens(seed) for seed in (1, 2)]
