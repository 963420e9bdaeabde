"""Tests that writes to places that tensors give are those of eager PyTorch."""

from __future__ import annotations

import itertools
import random
from typing import Any

import torch
from absl.testing import absltest

from export.patches import scalar_indices


def _as_tensors(item: Any) -> Any:
    if isinstance(item, slice):
        return slice(*(_as_tensors(one) for one in (item.start, item.stop)))
    return torch.tensor(item) if isinstance(item, int) else item


class ScalarIndicesTest(absltest.TestCase):
    def check(self, index: tuple[Any, ...], given: tuple[Any, ...], value: Any) -> None:
        wanted, found = (torch.arange(360.0).reshape(3, 4, 5, 6) for _ in range(2))
        wanted[index] = value
        call = scalar_indices.write(found, given, value)
        assert call, given
        call()
        self.assertTrue(torch.equal(found, wanted), given)

    def test_indices(self) -> None:
        kinds = (0, 2, -1, slice(None), slice(1, 3), slice(1, None), None, Ellipsis)
        draw = random.Random(1)
        for index in itertools.product(kinds, repeat=4):
            items = [item for item in index if item is not None]
            if index.count(Ellipsis) > 1 or not any(isinstance(item, int) for item in items):
                continue
            shape = torch.zeros(3, 4, 5, 6)[index].shape
            value: Any = torch.randn([1 if draw.random() < 0.3 else size for size in shape[draw.randrange(2) :]])
            if draw.random() < 0.1:
                value = 3
            numbers = [place for place, item in enumerate(index) if isinstance(item, int)]
            unknown = draw.sample(numbers, draw.randint(1, len(numbers)))
            given = tuple(_as_tensors(item) if place in unknown else item for place, item in enumerate(index))
            with self.subTest(str(given)):
                self.check(index, given, value)

    def test_slices(self) -> None:
        kinds: tuple[Any, ...] = (1, slice(None), slice(1, 3), slice(-3, -1), slice(0, 2))
        for index in itertools.product(kinds, repeat=3):
            if any(isinstance(item, slice) and item.stop for item in index):
                with self.subTest(str(index)):
                    shape = torch.zeros(3, 4, 5, 6)[index].shape
                    self.check(index, tuple(map(_as_tensors, index)), torch.randn(shape))

    def test_left_alone(self) -> None:
        x, i = torch.zeros(3, 4), torch.tensor(1)
        for index, value in (
            ((0, slice(None)), 1.0),
            ((i, torch.tensor([1, 2])), 1.0),
            ((i, [1, 2]), 1.0),
            (torch.tensor(True), 1.0),
            ((slice(i, i + 2),), 1.0),
            ((slice(i, i + 2),), torch.ones(1, 4)),
            ((slice(i, i + 2),), torch.ones(4)),
        ):
            with self.subTest(str(index)):
                self.assertIsNone(scalar_indices.write(x, index, value))


if __name__ == "__main__":
    absltest.main()
