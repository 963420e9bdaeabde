"""Indices for the tests of the operators that index."""

from typing import Any

import torch

from kernels.testing import op_tester


def long(values: Any) -> torch.Tensor:
    """An int64 index."""
    return torch.tensor(values, dtype=torch.int64)


def mask(*shape: int, seed: int = 0) -> torch.Tensor:
    """A random boolean index."""
    return torch.rand(shape, generator=torch.Generator().manual_seed(seed)) < 0.5


# Valid and invalid indices for a tensor of shape (3, 4, 5, 2).
INDICES: tuple[list[torch.Tensor | None], ...] = (
    [long(1)],
    [long([0, 2, 2, -1])],
    [long([0, 2, -3]).int()],
    [long([[0, 1, 2], [2, 1, 0]])],
    [long([[0, 1, 2], [2, 1, 0]]).T.contiguous().T],
    [None, long([3, 0, -4])],
    [None, None, None, long([[1], [0]])],
    [None, None, long([4, 0]), None],
    [long([0, 1]), long([3, 2])],
    [long([[0], [1], [2]]), long([3, 2])],
    [long([[0], [1], [2]]), long(3).int()],
    [None, long([0, 1]), long([4])],
    [long([0, 1]), None, long([4, -5])],
    [long([0, 1]), None, None, long([[0], [1], [1]])],
    [long([1]), long([2]), long([3]), long([0])],
    [long(1), long(2), long(3), long(0)],
    [long([])],
    [None, long([]), long([0])],
    [mask(3)],
    [None, mask(4)],
    [mask(3, 4)],
    [None, mask(4, 5)],
    [mask(3, 4, 5, 2)],
    [op_tester.with_dim_order(mask(3, 4, 5, 2), (0, 2, 3, 1))],
    [mask(3, 4, 5), None],
    [mask(3, 4), long(4)],
    [mask(3, 4), None, long([1])],
    [torch.tensor([True, False, True]), long([[3, 2]])],
    [torch.tensor([False, True, False]), long([3, 2, 1])],
    [torch.tensor([True, False, True]), None, mask(5, seed=1) & False],
    [torch.tensor([True, False, True]), None, torch.tensor([True, False, False, True, False])],
    [torch.tensor([True, False, True]), None, torch.tensor([False, False, False, True, False])],
    [torch.zeros(3, dtype=torch.bool)],
    # Invalid: out of range,
    [long([0, 3])],
    [long([0, -4])],
    [long([0, (1 << 63) - 1])],
    [long([0, -1 << 63])],
    [long([4]).int()],
    [None, long([[4]])],
    [long([0]), long([0]), long([5])],
    # shapes that do not broadcast,
    [long([0, 1]), long([0, 1, 2])],
    [torch.tensor([True, True, True]), long([0, 1])],
    # too many indices,
    [long([0])] * 5,
    [None, None, None, None, long([0])],
    [mask(3, 4, 5), long([0]), long([0])],
    [mask(3, 4), mask(5, 2), None],
    # masks of another shape,
    [mask(4)],
    [mask(1)],
    [mask(3, 5)],
    # dtypes that are not supported.
    [torch.tensor([1.0])],
    [long([1]).short()],
)

# Without an index, the whole tensor is chosen, as in ExecuTorch. PyTorch refuses these arguments.
NO_INDICES: tuple[list[torch.Tensor | None], ...] = ([], [None], [None, None, None, None])
