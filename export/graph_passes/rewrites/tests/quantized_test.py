"""Tests of the pass quantized."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from absl.testing import absltest
from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower

from export.exporter import Exported
from export.graph_passes import graphs, packing, passes
from export.graph_passes.calls import (
    QuantizedConvolution,
    QuantizedLinear,
    Relu,
)
from export.graph_passes.tests.pass_test_case import (
    QUANTIZER,
    PassTestCase,
    model_file,
)

_ENDS = ["quantized_decomposed::dequantize_per_tensor.out", "quantized_decomposed::quantize_per_tensor.out"]
_CONVOLUTION_OF_BYTES = "rules_executorch::quantized_convolution.out"
_LINEAR_OF_BYTES = "rules_executorch::quantized_linear.out"
_QUANTIZED = [
    "quantized_moves",
    "quantized_tables",
    "quantized_layers",
    "quantized_add",
    "channels_of_bytes",
    "padding",
    "no_ops",
]
_COPY = "dim_order_ops::_to_dim_order_copy.out"


class QuantizedTest(PassTestCase):
    def _export(self, forward: str, x: str, init: str = "pass", names: Sequence[str] = tuple(_QUANTIZED)) -> Exported:
        return self.export(model_file(forward, x, init=init, after=QUANTIZER), names)

    def test_linear(self) -> None:
        init = "self.layers = torch.nn.Sequential(torch.nn.Linear(5, 18), torch.nn.ReLU(), torch.nn.Linear(18, 3))"
        exported = self._export("return self.layers(x)", "torch.rand(2, 5)", init)
        self.assertEqual(self.calls(exported), sorted([*_ENDS, _LINEAR_OF_BYTES]))
        self.assertEqual(self.changes(exported, "quantized_layers"), ["aten::linear of bytes"] * 2)

    def test_convolutions(self) -> None:
        init = """
        self.layers = torch.nn.Sequential(
            torch.nn.Conv2d(3, 8, 3, stride=2),
            torch.nn.ReLU6(),
            torch.nn.ZeroPad2d((0, 1, 1, 0)),
            torch.nn.Conv2d(8, 8, 3, groups=8, bias=False),
            torch.nn.Sigmoid(),
            torch.nn.Conv2d(8, 4, 1),
        )
        """
        exported = self._export("return self.layers(x)", "torch.rand(1, 3, 12, 12)", init)
        self.assertEqual(self.calls(exported), sorted([*_ENDS, _CONVOLUTION_OF_BYTES, _COPY]))
        self.assertEqual(self.changes(exported, "quantized_layers"), ["aten::convolution of bytes"] * 3)
        # Bytes are copied at the borders alone.
        self.assertEqual(self.changes(exported, "channels_of_bytes"), [f"{_COPY[:-4]} of channels-last bytes"] * 2)

    def test_padding_before_the_quantization(self) -> None:
        init = "self.layer = torch.nn.Conv2d(3, 4, 3)"
        exported = self._export(
            "return self.layer(torch.nn.functional.pad(x, (0, 1, 2, 0)))", "torch.rand(1, 3, 8, 8)", init
        )
        self.assertEqual(self.calls(exported), sorted([*_ENDS, _CONVOLUTION_OF_BYTES, _COPY]))
        self.assertEqual(self.changes(exported, "quantized_moves"), ["aten::constant_pad_nd of bytes"])

    def test_convolutions_of_rows(self) -> None:
        init = "self.layers = torch.nn.Sequential(torch.nn.Conv1d(3, 8, 3, padding=1), torch.nn.Conv1d(8, 4, 2))"
        exported = self._export("return self.layers(x)", "torch.rand(2, 3, 12)", init)
        self.assertEqual(self.changes(exported, "quantized_layers"), ["aten::convolution of bytes"] * 2)

    def test_averages(self) -> None:
        init = "self.layer = torch.nn.Conv2d(3, 8, 1)"
        for forward, change in (
            ("return self.layer(x).mean((2, 3))", "aten::mean.dim of bytes"),
            ("return torch.nn.functional.adaptive_avg_pool2d(self.layer(x), 1)", "aten::mean.dim of bytes"),
            ("return torch.nn.functional.avg_pool2d(self.layer(x), 3, 2, padding=1)", "aten::avg_pool2d of bytes"),
        ):
            exported = self._export(forward, "torch.rand(2, 3, 7, 9)", init)
            changes = ["aten::convolution of bytes", change]
            self.assertEqual(self.changes(exported, "quantized_layers"), sorted(changes), forward)

    def test_leaves_other_averages(self) -> None:
        init = "self.layer = torch.nn.Conv2d(3, 8, 1)"
        for forward in (
            "return self.layer(x).mean((1, 3))",
            "return torch.nn.functional.avg_pool2d(self.layer(x), 3, padding=1, count_include_pad=False)",
            "return torch.nn.functional.avg_pool2d(self.layer(x), 2, ceil_mode=True)",
        ):
            exported = self._export(forward, "torch.rand(2, 3, 7, 9)", init)
            self.assertEqual(self.changes(exported, "quantized_layers"), ["aten::convolution of bytes"], forward)

    def test_additions(self) -> None:
        exported = self._export("return torch.nn.functional.relu(x + x * 2.0)", "torch.rand(2, 5)")
        self.assertIn("rules_executorch::quantized_add.out", self.calls(exported))
        self.assertEqual(self.changes(exported, "quantized_add"), ["an addition of bytes"])

    def test_bytes_move(self) -> None:
        init = "self.layer = torch.nn.Linear(4, 6)"
        exported = self._export(
            "return self.layer(x).view(2, 3, 3, 2).permute(0, 2, 1, 3)", "torch.rand(2, 3, 4)", init
        )
        self.assertEqual(self.calls(exported), sorted([*_ENDS, _LINEAR_OF_BYTES, "aten::permute_copy.out"]))
        self.assertEqual(
            self.changes(exported, "quantized_moves"), ["aten::permute_copy of bytes", "aten::view_copy of bytes"]
        )

    def test_leaves(self) -> None:
        # Weights that nothing is known of, and a transposed convolution.
        for forward, x, init, call in (
            ("return x @ x", "torch.rand(3, 3)", "pass", "aten::mm.out"),
            (
                "return self.layer(x)",
                "torch.rand(1, 3, 4, 4)",
                "self.layer = torch.nn.ConvTranspose2d(3, 3, 2)",
                "aten::convolution.out",
            ),
        ):
            exported = self._export(forward, x, init)
            self.assertEqual(self.changes(exported, "quantized_layers"), [])
            self.assertIn(call, self.calls(exported))

    def test_leaves_a_weight_of_one_dimension(self) -> None:
        source = model_file(
            "return torch.nn.functional.linear(x, self.weight)",
            "torch.rand(2, 5)",
            init="self.weight = torch.nn.Parameter(torch.rand(5))",
            after=QUANTIZER.replace("is_per_channel=True", "is_per_channel=False"),
        )
        exported = self.export(source, _QUANTIZED)
        self.assertEqual(self.changes(exported, "quantized_layers"), [])
        self.assertIn("aten::linear.out", self.calls(exported))

    def test_leaves_floats(self) -> None:
        source = model_file("return self.layer(x)", "torch.rand(2, 4)", init="self.layer = torch.nn.Linear(4, 6)")
        exported = self.export(source, _QUANTIZED)
        self.assertEqual(self.calls(exported), ["aten::linear.out"])

    def test_a_pad_that_nothing_reads(self) -> None:
        edge = to_edge_transform_and_lower(
            torch.export.export(torch.nn.ReLU(), (torch.rand(2, 4),)),
            compile_config=EdgeCompileConfig(_check_ir_validity=False),
        )
        program = edge.exported_program()
        relu = next(node for node, _ in Relu.each(program.graph.nodes))
        source = relu.args[0]
        assert isinstance(source, torch.fx.Node)
        padded = torch.nn.functional.pad(graphs.value(source), (0, 1))
        graphs.insert_call(relu, graphs.EDGE.aten.constant_pad_nd.default, (source, [0, 1], 0.0), padded)
        (moves,) = passes.select(["quantized_moves"])
        self.assertEqual(list(passes.apply(moves, program)), [])

    def test_results_are_those_of_the_separate_calls(self) -> None:
        """Each operator next to what the pass replaces: bytes differ by a step at most, and few do."""
        from torch.ao.quantization.fx import _decomposed  # noqa: F401, defines torch.ops.quantized_decomposed.

        separate = torch.ops.quantized_decomposed
        linear, convolution = QuantizedLinear.overload(), QuantizedConvolution.overload()
        generator = torch.Generator().manual_seed(0)
        x = torch.randint(-128, 128, (5, 40), generator=generator).to(torch.int8)
        weight = torch.randint(-127, 128, (20, 40), generator=generator).to(torch.int8)
        scales, bias = torch.rand(20, generator=generator) * 0.01, torch.randn(20, generator=generator)
        floats = torch.nn.functional.linear(
            separate.dequantize_per_tensor(x, 0.02, 3, -128, 127, torch.int8),
            separate.dequantize_per_channel(weight, scales, None, 0, -127, 127, torch.int8),
            bias,
        )
        expected = separate.quantize_per_tensor(floats, 0.05, -4, -128, 127, torch.int8)
        scale = 0.02 * scales / 0.05
        offset = bias / 0.05 - (128 + 3) * weight.sum(1) * scale - 4
        panels = packing.panels_of_rows(weight)
        actual = linear(x, panels, scale, offset, None, -128, 127, torch.int8)
        difference = (actual.int() - expected.int()).abs()
        self.assertLessEqual(int(difference.max()), 1)
        self.assertLess(int(difference.sum()), 3)
        image = torch.randint(0, 256, (1, 4, 6, 6), generator=generator).to(torch.uint8)
        image = image.to(memory_format=torch.channels_last)
        for channels, groups in ((20, 2), (4, 4)):
            kernel = torch.randint(-127, 128, (channels, 4 // groups, 3, 5), generator=generator).to(torch.int8)
            floats = torch.nn.functional.conv2d(
                separate.dequantize_per_tensor(image, 0.02, 7, 0, 255, torch.uint8),
                separate.dequantize_per_channel(kernel, scales[:channels], None, 0, -127, 127, torch.int8),
                bias[:channels],
                [2, 1],
                [1, 2],
                groups=groups,
            )
            expected = separate.quantize_per_tensor(floats, 0.05, 9, 0, 255, torch.uint8)
            offset = bias[:channels] / 0.05 - 7 * kernel.flatten(1).sum(1) * scale[:channels] + 9
            panels = packing.panels_of_convolution(kernel, groups)
            self.assertTrue(
                torch.equal(packing.convolution_of_panels(panels, channels, 4 // groups, [3, 5], groups), kernel)
            )
            args = (
                image,
                panels,
                scale[:channels],
                offset,
                None,
                [3, 5],
                [2, 1],
                [1, 2, 1, 2],
                [1, 1],
                groups,
                7,
                0,
                255,
            )
            difference = (convolution(*args, torch.uint8).int() - expected.int()).abs()
            self.assertLessEqual(int(difference.max()), 1)


if __name__ == "__main__":
    absltest.main()
