"""A recommendation model as DLRM, with random weights: tables of embeddings, and products of all pairs of features."""

import itertools

import torch
from torch import nn

_BATCH, _DENSE, _TABLES, _ROWS, _WIDTH = 128, 13, 26, 10000, 64


def _layers(*widths: int) -> nn.Sequential:
    """Returns linear layers with a ReLU after each."""
    layers: list[nn.Module] = []
    for width, out in itertools.pairwise(widths):
        layers += [nn.Linear(width, out), nn.ReLU()]
    return nn.Sequential(*layers)


class Ranker(nn.Module):
    """float32 [128, 13] numbers and int64 [128, 26] categories -> float32 [128, 1] clicks.

    The model is that of Naumov et al., "Deep Learning Recommendation Model for Personalization and Recommendation
    Systems" (2019).
    """

    def __init__(self) -> None:
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(_ROWS, _WIDTH) for _ in range(_TABLES))
        self.bottom = _layers(_DENSE, 512, 256, _WIDTH)
        features = _TABLES + 1
        self.pairs = nn.Buffer(torch.tril_indices(features, features, -1))
        self.top = nn.Sequential(_layers(_WIDTH + features * (features - 1) // 2, 512, 256), nn.Linear(256, 1))

    def forward(self, numbers: torch.Tensor, categories: torch.Tensor) -> torch.Tensor:
        dense = self.bottom(numbers)
        features = torch.stack([dense, *(table(categories[:, i]) for i, table in enumerate(self.tables))], 1)
        products = torch.bmm(features, features.transpose(1, 2))
        clicks: torch.Tensor = self.top(torch.cat([dense, products[:, self.pairs[0], self.pairs[1]]], 1))
        return torch.sigmoid(clicks)


def get_model() -> tuple[nn.Module, tuple[torch.Tensor, torch.Tensor]]:
    generator = torch.Generator().manual_seed(1)
    categories = torch.randint(0, _ROWS, (_BATCH, _TABLES), generator=generator)
    return Ranker(), (torch.randn(_BATCH, _DENSE, generator=generator), categories)
