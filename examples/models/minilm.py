"""The sentence encoder all-MiniLM-L6-v2, with random weights: tokens in, one unit vector a sentence out."""

import torch
from transformers import BertConfig, BertModel

_LENGTH = 32


class SentenceEncoder(torch.nn.Module):
    """int64 [2, 32] tokens and mask -> float32 [2, 384]: the mean over a sentence's tokens, at length 1."""

    def __init__(self, **sizes: int) -> None:
        super().__init__()
        config = BertConfig(hidden_size=384, num_attention_heads=12, intermediate_size=1536, **sizes)
        self.bert = BertModel(config, add_pooling_layer=False)

    def forward(self, tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        states = self.bert(input_ids=tokens, attention_mask=mask).last_hidden_state
        weights = mask.unsqueeze(-1).to(states.dtype)
        mean = (states * weights).sum(1) / weights.sum(1).clamp(min=1e-9)
        return torch.nn.functional.normalize(mean, dim=1)


def _sentences(lengths: tuple[int, int], seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Two sentences, padded to the same length."""
    tokens = torch.randint(1, 1000, (2, _LENGTH), generator=torch.Generator().manual_seed(seed))
    mask = (torch.arange(_LENGTH) < torch.tensor(lengths).unsqueeze(1)).long()
    return tokens * mask, mask


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor, torch.Tensor]]:
    return SentenceEncoder(num_hidden_layers=2, vocab_size=1000), _sentences((32, 20), seed=1)


def get_full_size_model() -> tuple[torch.nn.Module, tuple[torch.Tensor, torch.Tensor]]:
    return SentenceEncoder(num_hidden_layers=6, vocab_size=30522), _sentences((32, 20), seed=1)


def get_sample_inputs() -> list[tuple[torch.Tensor, torch.Tensor]]:
    return [_sentences((32, 20), seed=1), _sentences((1, 7), seed=2)]
