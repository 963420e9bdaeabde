"""Tests of the pass no_ops."""

from __future__ import annotations

import torch
from absl.testing import absltest

from export.graph_passes.tests import rewriting
from export.graph_passes.tests.pass_test_case import (
    PassTestCase,
    model_file,
)


class NoOpsTest(PassTestCase):
    def test_acts(self) -> None:
        for forward, dropped in (
            ("return x.expand(2, -1, 4) + 1.0", "aten::expand_copy that changes nothing"),
            ("return x.clone() + 1.0", "dim_order_ops::_clone_dim_order that changes nothing"),
            ("return x.view(2, 3, 4) + 1.0", "aten::view_copy that changes nothing"),
            ("return torch.nn.functional.pad(x, (0, 0)) + 1.0", "aten::constant_pad_nd that changes nothing"),
        ):
            self.check("no_ops", model_file(forward, "torch.rand(2, 3, 4)"), changes=[dropped], calls=["aten::add.out"])

    def test_acts_on_permutations(self) -> None:
        one = "two permutations made one"
        self.check(
            "no_ops",
            model_file("return x.permute(2, 0, 1).permute(1, 2, 0) + 1.0", "torch.rand(2, 3, 4)"),
            changes=[one, "aten::permute_copy that changes nothing"],
            calls=["aten::add.out"],
        )
        self.check(
            "no_ops",
            model_file("return x.permute(2, 0, 1).permute(0, 2, 1) + 1.0", "torch.rand(2, 3, 4)"),
            changes=[one],
            calls=["aten::add.out", "aten::permute_copy.out"],
        )

    def test_leaves(self) -> None:
        for forward, calls in (
            ("return x[:, ::2] + 1.0", ["aten::add.out", "aten::slice_copy.Tensor_out"]),
            ("return x.expand(5, -1, -1) + 1.0", ["aten::add.out", "aten::expand_copy.out"]),
            ("return x.permute(0, 2, 1) + 1.0", ["aten::add.out", "aten::permute_copy.out"]),
            ("return x.double().float()", ["dim_order_ops::_to_dim_order_copy.out"]),
            ("return x.flip(0)[:, :1].clone()", ["aten::flip.out", "aten::slice_copy.Tensor_out"]),
            # An output has memory of its own.
            ("return x.clone()", ["dim_order_ops::_clone_dim_order.out"]),
        ):
            x = "torch.rand(1, 3, 4)" if "expand" in forward else "torch.rand(2, 3, 4)"
            with self.subTest(forward):
                exported = self.export(model_file(forward, x), ["no_ops"])
                if "flip" not in forward:
                    self.assertEqual(self.changes(exported, "no_ops"), [])
                    self.assertEqual(self.calls(exported), calls)
                self.check_values(exported)

    def test_sizes_that_the_model_fixes(self) -> None:
        """The input has symbols for sizes that can have one value only, and the view of the input has numbers."""
        source = model_file("return x.expand(2, -1, 4).view(6, 4) + 1.0", "torch.rand(2, 3, 4)")
        auto = "{dim: torch.export.Dim.AUTO(max=9) for dim in range(3)}"
        self.check(
            "no_ops",
            f"{source}\ndef get_dynamic_shapes():\n    return ({auto},)\n",
            changes=["aten::expand_copy that changes nothing"],
            calls=["aten::add.out"],
        )

    def test_padding_that_shifts(self) -> None:
        class Shift(torch.nn.Module):
            def __init__(self, mode: str) -> None:
                super().__init__()
                self.mode = mode

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                return torch.nn.functional.pad(x, (1, -1), mode=self.mode) + 1.0

        inputs = (torch.rand(2, 3, 4),)
        for mode in ("constant", "reflect", "replicate"):
            rewritten = rewriting.rewrite(Shift(mode), inputs, ["no_ops", "padding_modes"])
            self.assertEmpty(rewritten.changes["no_ops"])
            rewriting.compare(Shift(mode), rewritten, inputs)

    def test_padding_by_nothing(self) -> None:
        for mode, widths, x in (
            ("reflect", "(0, 0)", "torch.rand(2, 3, 4)"),
            ("replicate", "(0, 0, 0, 0)", "torch.rand(2, 3, 4, 5)"),
        ):
            source = model_file(f"return torch.nn.functional.pad(x, {widths}, mode='{mode}') + 1.0", x)
            exported = self.export(source, ["no_ops", "padding_modes"])
            self.assertLen(self.changes(exported, "no_ops"), 1)
            self.assertEqual(["aten::add.out"], self.calls(exported))
            self.check_values(exported)

    def test_outputs_stay_apart(self) -> None:
        exported = self.export(model_file("y = x + 1.0\nreturn y, y.clone()", "torch.rand(2, 3)"), ["no_ops"])
        self.assertEqual(self.changes(exported, "no_ops"), [])
        self.check_values(exported)

    def test_state_is_copied_before_it_changes(self) -> None:
        source = model_file(
            "before = self.cache.clone()\nself.cache.add_(x)\nreturn before",
            "torch.rand(2, 3)",
            init="self.register_buffer('cache', torch.zeros(2, 3))",
            after="def get_sample_inputs():\n    return [(torch.rand(2, 3),) for _ in range(3)]",
        )
        self.check_values(self.export(source, ["default"]))

    def test_memory_formats_stay(self) -> None:
        source = model_file(
            "return x.to(memory_format=torch.channels_last).relu().contiguous()", "torch.rand(2, 3, 4, 5)"
        )
        exported = self.export(source, ["no_ops"])
        self.assertEqual(self.changes(exported, "no_ops"), [])
        self.check_values(exported)


if __name__ == "__main__":
    absltest.main()
