"""Tests of the pass constants."""

from __future__ import annotations

from absl.testing import absltest

from export.graph_passes.tests.pass_test_case import (
    PassTestCase,
    model_file,
)


class ConstantsTest(PassTestCase):
    def test_acts(self) -> None:
        source = model_file(
            "return x @ self.weight.t() + torch.arange(5.0)",
            "torch.rand(2, 3)",
            init="self.weight = torch.nn.Parameter(torch.rand(5, 3))",
        )
        exported = self.check(
            "constants",
            source,
            changes=[
                "aten::permute_copy of constants computed at export",
                "aten::arange.start_step of constants computed at export",
            ],
            calls=["aten::add.out", "aten::mm.out"],
        )
        self.assertEqual(exported, self.export(source, ["constants"]))

    def test_leaves_what_makes_the_program_larger(self) -> None:
        weights = "self.weight = torch.nn.Parameter(torch.rand(200, 100))"
        row = "self.weight = torch.nn.Parameter(torch.rand(1, 100))"
        for forward, init, stays in (
            # The weight stays, since something else needs the weight as it is.
            ("return x @ self.weight.t() @ self.weight", weights, "aten::permute_copy.out"),
            ("return x.expand(200, 100) + self.weight.expand(200, 100)", row, "aten::expand_copy.out"),
        ):
            x = "torch.rand(1, 100)" if init is row else "torch.rand(2, 100)"
            exported = self.export(model_file(forward, x, init=init), ["constants"])
            self.assertIn(stays, self.calls(exported))
            self.assertEqual(self.changes(exported, "constants"), [])
            self.check_values(exported)

    def test_leaves_what_changes(self) -> None:
        source = model_file(
            "y = self.cache.t() + x\nself.cache.add_(x)\nreturn y",
            "torch.rand(2, 2)",
            init="self.register_buffer('cache', torch.zeros(2, 2))",
            after="def get_sample_inputs():\n    return [(torch.rand(2, 2),) for _ in range(3)]",
        )
        exported = self.export(source, ["constants"])
        self.assertEqual(self.changes(exported, "constants"), [])
        self.check_values(exported)
        random = model_file("return x + torch.rand(2, 2)", "torch.rand(2, 2)")
        self.assertIn("aten::rand.out", self.calls(self.export(random, ["constants"])))

    def test_leaves_memory_without_values(self) -> None:
        """ExecuTorch's lowering pads in a circle by writes to an empty tensor."""
        convolution = "torch.nn.Conv1d(1, 1, 5, padding=2, padding_mode='circular')"
        source = model_file("return self.layer(x)", "torch.rand(1, 1, 9)", init=f"self.layer = {convolution}")
        exported = self.export(source, ["constants"])
        self.assertIn("dim_order_ops::_empty_dim_order.out", self.calls(exported))
        self.assertNotRegex(str(self.changes(exported, "constants")), "empty|slice")
        self.check_values(exported)

    def test_leaves_constants_that_the_method_gives_out(self) -> None:
        source = model_file(
            "return x + 1.0, self.weight.t()",
            "torch.rand(2, 2)",
            init="self.weight = torch.nn.Parameter(torch.rand(2, 2))",
        )
        self.check("constants", source, changes=[], calls=["aten::add.out", "aten::permute_copy.out"])


if __name__ == "__main__":
    absltest.main()
