"""Tests of the pass activations."""

from __future__ import annotations

from absl.testing import absltest

from export.graph_passes.tests.pass_test_case import (
    CONVOLUTION_OUT,
    PACKED_LINEAR_OUT,
    PassTestCase,
    model_file,
)


class ActivationsTest(PassTestCase):
    _NAMES = ("linear", "written_activations", "packed_linear", "activations")
    _LINEAR = "self.layer = torch.nn.Linear(4, 48)"

    def test_acts(self) -> None:
        for activation, what in (
            ("torch.relu(y)", "clamp"),
            ("torch.nn.functional.relu6(y)", "clamp"),
            ("y.clamp(min=-1)", "clamp"),
            ("torch.nn.functional.gelu(y)", "gelu"),
            ("torch.nn.functional.gelu(y, approximate='tanh')", "gelu_tanh"),
            ("torch.sigmoid(y)", "sigmoid"),
            ("torch.tanh(y)", "tanh"),
            ("torch.nn.functional.leaky_relu(y, 0.2)", "leaky_relu"),
            ("torch.nn.functional.elu(y, 0.5)", "elu"),
            ("torch.nn.functional.selu(y)", "elu"),
            ("torch.nn.functional.hardswish(y)", "hardswish"),
            ("torch.nn.functional.softplus(y, 2, 5)", "softplus"),
        ):
            with self.subTest(activation):
                source = model_file(f"y = self.layer(x)\nreturn {activation}", "torch.rand(3, 4)", init=self._LINEAR)
                exported = self.export(source, self._NAMES)
                self.assertEqual(self.calls(exported), [PACKED_LINEAR_OUT])
                self.assertEqual(self.changes(exported, "activations"), [f"{what} done by the layer before it"])

    def test_acts_behind_views(self) -> None:
        source = model_file("return torch.relu(self.layer(x).view(4, 36)) + 1.0", "torch.rand(3, 4)", init=self._LINEAR)
        self.assertEqual(self.calls(self.export(source, self._NAMES)), ["aten::add.out", PACKED_LINEAR_OUT])

    def test_acts_on_convolutions(self) -> None:
        for layers in (
            "torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU6()",
            "torch.nn.ZeroPad2d((0, 1, 0, 1)), torch.nn.Conv2d(3, 4, 3), torch.nn.SiLU()",
        ):
            init = f"self.layers = torch.nn.Sequential({layers})"
            exported = self.export(model_file("return self.layers(x)", "torch.rand(1, 3, 6, 6)", init=init), ["all"])
            self.assertEqual(self.calls(exported), [CONVOLUTION_OUT])
            self.assertEqual(len(self.changes(exported, "activations")), 1)
        init = "self.layers = torch.nn.Sequential(torch.nn.ConvTranspose2d(3, 4, 3), torch.nn.ReLU())"
        exported = self.export(model_file("return self.layers(x)", "torch.rand(1, 3, 6, 6)", init=init), ["all"])
        self.assertEqual(self.calls(exported), ["aten::convolution.out", "aten::relu.out"])

    def test_leaves(self) -> None:
        for forward, stays in (
            # The layer's own result is needed, too.
            ("return torch.relu(y) + y", "aten::relu.out"),
            ("return torch.relu(y), y", "aten::relu.out"),
            ("return torch.nn.functional.hardswish(y) + y", "rules_executorch::activation.out"),
            # A function of a function; a factor of the argument; a bound that is not a number.
            ("return torch.sigmoid(torch.relu(y))", "aten::sigmoid.out"),
            ("return torch.ops.aten.elu(y, 1.0, 1.0, 0.5)", "aten::elu.out"),
            ("return y.clamp(min=float('nan'))", "aten::clamp.out"),
        ):
            with self.subTest(forward):
                source = model_file(f"y = self.layer(x)\n{forward}", "torch.rand(3, 4)", init=self._LINEAR)
                self.assertIn(stays, self.calls(self.export(source, self._NAMES)))


if __name__ == "__main__":
    absltest.main()
