"""A bidirectional LSTM of two layers that tags each step of a sequence, with random weights."""

import torch
from torch import nn


class Tagger(nn.Module):
    """int64 [2, 6] tokens -> float32 [2, 6, 9] logarithms of probabilities."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(1000, 128, padding_idx=0)
        self.lstm = nn.LSTM(128, 128, num_layers=2, bidirectional=True, batch_first=True)
        self.tags = nn.Linear(256, 9)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        states, _ = self.lstm(self.embedding(tokens))
        return torch.log_softmax(self.tags(states), dim=-1)


def _tokens(seed: int) -> tuple[torch.Tensor]:
    return (torch.randint(1000, (2, 6), generator=torch.Generator().manual_seed(seed)),)


def get_model() -> tuple[nn.Module, tuple[torch.Tensor]]:
    return Tagger(), _tokens(seed=1)


def get_sample_inputs() -> list[tuple[torch.Tensor]]:
    return [_tokens(seed) for seed in (1, 2)]
