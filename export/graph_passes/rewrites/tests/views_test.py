"""Tests of the pass views."""

from __future__ import annotations

from absl.testing import absltest

from export.graph_passes.tests.pass_test_case import (
    PassTestCase,
    model_file,
)


class ViewsTest(PassTestCase):
    def test_acts(self) -> None:
        for forward, what in (
            ("return x.unsqueeze(1) + 1.0", "aten::unsqueeze_copy made a view"),
            ("return x[0] + 1.0", "aten::select_copy.int made a view"),
            ("return x.squeeze(0) + 1.0", "aten::squeeze_copy.dims made a view"),
            ("return x.permute(1, 0, 2) + 1.0", "aten::permute_copy made a view"),
        ):
            self.check(
                "views",
                model_file(f"x = x * 2.0\n{forward}", "torch.rand(1, 3, 4)"),
                changes=[what],
                calls=["aten::add.out", "aten::mul.out"],
            )

    def test_acts_on_shapes_that_vary(self) -> None:
        source = model_file(
            "return (x * 2.0).unsqueeze(0) + 1.0",
            "torch.rand(3, 4)",
            takes="x",
            after="""
            def get_dynamic_shapes():
                return {"x": {0: torch.export.Dim("n", min=2, max=8)}}

            def get_sample_inputs():
                return [(torch.rand(n, 4),) for n in (2, 8, 5)]
            """,
        )
        self.check(
            "views",
            source,
            changes=["aten::unsqueeze_copy made a view"],
            calls=["aten::add.out", "aten::mul.out", "executorch_prim::et_view.default"],
        )

    def test_leaves(self) -> None:
        for forward, calls in (
            ("return (x * 2.0).permute(0, 2, 1) + 1.0", ["aten::add.out", "aten::mul.out", "aten::permute_copy.out"]),
            ("return (x * 2.0)[:, 0] + 1.0", ["aten::add.out", "aten::mul.out", "aten::select_copy.int_out"]),
            ("return (x * 2.0).unsqueeze(0)", ["aten::mul.out", "aten::unsqueeze_copy.out"]),
        ):
            self.check("views", model_file(forward, "torch.rand(1, 3, 4)"), changes=[], calls=calls)

    def test_leaves_other_memory_formats(self) -> None:
        source = model_file(
            "return (x.to(memory_format=torch.channels_last) * 2.0).unsqueeze(1).contiguous() + 1.0",
            "torch.rand(1, 3, 4, 5)",
        )
        self.assertEqual(self.changes(self.export(source, ["views"]), "views"), [])

    def test_acts_on_results_in_place(self) -> None:
        source = model_file(
            "self.cache.index_copy_(0, others[0], x)\nreturn self.cache[None] * 2.0",
            "torch.rand(1, 3)",
            "torch.tensor([0])",
            init="self.register_buffer('cache', torch.zeros(8, 3))",
            after="def get_sample_inputs():\n    return [(torch.rand(1, 3), torch.tensor([i])) for i in (0, 5, 2)]",
        )
        exported = self.export(source, ["in_place", "views"])
        self.assertEqual(self.changes(exported, "in_place"), ["index_put in place"])
        self.assertEqual(self.calls(exported), ["aten::index_put_", "aten::mul.out"])
        self.check_values(exported)


if __name__ == "__main__":
    absltest.main()
