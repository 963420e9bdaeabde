"""Tests of op_packed_embedding.cpp: embeddings out of packed weights, against PyTorch's embedding."""

from __future__ import annotations

import itertools

import torch
from absl.testing import absltest
from torch.nn import functional

from export.graph_passes import layouts
from kernels.optimized.tests import declared_dim_orders
from kernels.optimized.tests.own_schemas import SCHEMAS
from kernels.testing import op_tester

_COLUMNS = layouts.FLOAT_PANEL_COLUMNS


def _packed(table: torch.Tensor) -> torch.Tensor:
    """Packs a table into panels, element by element. The padding of the last panel is 1."""
    rows, width = table.shape
    panels = torch.ones((-(-rows // _COLUMNS), width, _COLUMNS), dtype=table.dtype)
    for row in range(rows):
        panels[row // _COLUMNS, :, row % _COLUMNS] = table[row]
    return panels


def _reference(weight: torch.Tensor, indices: torch.Tensor, num_embeddings: int) -> torch.Tensor:
    if weight.dim() == 4:
        weight = weight.transpose(2, 3).flatten(1, 2)
    if weight.dim() != 3 or not 0 <= num_embeddings <= weight.shape[0] * weight.shape[2]:
        raise ValueError("expected panels with at least num_embeddings embeddings")
    rows = [weight[row // weight.shape[2], :, row % weight.shape[2]] for row in range(num_embeddings)]
    table = torch.stack(rows) if rows else weight.new_empty((0, weight.shape[1]))
    return functional.embedding(indices, table)


class OpPackedEmbeddingTest(op_tester.OpTest):
    def setUp(self) -> None:
        super().setUp()
        self.embedding = self.op(
            "rules_executorch::packed_embedding.out",
            schema=SCHEMAS["rules_executorch::packed_embedding.out"],
            reference=_reference,
        )

    def test_shapes(self) -> None:
        for rows, width in ((50, 4), (96, 1), (100, 0), (1, 300)):
            weight = _packed(op_tester.make_tensor((rows, width), torch.float32))
            for shape in op_tester.SHAPES:
                for order, dtype in itertools.product(op_tester.dim_orders(len(shape)), (torch.int64, torch.int32)):
                    indices = op_tester.make_tensor(shape, dtype, dim_order=order, low=0, high=rows - 1)
                    self.embedding.check(weight, indices, rows, exact=True)

    def test_dim_orders(self) -> None:
        for shape, width in itertools.product(((130,), (2, 65), (1, 5), (3, 1, 4)), (7, 1)):
            weight = _packed(op_tester.make_tensor((130, width), torch.float32))
            indices = op_tester.make_tensor(shape, torch.int64, low=0, high=129)
            declared_dim_orders.check(self.embedding, weight, indices, 130, exact=True)

    def test_panels(self) -> None:
        table = op_tester.make_tensor((130, 7), torch.float32)
        self.embedding.check(_packed(table), torch.arange(130), 130, exact=True)
        self.embedding.check(torch.rand(3, 7, 16), torch.arange(48), 48, exact=True)

    def test_panels_of_pairs(self) -> None:
        """Tests panels with pairs of elements, as in weights of BFloat16."""
        table = op_tester.make_tensor((130, 8), torch.bfloat16)
        pairs = _packed(table).reshape(-1, 4, 2, _COLUMNS).transpose(2, 3).contiguous()
        self.embedding.check(pairs, torch.arange(130).reshape(2, 65), 130, exact=True)
        self.embedding.check_rejected(pairs, torch.tensor([0]), 145)

    def test_dtypes(self) -> None:
        indices = torch.tensor([[0, 2], [1, 0]])
        for dtype in op_tester.MOVABLE_DTYPES:
            weight = _packed(op_tester.make_tensor((3, 5), dtype))
            self.embedding.check(weight, indices, 3, exact=True)
            if dtype != torch.float32:
                self.embedding.check_rejected(weight, indices, 3, outs=[torch.ones(2, 2, 5)])

    def test_rejected(self) -> None:
        weight = _packed(op_tester.make_tensor((50, 5), torch.float32))
        for index in (50, -1, -4, (1 << 63) - 1, -1 << 63):
            self.embedding.check_rejected(weight, torch.tensor([0, index]), 50)
        for dtype in (torch.int16, torch.uint8, torch.bool, torch.float32):
            self.embedding.check_rejected(weight, torch.ones((2,), dtype=dtype), 50)
        for count in (-1, 97):
            self.embedding.check_rejected(weight, torch.tensor([0]), count)
        for other in (weight[0], weight[None, None], torch.tensor(1.0)):
            self.embedding.check_rejected(other, torch.tensor([0]), 5)
        self.embedding.check_rejected(weight, torch.tensor([0]), 50, outs=[torch.empty((1, 2, 5))])


if __name__ == "__main__":
    absltest.main()
