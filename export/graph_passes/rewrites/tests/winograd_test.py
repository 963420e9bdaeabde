"""Tests of the pass winograd."""

from __future__ import annotations

import torch
from absl.testing import absltest

from export.graph_passes.calls import (
    WinogradConvolution,
)
from export.graph_passes.operators import packed_convolution
from export.graph_passes.tests.pass_test_case import (
    PACKED_CONVOLUTION_OUT,
    WINOGRAD_CONVOLUTION_OUT,
    PassTestCase,
    model_file,
)


class WinogradTest(PassTestCase):
    _NAMES = ("channels_last", "addends", "activations", "winograd")

    def _changes(self, layer: str, size: str) -> list[str]:
        """What the pass does to a layer whose input is channels-last."""
        init = f"self.first = torch.nn.Conv2d(3, 64, 3)\nself.layer = torch.nn.{layer}"
        source = model_file("return self.layer(self.first(x)).amax(dim=(2, 3))", f"torch.rand(1, 3, {size})", init=init)
        return self.changes(self.export(source, self._NAMES), "winograd")

    def test_acts(self) -> None:
        # Tiles of 4 would have more outputs outside of the image, and transform each kernel to more places.
        for layer, size, tile in (("Conv2d(64, 64, 3, padding=1)", "34, 36", 4), ("Conv2d(64, 1024, 3)", "14, 14", 2)):
            with self.subTest(layer):
                self.assertEqual(self._changes(layer, size), [f"multiplied in tiles of {tile} by {tile}"])

    def test_calls(self) -> None:
        source = model_file(
            "y = self.a(x)\nreturn torch.relu(self.b(y) + y).amax(dim=(2, 3))",
            "torch.rand(1, 3, 34, 34)",
            init="self.a = torch.nn.Conv2d(3, 32, 3)\nself.b = torch.nn.Conv2d(32, 32, 3, padding=1)",
        )
        exported = self.export(source, self._NAMES)
        self.assertEqual(self.calls(exported), ["aten::amax.out", PACKED_CONVOLUTION_OUT, WINOGRAD_CONVOLUTION_OUT])

    def test_leaves(self) -> None:
        for layer, size in (
            ("Conv2d(64, 64, 3, stride=2)", "66, 66"),
            ("Conv2d(64, 64, 3, dilation=2)", "66, 66"),
            ("Conv2d(64, 64, 3, groups=4)", "66, 66"),
            ("Conv2d(64, 64, 5)", "66, 66"),
            # Transforms take longer than the products saved.
            ("Conv2d(64, 4, 3)", "66, 66"),
            # Weights are read once for few pixels.
            ("Conv2d(64, 512, 3)", "6, 6"),
        ):
            with self.subTest(layer):
                self.assertEqual(self._changes(layer, size), [])

    def test_leaves_sizes_that_vary(self) -> None:
        source = model_file(
            "return self.b(self.a(x)).amax(dim=(2, 3))",
            "torch.rand(1, 3, 66, 66)",
            init="self.a = torch.nn.Conv2d(3, 64, 3)\nself.b = torch.nn.Conv2d(64, 64, 3)",
            after="""
                def get_dynamic_shapes():
                    return ({2: torch.export.Dim("height", min=16, max=128)},)
                """,
        )
        self.assertEqual(self.changes(self.export(source, self._NAMES), "winograd"), [])

    def test_values(self) -> None:
        class Network(torch.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.first = torch.nn.Conv2d(3, 40, 3)
                self.uneven = torch.nn.Conv2d(40, 40, 3)
                self.last = torch.nn.Conv2d(40, 100, 3, padding=(2, 0), bias=False)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                x = self.first(x)
                y = self.uneven(torch.nn.functional.pad(x, (0, 2, 1, 1)))
                last: torch.Tensor = self.last(torch.nn.functional.hardtanh(x + y))
                return last.amax(dim=(2, 3))

        self.check_graph(Network().eval(), (torch.rand(2, 3, 33, 29),), "uneven_padding", *self._NAMES)

    def test_operator(self) -> None:
        operator = WinogradConvolution.overload()
        for tile, channels in ((2, 70), (4, 16)):
            x, weight, bias = torch.rand(2, 8, 7, 6), torch.rand(channels, 8, 3, 3), torch.rand(channels)
            packed = packed_convolution.pack(weight, groups=1)
            expected = torch.nn.functional.conv2d(torch.nn.functional.pad(x, (1, 0, 0, 1)), weight, bias)
            addend = torch.rand_like(expected)
            args = (x, packed, bias, addend, channels, tile, [0, 1], [1, 0], "clamp", 0.0, 20.0)
            torch.testing.assert_close(operator(*args), (expected + addend).clamp(0, 20))


if __name__ == "__main__":
    absltest.main()
