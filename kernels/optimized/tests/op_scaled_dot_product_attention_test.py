"""Tests of op_scaled_dot_product_attention.cpp, against PyTorch's operator, which has no out variant."""

from __future__ import annotations

import itertools

import torch
from absl.testing import absltest

from kernels.optimized.tests import declared_dim_orders
from kernels.optimized.tests.own_schemas import SCHEMAS
from kernels.testing import op_tester

_Shape = tuple[tuple[int, ...], int, int, int, int, int, int]

# Batch, query heads, key heads, queries, keys, size of a query, size of a value: one token with a cache, several blocks
# of queries and of keys with a remainder, shared heads, empty tensors.
_SHAPES: tuple[_Shape, ...] = (
    ((), 1, 1, 1, 1, 1, 1),
    ((2,), 3, 3, 5, 7, 8, 8),
    ((1,), 4, 2, 9, 9, 16, 24),
    ((1,), 8, 2, 1, 70, 64, 64),
    ((2, 2), 2, 1, 3, 4, 5, 6),
    ((2, 3), 4, 2, 6, 9, 8, 5),
    ((1,), 2, 2, 130, 1100, 32, 300),
    ((), 6, 3, 67, 600, 20, 3),
    ((1,), 2, 1, 150, 40, 16, 16),
    ((1,), 3, 3, 260, 520, 8, 8),
    ((1,), 2, 2, 0, 3, 4, 4),
    ((0,), 2, 2, 3, 3, 4, 4),
)


def _reference(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: torch.Tensor | None = None,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    query_by_token: bool = False,
    key_by_token: bool = False,
    value_by_token: bool = False,
    out_by_token: bool = False,
) -> torch.Tensor:
    """PyTorch's result in float64. The expected results of all dtypes are rounded from it."""
    dtype = query.dtype
    query, key, value = (
        x.transpose(-3, -2) if by_token else x
        for x, by_token in ((query, query_by_token), (key, key_by_token), (value, value_by_token))
    )
    tensors = [x.double() if x.dtype != torch.float64 else x for x in (query, key, value)]
    if len({x.dtype for x in (query, key, value)}) != 1 or not query.dtype.is_floating_point:
        raise ValueError("expected queries, keys and values of the same floating-point dtype")
    if attn_mask is not None and attn_mask.dtype != torch.bool:
        if attn_mask.dtype != query.dtype:
            raise ValueError("expected a mask of dtype Bool or of the queries' dtype")
        attn_mask = attn_mask.double()
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        result = torch.nn.functional.scaled_dot_product_attention(
            tensors[0], tensors[1], tensors[2], attn_mask, is_causal=is_causal, scale=scale, enable_gqa=True
        )
    return (result.transpose(-3, -2) if out_by_token else result).contiguous().to(dtype)


class OpScaledDotProductAttentionTest(op_tester.OpTest):
    def setUp(self) -> None:
        super().setUp()
        self.attention = self.op(
            "rules_executorch::scaled_dot_product_attention.out",
            schema=SCHEMAS["rules_executorch::scaled_dot_product_attention.out"],
            reference=_reference,
        )

    def _tensors(self, shape: _Shape, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        batch, heads, key_heads, queries, keys, size, value_size = shape
        return (
            op_tester.make_tensor((*batch, heads, queries, size), dtype, low=-1, high=1),
            op_tester.make_tensor((*batch, key_heads, keys, size), dtype, low=-1, high=1),
            op_tester.make_tensor((*batch, key_heads, keys, value_size), dtype, low=-1, high=1),
        )

    def test_shapes(self) -> None:
        for shape, dtype in itertools.product(_SHAPES, op_tester.FLOAT_DTYPES):
            tensors = self._tensors(shape, dtype)
            self.attention.check(*tensors, atol=1e-5 if dtype == torch.float32 else None)
            self.attention.check(*tensors, None, True, atol=1e-5 if dtype == torch.float32 else None)
            for scale in (0.3, -0.3, 0.0):
                self.attention.check(*tensors, scale=scale, atol=1e-5 if dtype == torch.float32 else None)

    def test_tokens_before_heads(self) -> None:
        names = ("query_by_token", "key_by_token", "value_by_token", "out_by_token")
        for shape, chosen in itertools.product(_SHAPES, itertools.product((False, True), repeat=4)):
            tensors = [
                x.transpose(-3, -2).contiguous() if by_token else x
                for x, by_token in zip(self._tensors(shape, torch.float32), chosen, strict=False)
            ]
            layouts = dict(zip(names, chosen, strict=True))
            self.attention.check(*tensors, None, True, **layouts, atol=1e-5)
            mask = torch.rand((shape[3], shape[4]), generator=torch.Generator().manual_seed(0)) < 0.6
            self.attention.check(*tensors, mask, **layouts, atol=1e-5)
        x = torch.ones(3, 4)
        self.attention.check_rejected(x, x, x, query_by_token=True, outs=[x])

    def test_masks(self) -> None:
        for shape, dtype in itertools.product(_SHAPES[:10], op_tester.FLOAT_DTYPES):
            query, key, value = self._tensors(shape, dtype)
            scores = (*query.shape[:-1], key.shape[-2])
            for mask_shape in (scores, scores[-2:], (*scores[:-3], 1, 1, scores[-1]), (scores[-2], 1), ()):
                generator = torch.Generator().manual_seed(len(mask_shape))
                mask = torch.rand(mask_shape, generator=generator) < 0.6
                self.attention.check(query, key, value, mask, atol=1e-5 if dtype == torch.float32 else None)
                added = torch.where(mask, torch.rand(mask_shape, generator=generator), -torch.inf).to(dtype)
                self.attention.check(query, key, value, added, atol=1e-5 if dtype == torch.float32 else None)

    def test_rows_that_mask_nothing(self) -> None:
        for shape in _SHAPES[:10]:
            query, key, value = self._tensors(shape, torch.float32)
            mask = torch.ones(query.shape[-2], key.shape[-2], dtype=torch.bool)
            self.attention.check(query, key, value, mask, atol=1e-5)
            mask[0::3, :1] = False
            mask[1::3, -1:] = False
            self.attention.check(query, key, value, mask, atol=1e-5)

    def test_large_scores(self) -> None:
        for shape in _SHAPES[:10]:
            query, key, value = self._tensors(shape, torch.float32)
            self.attention.check(query * 300, key, value, rtol=1e-3, atol=1e-3)

    def test_masked_rows_are_zero(self) -> None:
        query, key, value = self._tensors(_SHAPES[6], torch.float32)
        mask = torch.zeros(query.shape[-2], key.shape[-2], dtype=torch.bool)
        mask[:, -1] = torch.arange(query.shape[-2]) % 2 == 0
        self.attention.check(query, key, value, mask, atol=1e-5)

    def test_masks_of_a_cache(self) -> None:
        # One token, several tokens, several blocks of tokens; shared heads; keys in one block and in two.
        for heads, key_heads, queries, keys in ((4, 4, 1, 70), (4, 2, 3, 40), (2, 1, 130, 300), (2, 2, 5, 700)):
            query, key, value = self._tensors(((2,), heads, key_heads, queries, keys, 16, 8), torch.float32)
            # The cache has `length` keys, then those of the queries.
            for length in (0, 1, 31, keys - queries):
                last = length + torch.arange(queries)
                mask = torch.arange(keys) <= last[:, None]
                self.attention.check(query, key, value, mask, atol=1e-5)
                added = torch.zeros(queries, keys).masked_fill(~mask, -torch.inf)
                self.attention.check(query, key, value, added, atol=1e-5)
                # Another number of keys for each head and for each batch.
                several = torch.stack([mask.roll(-head, 1) & mask for head in range(heads)])
                self.attention.check(query, key, value, several, atol=1e-5)
                self.attention.check(query, key, value, torch.stack([several, several.flip(0)]), atol=1e-5)

    def test_unused_part_of_a_cache_is_not_read(self) -> None:
        for queries in (1, 9):
            query, key, value = self._tensors(((), 2, 2, queries, 600, 16, 16), torch.float32)
            expected = [_reference(query, key[:, :70], value[:, :70])]
            key[:, 70:], value[:, 70:] = torch.nan, torch.inf
            mask = torch.arange(600) < 70
            for used in (mask, torch.zeros(600).masked_fill(~mask, -torch.inf)):
                self.attention.judge_results(expected, query, key, value, used, atol=1e-5)

    def test_not_a_number(self) -> None:
        query, key, value = self._tensors(_SHAPES[1], torch.float32)
        query[..., 2, 3] = torch.nan
        self.attention.check(query, key, value, atol=1e-5)

    def test_dim_orders(self) -> None:
        query, key, value = self._tensors(((2,), 4, 2, 5, 7, 8, 8), torch.float32)
        for orders in itertools.product(((0, 1, 2, 3), (0, 2, 1, 3), (3, 1, 0, 2)), repeat=3):
            given = [op_tester.with_dim_order(x, order) for x, order in zip((query, key, value), orders, strict=True)]
            self.attention.check(*given, atol=1e-5)
        # One head, one head of keys, one query, one key, one element, one batch.
        for shape in (
            ((2,), 4, 2, 5, 7, 8, 8),
            ((2,), 1, 1, 5, 7, 8, 8),
            ((2,), 4, 1, 1, 7, 8, 3),
            ((3,), 2, 2, 5, 1, 4, 4),
            ((1,), 4, 2, 20, 7, 1, 1),
            ((1,), 1, 1, 1, 1, 1, 1),
        ):
            tensors = self._tensors(shape, torch.float32)
            mask = op_tester.make_tensor((*tensors[0].shape[:-1], tensors[1].shape[-2]), torch.float32, low=-1, high=1)
            declared_dim_orders.check(self.attention, *tensors, mask, atol=1e-5)
            by_token = [x.transpose(1, 2).contiguous() for x in tensors]
            layouts = {f"{name}_by_token": True for name in ("query", "key", "value", "out")}
            declared_dim_orders.check(self.attention, *by_token, mask, **layouts, atol=1e-5)

    def test_dtypes(self) -> None:
        for dtype, other in itertools.product(op_tester.ALL_DTYPES, op_tester.ALL_DTYPES):
            x, y = torch.ones((1, 2, 2), dtype=dtype), torch.ones((1, 2, 2), dtype=other)
            self.attention.judge(x, x, y)
            self.attention.judge(x, y, x)
            self.attention.judge(y, x, x)
            self.attention.judge(x, x, x, y)

    def test_wrong_shapes(self) -> None:
        x = torch.ones(1, 2, 3, 4)
        for shape in ((1, 2, 3, 5), (1, 3, 3, 4), (2, 2, 3, 4), (2, 3, 4), (1, 0, 3, 4)):
            self.attention.check_rejected(x, torch.ones(shape), torch.ones(shape), outs=[x])
        self.attention.check_rejected(x, x, torch.ones(1, 2, 2, 4), outs=[x])
        self.attention.check_rejected(x, x, torch.ones(1, 1, 3, 4), outs=[x])
        self.attention.check_rejected(x[0, 0], x[0, 0], x[0, 0], outs=[x[0, 0]])
        for mask in (torch.ones(2, 3), torch.ones(1, 1, 2, 3, 3), torch.ones(4)):
            self.attention.check_rejected(x, x, x, mask, outs=[x])
        self.attention.check_rejected(x, x, x, torch.ones(3, 3), True, outs=[x])
        self.attention.check_rejected(x, x, x, outs=[torch.ones(1, 2, 3, 5)], static=True)


if __name__ == "__main__":
    absltest.main()
