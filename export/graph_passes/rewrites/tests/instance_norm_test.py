"""Tests of the pass instance_norm."""

from __future__ import annotations

from absl.testing import absltest

from export.graph_passes.tests.pass_test_case import PassTestCase, model_file


class InstanceNormTest(PassTestCase):
    _CHANGES = ("an instance norm as a group norm",)
    _CALLS = ("aten::native_group_norm.out",)

    def test_acts(self) -> None:
        for layer, x in (
            ("InstanceNorm1d(6)", "torch.rand(2, 6, 5)"),
            ("InstanceNorm2d(6, eps=0.1)", "torch.rand(2, 6, 5, 4)"),
            ("InstanceNorm2d(6, affine=True)", "torch.rand(1, 6, 5, 4)"),
            ("InstanceNorm3d(6, affine=True)", "torch.rand(3, 6, 5, 4, 2)"),
        ):
            with self.subTest(layer):
                source = model_file("return self.norm(x)", x, init=f"self.norm = torch.nn.{layer}")
                self.check("instance_norm", source, changes=self._CHANGES, calls=self._CALLS)

    def test_sizes_at_run_time(self) -> None:
        norm = "self.norm = torch.nn.InstanceNorm2d(6, affine=True)"
        dims = "{0: torch.export.Dim('batch', max=4), 3: torch.export.Dim('width', min=2, max=9)}"
        self.check(
            "instance_norm",
            f"{model_file('return self.norm(x)', 'torch.rand(2, 6, 5, 4)', init=norm)}\n"
            f"def get_dynamic_shapes():\n    return ({dims},)\n",
            changes=self._CHANGES,
            calls=[*self._CALLS, "aten::sym_size.int", "executorch_prim::mul.Scalar"],
        )

    def test_stays_between_convolutions(self) -> None:
        """Nothing is copied between the layers."""
        init = "self.a, self.b = torch.nn.Conv2d(3, 32, 3), torch.nn.Conv2d(32, 64, 3)\n"
        init += "self.norm = torch.nn.InstanceNorm2d(32)"
        forward = "return self.b(self.norm(self.a(x)).relu()).amax((2, 3))"
        source = model_file(forward, "torch.rand(1, 3, 18, 18)", init=init)
        exported = self.export(source, ["channels_last", "instance_norm"])
        self.assertNotIn("dim_order_ops::_to_dim_order_copy.out", self.calls(exported))

    def test_leaves_given_averages(self) -> None:
        init = "self.norm = torch.nn.InstanceNorm2d(6, track_running_stats=True)"
        source = model_file("return self.norm(x)", "torch.rand(2, 6, 5, 4)", init=init)
        exported = self.export(source, ["instance_norm"])
        self.assertEqual([], self.changes(exported, "instance_norm"))
        self.check_values(exported)


if __name__ == "__main__":
    absltest.main()
