"""A BERT-shaped encoder of 6 layers and 384 features, with random weights: one sentence of 32 tokens."""

import torch

from examples.models.minilm import SentenceEncoder


def _sentence(length: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns a sentence of `length` tokens, padded to 32, and the mask."""
    tokens = torch.randint(1, 1000, (1, 32), generator=torch.Generator().manual_seed(seed))
    mask = (torch.arange(32) < length).long().unsqueeze(0)
    return tokens * mask, mask


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor, torch.Tensor]]:
    return SentenceEncoder(num_hidden_layers=6), _sentence(32, seed=1)


def get_calibration_inputs() -> list[tuple[torch.Tensor, torch.Tensor]]:
    return [_sentence(length, seed=length) for length in (8, 16, 24, 32)]
