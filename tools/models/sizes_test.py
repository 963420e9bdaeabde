from __future__ import annotations

import torch
from absl.testing import absltest

from tools.models import sizes


class _Tied(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = torch.nn.Embedding(10, 4)
        self.head = torch.nn.Linear(4, 10)
        self.head.weight = self.embedding.weight
        self.register_buffer("mask", torch.zeros(3, dtype=torch.int8), persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.head(self.embedding(x))
        return result


class SizesTest(absltest.TestCase):
    def test_weights(self) -> None:
        expected = 10 * 4 * 4 + 10 * 4 + 3
        self.assertEqual(sizes.of_weights(_Tied()), expected)

    def test_exported_program(self) -> None:
        layer = torch.nn.Linear(3, 5)
        exported = torch.export.export(layer, (torch.ones(1, 3),))
        self.assertEqual(sizes.of_weights(exported), (3 * 5 + 5) * 4)


if __name__ == "__main__":
    absltest.main()
