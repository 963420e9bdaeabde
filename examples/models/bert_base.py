"""BERT base with its masked language model's head, with random weights."""

import torch
from transformers import BertConfig, BertForMaskedLM

_LENGTH = 64


class MaskedLanguageModel(torch.nn.Module):
    """int64 [1, 64] tokens, mask and segments -> float32 [1, 64, vocabulary] logits."""

    def __init__(self, **sizes: int) -> None:
        super().__init__()
        self.bert = BertForMaskedLM(BertConfig(**sizes))

    def forward(self, tokens: torch.Tensor, mask: torch.Tensor, segments: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.bert(input_ids=tokens, attention_mask=mask, token_type_ids=segments).logits
        return logits


def _pair_of_sentences(first: int, second: int, seed: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """A sentence of `first` tokens and one of `second`, padded."""
    tokens = torch.randint(1, 1000, (1, _LENGTH), generator=torch.Generator().manual_seed(seed))
    position = torch.arange(_LENGTH).unsqueeze(0)
    mask = (position < first + second).long()
    return tokens * mask, mask, (position >= first).long() * mask


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor, torch.Tensor, torch.Tensor]]:
    return MaskedLanguageModel(num_hidden_layers=1, vocab_size=1000), _pair_of_sentences(10, 54, seed=1)


def get_full_size_model() -> tuple[torch.nn.Module, tuple[torch.Tensor, torch.Tensor, torch.Tensor]]:
    return MaskedLanguageModel(), _pair_of_sentences(10, 54, seed=1)


def get_sample_inputs() -> list[tuple[torch.Tensor, torch.Tensor, torch.Tensor]]:
    return [_pair_of_sentences(10, 54, seed=1), _pair_of_sentences(5, 3, seed=2)]
