"""Tests of the pass attention."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import torch
from absl.testing import absltest, parameterized
from torch import nn
from torch.nn import functional

from export.graph_passes.calls import (
    OwnScaledDotProductAttention,
)
from export.graph_passes.tests import rewriting
from export.graph_passes.tests.pass_test_case import (
    ATTENTION_OUT,
    PassTestCase,
    model_file,
)


class _Attention(nn.Module):
    def __init__(self, *, enable_gqa: bool = False) -> None:
        super().__init__()
        self.enable_gqa = enable_gqa

    def forward(
        self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: torch.Tensor | None = None
    ) -> torch.Tensor:
        return functional.scaled_dot_product_attention(query, key, value, mask, enable_gqa=self.enable_gqa)


class _Calls(nn.Module):
    """An attention of each of some inputs, in one graph."""

    def __init__(self, modules: list[nn.Module]) -> None:
        super().__init__()
        self.calls = nn.ModuleList(modules)

    def forward(self, inputs: list[list[torch.Tensor]]) -> list[torch.Tensor]:
        return [call(*one) for call, one in zip(self.calls, inputs, strict=True)]


def _broadcast(rank: int) -> Iterator[list[torch.Tensor]]:
    """Queries, keys and values whose batches and heads are 1 or more."""
    of_rank: dict[int, list[tuple[int, ...]]] = {3: [()], 4: [(1,), (2,)], 5: [(3, 1), (3, 2)]}
    batches = itertools.product(of_rank[rank], repeat=3)
    for of_batch, heads in itertools.product(batches, itertools.product((1, 4), repeat=3)):
        yield [
            torch.rand(*batch, head, tokens, size)
            for batch, head, tokens, size in zip(of_batch, heads, (5, 7, 7), (16, 16, 8), strict=True)
        ]


def _is_taken(inputs: list[torch.Tensor]) -> bool:
    """Whether PyTorch takes inputs."""
    try:
        _Attention()(*inputs)
    except RuntimeError:
        return False
    return True


class BroadcastTest(parameterized.TestCase):
    def _check(self, inputs: list[list[torch.Tensor]], modules: list[nn.Module] | None = None) -> int:
        module = _Calls(modules or [_Attention() for _ in inputs])
        rewritten = rewriting.rewrite(module, (inputs,), ["attention"])
        rewriting.compare(module, rewritten, (inputs,))
        return len(rewritten.changes["attention"])

    @parameterized.parameters(3, 4, 5)
    def test_batches_and_heads(self, rank: int) -> None:
        inputs = list(_broadcast(rank))
        kept = self._check(inputs)
        self.assertBetween(kept, 3, len(inputs) - 1)

    def test_tokens_before_heads(self) -> None:
        for query, key in itertools.product((1, 4), repeat=2):
            with self.subTest(query=query, key=key):
                inputs = [torch.rand(2, tokens, heads, 16) for heads, tokens in ((query, 5), (key, 7), (key, 7))]
                transposed = [one.transpose(1, 2) for one in inputs]
                self.assertEqual(self._check([transposed]), query >= key)

    def test_masks(self) -> None:
        masks = [*itertools.product((1, 2), (1, 4), (1, 5), (1, 7)), (5, 7), (1, 7), (4, 1, 7), (3, 1, 1, 5, 7)]
        for batch, heads in ((2, 4), (1, 4), (2, 1), (1, 1)):
            tensors = [torch.rand(batch, heads, 5, 16), *torch.rand(2, batch, heads, 7, 16)]
            inputs = [[*tensors, torch.rand(mask)] for mask in masks]
            self.assertGreater(self._check([one for one in inputs if _is_taken(one)]), 3)

    def test_shared_heads(self) -> None:
        shared = [[torch.rand(2, 4, 5, 16), *torch.rand(2, 2, heads, 7, 16)] for heads in (1, 2, 4)]
        self.assertEqual(self._check(shared, [_Attention(enable_gqa=True) for _ in shared]), 3)

    def test_repetitions_of_other_counts(self) -> None:
        """Keys and values of different heads, each repeated."""

        class Repeated(nn.Module):
            def forward(self, query: torch.Tensor, *others: torch.Tensor) -> torch.Tensor:
                key, value = (
                    one[:, :, None].expand(1, heads, 6 // heads, 5, 4).reshape(1, 6, 5, 4)
                    for one, heads in zip(others, (2, 3), strict=True)
                )
                return functional.scaled_dot_product_attention(query, key, value)

        self._check([[torch.rand(1, 6, 3, 4), torch.rand(1, 2, 5, 4), torch.rand(1, 3, 5, 4)]], [Repeated()])

    def test_no_heads_and_no_tokens(self) -> None:
        inputs = [
            [torch.rand(batch, heads, tokens, 16), *torch.rand(2, batch, heads, 7, 16)]
            for batch, heads, tokens in ((2, 0, 5), (0, 4, 5), (2, 4, 0))
        ]
        self._check(inputs)


class AttentionTest(PassTestCase):
    _FORWARD = "return torch.nn.functional.scaled_dot_product_attention(x, *others)"

    def test_acts(self) -> None:
        shape = "torch.rand(1, 2, 3, 4)"
        for inputs in ([shape] * 3, [shape] * 3 + ["torch.rand(3, 3) < 0.5"], ["torch.rand(2, 3, 4)"] * 3):
            self.check(
                "attention", model_file(self._FORWARD, *inputs), changes=["attention kept whole"], calls=[ATTENTION_OUT]
            )

    def test_acts_on_tokens_before_heads(self) -> None:
        attention = "torch.nn.functional.scaled_dot_product_attention"
        for forward, permuted in (
            (f"return {attention}(*(y.transpose(1, 2) for y in (x, *others))).transpose(1, 2)", False),
            (f"return {attention}(*(y.permute(0, 2, 1, 3) for y in (x, *others))).permute(0, 2, 1, 3)", False),
            (f"return {attention}(x, *(y.transpose(-2, -3) for y in others)) + 1.0", False),
            (f"return {attention}(x, *others).view(2, 3, 4, 5).transpose(1, 2) + 1.0", False),
            # Something else than heads and tokens; a result that is needed both ways.
            (f"return {attention}(*(y.transpose(2, 3) for y in (x, *others)))", True),
            (f"y = {attention}(x, *others)\nreturn y.transpose(1, 2), y + 1.0", True),
        ):
            others = ["torch.rand(2, 4, 3, 5)" if "y.transpose(-2, -3)" in forward else "torch.rand(2, 3, 4, 5)"] * 2
            inputs = ["torch.rand(2, 3, 4, 5)", *others]
            with self.subTest(forward):
                exported = self.export(model_file(forward, *inputs), ["attention"])
                calls = self.calls(exported)
                self.assertIn(ATTENTION_OUT, calls)
                copies = {"aten::transpose_copy.int_out", "aten::permute_copy.out"}
                self.assertEqual(not copies.isdisjoint(calls), permuted)

    def test_acts_on_repeated_heads(self) -> None:
        forward = """
        key, value = (
            y[:, :, None].expand(1, 2, 3, 5, 4).reshape(1, 6, 5, 4) for y in others
        )
        return torch.nn.functional.scaled_dot_product_attention(x, key, value)
        """
        source = model_file(forward, "torch.rand(1, 6, 3, 4)", "torch.rand(1, 2, 5, 4)", "torch.rand(1, 2, 5, 4)")
        exported = self.check(
            "attention",
            source,
            changes=["attention kept whole, with heads that share keys and values"],
            calls=[ATTENTION_OUT],
        )
        self.assertNotIn("aten::expand_copy.out", self.calls(exported))

    def test_leaves(self) -> None:
        for inputs in (
            # Keys that all of a batch share, and no heads.
            ["torch.rand(2, 2, 3, 4)", "torch.rand(1, 2, 3, 4)", "torch.rand(1, 2, 3, 4)"],
            ["torch.rand(3, 4)"] * 3,
        ):
            exported = self.export(model_file(self._FORWARD, *inputs), ["attention"])
            self.assertEqual(self.changes(exported, "attention"), [])
            self.assertNotIn(ATTENTION_OUT, self.calls(exported))
            self.check_values(exported)

    def test_operator(self) -> None:
        attention = OwnScaledDotProductAttention.overload()
        query, key = torch.rand(2, 4, 5, 6), torch.rand(2, 2, 7, 6)
        by_token = query.transpose(1, 2).contiguous()
        torch.testing.assert_close(
            attention(by_token, key, key, query_by_token=True, out_by_token=True),
            attention(query, key, key).transpose(1, 2),
        )
        self.assertEqual(torch.ops.rules_executorch.scaled_dot_product_attention.out._schema.name, attention.name())


if __name__ == "__main__":
    absltest.main()
