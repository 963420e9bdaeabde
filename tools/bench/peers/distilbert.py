"""DistilBERT, with random weights: a sentence of 96 tokens, padded to 128, and its mask."""

import torch
from transformers import DistilBertConfig, DistilBertModel

_LENGTH, _PADDED = 96, 128


class Encoder(torch.nn.Module):
    """int64 [1, 128] tokens and mask -> float32 [1, 128, 768] states."""

    def __init__(self) -> None:
        super().__init__()
        self.distilbert = DistilBertModel(DistilBertConfig())

    def forward(self, tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        states: torch.Tensor = self.distilbert(input_ids=tokens, attention_mask=mask).last_hidden_state
        return states


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor, torch.Tensor]]:
    tokens = torch.randint(1, 30000, (1, _PADDED), generator=torch.Generator().manual_seed(1))
    mask = (torch.arange(_PADDED) < _LENGTH).long().unsqueeze(0)
    return Encoder(), (tokens * mask, mask)
