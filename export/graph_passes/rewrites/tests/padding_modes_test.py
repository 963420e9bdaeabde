"""Tests of the pass padding_modes."""

from __future__ import annotations

from absl.testing import absltest

from export.graph_passes.tests.pass_test_case import PassTestCase, model_file


class PaddingModesTest(PassTestCase):
    def test_acts(self) -> None:
        for mode, name in (("reflect", "reflection"), ("replicate", "replication")):
            for rank, widths, x in (
                (1, "(1, 2)", "torch.rand(2, 3, 5)"),
                (1, "(1, 2)", "torch.rand(3, 5)"),
                (2, "(1, 0, 2, 1)", "torch.rand(2, 3, 5, 4)"),
                (3, "(1, 0, 2, 1, 0, 1)", "torch.rand(2, 3, 5, 4, 3)"),
                (1, "(-1, 2)", "torch.rand(2, 3, 5)"),
            ):
                with self.subTest(mode=mode, widths=widths, x=x):
                    self.check(
                        "padding_modes",
                        model_file(f"return torch.nn.functional.pad(x, {widths}, mode='{mode}')", x),
                        changes=[f"aten::{name}_pad{rank}d kept whole"],
                        calls=[f"aten::{name}_pad{rank}d.out"],
                    )

    def test_layers(self) -> None:
        self.check(
            "padding_modes",
            model_file("return self.pad(x)", "torch.rand(2, 3, 5, 4)", init="self.pad = torch.nn.ReflectionPad2d(2)"),
            changes=["aten::reflection_pad2d kept whole"],
            calls=["aten::reflection_pad2d.out"],
        )

    def test_sizes_at_run_time(self) -> None:
        source = model_file("return torch.nn.functional.pad(x, (2, 1), mode='reflect')", "torch.rand(2, 3, 5)")
        self.check(
            "padding_modes",
            f"{source}\ndef get_dynamic_shapes():\n    return ({{2: torch.export.Dim('length', min=4, max=9)}},)\n",
            changes=["aten::reflection_pad1d kept whole"],
            calls=["aten::reflection_pad1d.out"],
        )

    def test_leaves(self) -> None:
        for mode, calls in (("constant", ["aten::constant_pad_nd.out"]), ("circular", None)):
            exported = self.export(
                model_file(f"return torch.nn.functional.pad(x, (1, 2), mode='{mode}')", "torch.rand(2, 3, 5)"),
                ["padding_modes"],
            )
            self.assertEqual([], self.changes(exported, "padding_modes"))
            self.check_values(exported)
            if calls:
                self.assertEqual(calls, self.calls(exported))

    def test_leaves_out_what_partitioners_see(self) -> None:
        """Backends have indices, and may have no such padding."""
        source = model_file("return torch.ops.aten.reflection_pad1d(x, [1, 2]) + 1.0", "torch.rand(2, 3, 5)")
        exported = self.export(source, ["padding_modes"], backends=["xnnpack"])
        self.assertTrue(exported.graph_passes["forward"][0].left_out)
        self.assertNotIn("aten::reflection_pad1d.out", self.calls(exported))


if __name__ == "__main__":
    absltest.main()
