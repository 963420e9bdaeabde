"""Tests of the operators that pad with elements of the tensor."""

import contextlib
import itertools
import random

import torch
from absl.testing import absltest

from kernels.testing import op_tester

PADDINGS = (
    ((1, 2), (0, 0), (-1, 3), (2, -4), (4, 4), (5, 0), (-5, 0), (-6, 1)),
    ((1, 2, 3, 0), (0, -1, -2, 3), (4, 4, 3, 3), (0, 0, 4, 0), (1, 2), (-5, 0, 0, 0)),
    ((1, 2, 3, 0, 1, 1), (0, -1, 2, -2, -1, 0), (0, 0, 0, 0, 2, 2), (0, 0, 0, 0, 3, 0)),
)


class OpPaddingTest(op_tester.OpTest):
    def test_paddings(self) -> None:
        for mode in ("reflection_pad1d.out", "reflection_pad2d.out", "reflection_pad3d.out",
                     "replication_pad1d.out", "replication_pad2d.out", "replication_pad3d.out"):  # fmt: skip
            rank = int(mode[-6])
            with self.subTest(mode):
                pad = self.op(f"aten::{mode}")
                for leading in ((), (2,), (2, 2), (0, 2), (2, 0), (2, 2, 2)):
                    shape = (*leading, 2, 3, 4, 5)[: len(leading)] + (3, 4, 5)[-rank:]
                    for padding in PADDINGS[rank - 1]:
                        pad.judge(op_tester.make_tensor(shape, torch.float32), padding, exact=True)
                shape = (2, 2, 3, 4, 5)[:2] + (3, 4, 5)[-rank:]
                for dtype in op_tester.MOVABLE_DTYPES:
                    with contextlib.suppress(NotImplementedError):
                        pad.check(op_tester.make_tensor(shape, dtype), PADDINGS[rank - 1][0], exact=True)
                for order in op_tester.dim_orders(rank + 2):
                    x = op_tester.make_tensor(shape, torch.float32, dim_order=order)
                    pad.check(x, PADDINGS[rank - 1][0], out_dim_order=order, static=True, exact=True)
                pad.check_rejected(x, PADDINGS[rank - 1][0], out_dtype=torch.float64)
                pad.check_rejected(x, (1, 1 << 40) * rank, outs=[x])

    def test_paddings_of_both_signs(self) -> None:
        # Many pairs for one dimension, and random pairs for several: some are valid in PyTorch, some are not.
        numbers = random.Random(0)
        for kind, rank in itertools.product(("constant", "reflection", "replication"), (1, 2, 3)):
            shape = (2, 3, 4, 5)[-rank - 1 :]
            pads: list[tuple[int, ...]] = [*itertools.product(range(-9, 10), range(-8, 9, 2))] if rank == 1 else []
            pads += [tuple(numbers.randint(-7, 7) for _ in range(2 * rank)) for _ in range(70)]
            # Most random paddings are invalid. These are valid, except if they remove all elements.
            pads += [sum((_pair(numbers, size) for size in shape[:0:-1]), ()) for _ in range(100)]
            with self.subTest(kind=kind, rank=rank):
                pad = self.op("aten::constant_pad_nd.out" if kind == "constant" else f"aten::{kind}_pad{rank}d.out")
                extra = (7,) if kind == "constant" else ()
                for padding in pads:
                    pad.judge(op_tester.make_tensor(shape, torch.float32), padding, *extra, exact=True)
                self.assertGreater(pad.accepted, 30)
                self.assertGreater(pad.rejected, 30)


def _pair(numbers: random.Random, size: int) -> tuple[int, int]:
    """A padding less than the dimension's size on one side, and one that keeps an element on the other side."""
    one = numbers.randint(-size - 2, size - 1)
    other = numbers.randint(-size - one, size - 1)
    return (one, other) if numbers.random() < 0.5 else (other, one)


if __name__ == "__main__":
    absltest.main()
