"""Tests of the pass packed_linear."""

from __future__ import annotations

import torch
from absl.testing import absltest

from export.graph_passes.calls import (
    PackedEmbedding,
    PackedLinear,
)
from export.graph_passes.operators import packed_linear
from export.graph_passes.tests.pass_test_case import (
    PACKED_LINEAR_OUT,
    PassTestCase,
    model_file,
)


class PackedLinearTest(PassTestCase):
    _PACKED = "weights of a linear layer packed"
    _EMBEDDING = "embedding of a linear layer's packed weights"

    def test_acts(self) -> None:
        init = "self.layers = torch.nn.Sequential(torch.nn.Linear(4, 90, bias=False), torch.nn.Linear(90, 96))"
        source = model_file("return self.layers(x)", "torch.rand(2, 3, 4)", init=init)
        exported = self.export(source, ["linear", "packed_linear"])
        self.assertEqual(self.calls(exported), [PACKED_LINEAR_OUT])
        self.assertEqual(self.changes(exported, "packed_linear"), [self._PACKED] * 2)

    def test_acts_on_products(self) -> None:
        for forward in ("torch.addmm(self.b, x, self.w)", "x @ self.w"):
            init = "self.w = torch.nn.Parameter(torch.rand(4, 96))\nself.b = torch.nn.Parameter(torch.rand(96))"
            exported = self.export(model_file(f"return {forward}", "torch.rand(3, 4)", init=init), ["packed_linear"])
            self.assertEqual(self.calls(exported), [PACKED_LINEAR_OUT])

    def test_acts_on_half_precision(self) -> None:
        init = "self.layer = torch.nn.Linear({}, 48, dtype={})"
        for dtype, features, changes in (
            ("torch.float16", 5, 1),
            ("torch.bfloat16", 6, 1),
            ("torch.bfloat16", 5, 0),  # Panels of bfloat16 have pairs of input features.
        ):
            source = model_file(
                "return self.layer(x)", f"torch.rand(3, {features}, dtype={dtype})", init=init.format(features, dtype)
            )
            exported = self.export(source, ["linear", "packed_linear"])
            self.assertEqual(self.changes(exported, "packed_linear"), [self._PACKED] * changes)
            self.assertEqual(self.calls(exported), [PACKED_LINEAR_OUT if changes else "aten::linear.out"])

    def test_acts_on_tables_of_embeddings(self) -> None:
        init = "self.table = torch.nn.Parameter(torch.rand(470, 480))"
        forward = "tokens = torch.nn.functional.embedding(others[0], self.table, padding_idx=3)\nreturn {}"
        for result, changes in (
            ("torch.nn.functional.linear(x, self.table), tokens", [self._EMBEDDING, self._PACKED]),
            # Rows of the table are the weights of input features.
            ("torch.mm(x[:, :470], self.table), tokens", []),
            ("x, tokens", []),
        ):
            source = model_file(
                forward.format(result), "torch.rand(2, 480)", "torch.tensor([[0, 469, 48], [3, 0, 47]])", init=init
            )
            exported = self.export(source, ["linear", "packed_linear"])
            self.assertEqual(self.changes(exported, "packed_linear"), changes)
            self.assertLess(len(exported.pte), 1.1 * 480 * 480 * 4)
            self.assertEqual("rules_executorch::packed_embedding.out" in self.calls(exported), bool(changes))

    def test_packs_shared_weights_once(self) -> None:
        init = "self.layer = torch.nn.Linear(480, 480)"
        source = model_file("return self.layer(self.layer(x))", "torch.rand(2, 480)", init=init)
        exported = self.export(source, ["linear", "packed_linear"])
        self.assertEqual(self.changes(exported, "packed_linear"), [self._PACKED] * 2)
        self.assertLess(len(exported.pte), 1.1 * 480 * 480 * 4)

    def test_leaves(self) -> None:
        linear = "torch.nn.functional.linear"
        for forward, init in (
            # Panels would be much larger than so few columns, or columns after the last panel.
            ("return self.layer(x)", "self.layer = torch.nn.Linear(48, 8)"),
            ("return self.layer(x)", "self.layer = torch.nn.Linear(48, 70)"),
            # Something else needs the weight as it is; the weight comes from outside; the weight changes.
            (f"return {linear}(x, self.w) + self.w[0]", "self.w = torch.nn.Parameter(torch.rand(48, 48))"),
            (f"return {linear}(x, others[0])", "pass"),
            (
                f"y = {linear}(x, self.cache)\nself.cache.add_(1)\nreturn y",
                "self.register_buffer('cache', torch.zeros(48, 48))",
            ),
            (f"return {linear}(x, self.w) + x @ self.w", "self.w = torch.nn.Parameter(torch.rand(48, 48))"),
            ("return self.layer(x.double())", "self.layer = torch.nn.Linear(48, 48).double()"),
        ):
            with self.subTest(forward):
                source = model_file(forward, "torch.rand(2, 48)", "torch.rand(48, 48)", init=init)
                exported = self.export(source, ["linear", "packed_linear"])
                self.assertEqual(self.changes(exported, "packed_linear"), [])
                self.assertIn("aten::linear.out", self.calls(exported))

    def test_operators(self) -> None:
        linear, embedding = PackedLinear.overload(), PackedEmbedding.overload()
        for dtype in (torch.float32, torch.bfloat16):
            x, weight, bias = (torch.rand(shape).to(dtype) for shape in ((2, 3, 8), (50, 8), 50))
            panels = packed_linear.pack(weight)
            indices = torch.tensor([[0, 49], [47, 48]])
            torch.testing.assert_close(embedding(panels, indices, 50), torch.nn.functional.embedding(indices, weight))
            torch.testing.assert_close(linear(x, panels, bias, 50), torch.nn.functional.linear(x, weight, bias))
        self.assertEqual(torch.ops.rules_executorch.packed_linear.out._schema.name, linear.name())


if __name__ == "__main__":
    absltest.main()
