"""Tests of the pass written_activations."""

from __future__ import annotations

from absl.testing import absltest

from export.graph_passes.tests.pass_test_case import PassTestCase, model_file

_ACTIVATION_OUT = "rules_executorch::activation.out"
# As transformers' NewGELUActivation has it.
_GELU = "0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))))"


def _source(activation: str) -> str:
    forward = f"from torch.nn import functional as F\nreturn {activation}"
    return model_file(forward, "torch.randn(3, 50) * 4", "torch.randn(3, 50)", takes="x, z")


class WrittenActivationsTest(PassTestCase):
    def _check(self, activation: str, what: str, *others: str) -> None:
        with self.subTest(activation):
            exported = self.export(_source(activation), ["constants", "written_activations"])
            self.assertEqual(self.calls(exported), [*others, _ACTIVATION_OUT])
            self.assertIn(f"{what} made one call", self.changes(exported, "written_activations"))

    def test_functions(self) -> None:
        for activation, what in (
            ("F.hardswish(x)", "hardswish"),
            ("F.hardsigmoid(x)", "hardsigmoid"),
            ("F.silu(x)", "silu"),
            ("F.mish(x)", "mish"),
            ("F.softplus(x)", "softplus"),
            ("F.softplus(x, 2.5, 4)", "softplus"),
            ("F.celu(x, 1.5)", "celu"),
            ("F.logsigmoid(x)", "logsigmoid"),
            ("F.softsign(x)", "softsign"),
            ("F.hardshrink(x)", "hardshrink"),
            ("F.softshrink(x, 0.3)", "softshrink"),
            ("F.threshold(x, 0.5, -1.0)", "threshold"),
            ("F.tanhshrink(x)", "tanhshrink"),
        ):
            self._check(activation, what)

    def test_written(self) -> None:
        for activation, what in (
            ("x * torch.sigmoid(x)", "silu"),
            ("torch.sigmoid(x) * x", "silu"),
            ("x * torch.sigmoid(1.702 * x)", "swish"),
            ("x * F.relu6(x + 3) / 6", "hardswish"),
            ("x * (F.relu6(x + 3) / 6)", "hardswish"),
            ("x * F.relu6(3 + x) * (1 / 6)", "hardswish"),
            ("F.hardtanh(x + 3.0, 0.0, 6.0) / 6.0 * x", "hardswish"),
            ("x * (x + 3).clamp(0, 6) / 6", "hardswish"),
            ("x * F.hardsigmoid(x)", "hardswish"),
            ("F.relu6(x + 3) / 6", "hardsigmoid"),
            ("F.relu6(x + 3).div(6)", "hardsigmoid"),
            ("x * torch.tanh(F.softplus(x))", "mish"),
            ("x / (1 + x.abs())", "softsign"),
            ("x - torch.tanh(x)", "tanhshrink"),
            ("torch.where(x > 0, x, 0.1 * x)", "leaky_relu"),
            ("torch.where(x > 0, x, x / 8)", "leaky_relu"),
            (_GELU, "gelu_tanh"),
            ("0.5 * x * (1.0 + torch.erf(x / math.sqrt(2.0)))", "gelu"),
            ("x * 0.5 * (1.0 + torch.erf(x * 0.7071067811865475))", "gelu"),
        ):
            self._check(activation, what)

    def test_prelu(self) -> None:
        """PReLU of one slope is a leaky ReLU; a PReLU with a slope for each channel stays as it is."""
        of_channels = ["aten::gt.Scalar_out", "aten::mul.out", "aten::where.self_out"]
        for slopes, calls in ((1, [_ACTIVATION_OUT]), (4, of_channels)):
            layer = f"self.layer = torch.nn.PReLU({slopes})"
            source = model_file("return self.layer(x)", "torch.randn(2, 4, 5, 3) * 4", init=layer)
            exported = self.export(source, ["constants", "written_activations"])
            self.assertEqual(self.calls(exported), calls)

    def test_of_what_is_a_product(self) -> None:
        """The argument's own factors are no factors of the activation."""
        self._check("F.silu(x * z)", "silu", "aten::mul.out")
        self._check("(lambda y: y * F.relu6(y + 3) / 6)(x * z * 2.0)", "hardswish", "aten::mul.out")

    def test_leaves(self) -> None:
        for activation in (
            # Other numbers, other tensors.
            "x * F.relu6(x + 3) / 5",
            "x * F.relu6(x + 2) / 6",
            "x * (x + 3).clamp(0, 5) / 6",
            "x * torch.sigmoid(z)",
            "x * torch.sigmoid(x[:, :1])",
            "x * torch.tanh(x)",
            "z - torch.tanh(x)",
            "torch.tanh(x) - x",
            "torch.sub(x, torch.tanh(x), alpha=2)",
            "x / (2 + x.abs())",
            "z / (1 + x.abs())",
            "x / (1 + x)",
            _GELU.replace("3.0", "2.0"),
            "torch.where(x > 1, x, 0.1 * x)",
            "torch.where(x >= 0, x, -0.1 * x)",
            "torch.where(z > 0, x, 0.1 * x)",
            "torch.where(x > 0, x, 0.1 * z)",
            "torch.where(x > 0, z, 0.1 * x)",
            "torch.where(x > 0, x, x)",
            "torch.where(x.abs() <= 0.5, 1.0, x)",
            "torch.where(x.abs() <= 0.5, 0.0, z)",
            "torch.where(x <= 0.5, 0.0, x)",
            "torch.where(x.abs() > 0.5, x - x.sign() * 0.25, x * 0)",
            "torch.where(x.abs() > 0.5, x - x.sign() * 0.5, x * 0.25)",
            "torch.where(x.abs() > 0.5, x - z.sign() * 0.5, x * 0)",
            "torch.where(z.abs() > 0.5, x - x.sign() * 0.5, x * 0)",
            "torch.where(x[:1] > 0, x[:1], 0.1 * x)",
            "0.5 * x * (1.0 + torch.erf(x / 1.5))",
            "0.4 * x * (1.0 + torch.erf(x / math.sqrt(2.0)))",
        ):
            with self.subTest(activation):
                exported = self.export(_source(activation), ["written_activations"])
                self.assertNotIn(_ACTIVATION_OUT, self.calls(exported))

    def test_leaves_what_is_read_again(self) -> None:
        source = model_file("gate = torch.sigmoid(x)\nreturn x * gate, gate", "torch.rand(3, 4)")
        self.assertNotIn(_ACTIVATION_OUT, self.calls(self.export(source, ["written_activations"])))

    def test_leaves_complex_numbers(self) -> None:
        source = model_file("return torch.fft.irfft(torch.fft.rfft(x) * 2)", "torch.rand(3, 4)")
        self.assertNotIn(_ACTIVATION_OUT, self.calls(self.export(source, ["constants", "written_activations"])))

    def test_dtypes(self) -> None:
        for dtype in ("float64", "float16", "bfloat16"):
            source = model_file(
                "y = torch.nn.functional.hardswish(x)\nreturn y * torch.sigmoid(y)",
                f"torch.rand(3, 4).to(torch.{dtype})",
            )
            self.assertEqual(self.calls(self.export(source, ["written_activations"])), [_ACTIVATION_OUT])
        source = model_file("return x * torch.sigmoid(x)", "torch.arange(6)")
        self.assertNotIn(_ACTIVATION_OUT, self.calls(self.export(source, ["written_activations"])))


if __name__ == "__main__":
    absltest.main()
