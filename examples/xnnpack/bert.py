"""A BERT encoder of two layers with random weights, for sentences of up to 32 tokens."""

import torch
from transformers import BertConfig, BertModel

_LENGTH = 32


class Encoder(torch.nn.Module):
    """int64 [1, 32] tokens and int64 [1, 32] mask -> float32 [1, 64] embedding of the sentence."""

    def __init__(self) -> None:
        super().__init__()
        config = BertConfig(
            vocab_size=1000,
            hidden_size=64,
            intermediate_size=256,
            num_hidden_layers=2,
            num_attention_heads=4,
            max_position_embeddings=_LENGTH,
        )
        self.bert = BertModel(config)

    def forward(self, tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        embedding: torch.Tensor = self.bert(input_ids=tokens, attention_mask=mask).pooler_output
        return embedding


def _sentence(length: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """A sentence of `length` tokens, padded."""
    tokens = torch.randint(1, 1000, (1, _LENGTH), generator=torch.Generator().manual_seed(seed))
    mask = (torch.arange(_LENGTH).unsqueeze(0) < length).long()
    return tokens * mask, mask


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor, torch.Tensor]]:
    return Encoder(), _sentence(_LENGTH, seed=0)


def get_sample_inputs() -> list[tuple[torch.Tensor, torch.Tensor]]:
    return [_sentence(length, seed=length) for length in (3, 17, _LENGTH)]
