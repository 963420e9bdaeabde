"""Random numbers, by what they have in common in each run: their ranges, and permutations."""

from __future__ import annotations

import torch
from torch import Tensor


def _are_between(values: Tensor, low: float, high: float) -> Tensor:
    return ((values >= low) & (values <= high)).all()


class RandomNumbers(torch.nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        weights = x.softmax(1)
        spread = weights + 0.1
        # Of a normal distribution, no run has a number ten deviations away.
        return (
            *(torch.randperm(50).sort()[0], torch.multinomial(weights, 5).sort(1)[0]),
            *(_are_between(torch.randint(3, 10, (50,)), 3, 9), _are_between(torch.randint(4, (50,)), 0, 3)),
            *(_are_between(torch.randint_like(x, 2, 5), 2, 4), _are_between(torch.randint_like(x, 7), 0, 6)),
            *(_are_between(torch.rand_like(x), 0, 1), _are_between(torch.randn_like(x), -10, 10)),
            *(_are_between(torch.normal(x, spread), -20, 20), _are_between(torch.normal(x, 1.5), -30, 30)),
            *(_are_between(torch.normal(0.5, spread), -20, 20), _are_between(torch.normal(0.0, 1.0, (30,)), -10, 10)),
            *(_are_between(torch.bernoulli(weights), 0, 1), _are_between(torch.bernoulli(weights, 0.3), 0, 1)),
            *(_are_between(torch.empty_like(x).uniform_(-2, 3), -2, 3), _are_between(x.clone().exponential_(2), 0, 30)),
            _are_between(torch.multinomial(weights[0], 9, replacement=True), 0, 4),
        )


def get_model() -> tuple[torch.nn.Module, tuple[Tensor]]:
    return RandomNumbers(), (torch.randn(4, 5),)
