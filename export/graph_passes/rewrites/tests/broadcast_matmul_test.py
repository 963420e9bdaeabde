"""Tests of the pass broadcast_matmul."""

from __future__ import annotations

from absl.testing import absltest

from export.graph_passes.tests.pass_test_case import (
    PassTestCase,
    model_file,
)

_CHANGE = "batches of rows multiplied by one matrix"
_LAYER = "self.layer = torch.nn.Linear(4, 6)"


class BroadcastMatmulTest(PassTestCase):
    def test_acts(self) -> None:
        for forward, init, x, permutations in (
            ("return self.layer(x.transpose(0, 1))", _LAYER, "torch.rand(5, 3, 4)", 2),
            # Of one batch.
            (
                "return x.transpose(1, 2) @ self.w",
                "self.register_buffer('w', torch.zeros(1, 4, 6))",
                "torch.rand(3, 4, 5)",
                1,
            ),
            ("return x.transpose(1, 2) @ others[0]", "pass", "torch.rand(3, 4, 5), torch.rand(4, 6)", 1),
        ):
            exported = self.export(model_file(forward, x, init=init), ["no_ops", "broadcast_matmul"])
            self.assertEqual(self.changes(exported, "broadcast_matmul"), [_CHANGE])
            calls = self.calls(exported)
            self.assertNotIn("aten::bmm.out", calls)
            self.assertNotIn("aten::expand_copy.out", calls)
            self.assertEqual(calls.count("aten::permute_copy.out"), min(permutations, 1))
            self.check_values(exported)

    def test_acts_on_shapes_that_vary(self) -> None:
        source = model_file(
            "return self.layer(x.transpose(0, 1))",
            "torch.rand(5, 3, 4)",
            takes="x",
            init=_LAYER,
            after="""
            def get_dynamic_shapes():
                return {"x": {0: torch.export.Dim("n", min=2, max=8)}}

            def get_sample_inputs():
                return [(torch.rand(n, 3, 4),) for n in (2, 8, 5)]
            """,
        )
        exported = self.export(source, ["no_ops", "broadcast_matmul"])
        self.assertEqual(self.changes(exported, "broadcast_matmul"), [_CHANGE])
        self.assertNotIn("aten::expand_copy.out", self.calls(exported))
        self.check_values(exported)

    def test_the_weight_folds(self) -> None:
        source = model_file("return self.layer(x.transpose(0, 1))", "torch.rand(5, 3, 4)", init=_LAYER)
        calls = self.calls(self.export(source, ["no_ops", "broadcast_matmul", "constants"]))
        self.assertEqual(calls.count("aten::permute_copy.out"), 1)

    def test_leaves(self) -> None:
        for forward, x in (
            # A matrix for each batch.
            ("return x.transpose(1, 2) @ others[0]", "torch.rand(3, 4, 5), torch.rand(3, 4, 6)"),
            ("return torch.bmm(x, others[0])", "torch.rand(3, 5, 4), torch.rand(3, 4, 6)"),
            # The batches share the first operand.
            ("return torch.bmm(x.expand(3, 5, 4), others[0])", "torch.rand(1, 5, 4), torch.rand(3, 4, 6)"),
            # An expansion that changes nothing.
            ("return torch.bmm(x, others[0].expand(3, 4, 6))", "torch.rand(3, 5, 4), torch.rand(3, 4, 6)"),
            # Not only the batch is expanded.
            ("return torch.bmm(x, others[0].expand(3, 4, 6))", "torch.rand(3, 5, 4), torch.rand(1, 1, 6)"),
        ):
            exported = self.export(model_file(forward, x), ["broadcast_matmul"])
            self.assertEqual(self.changes(exported, "broadcast_matmul"), [])
            self.assertIn("aten::bmm.out", self.calls(exported))
            self.check_values(exported)


if __name__ == "__main__":
    absltest.main()
