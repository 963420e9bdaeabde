"""Tests of the pass winograd."""

from __future__ import annotations

import functools
import math
import struct
from collections.abc import Sequence

import torch
from absl.testing import absltest
from executorch.extension.flat_tensor.serialize.serialize import FlatTensorSerializer

from export.graph_passes.calls import (
    WinogradConvolution,
)
from export.graph_passes.operators import packed_convolution, winograd_convolution
from export.graph_passes.tests import rewriting
from export.graph_passes.tests.pass_test_case import (
    PACKED_CONVOLUTION_OUT,
    WINOGRAD_CONVOLUTION_OUT,
    PassTestCase,
    model_file,
)

# By tile: the points of kernels/convolution/winograd_transforms.h.
_POINTS = {2: (0, 1, -1), 4: (0, 0.625, -0.625, 1.5, -1.5)}


def _polynomial(roots: Sequence[float], size: int) -> list[float]:
    """Returns the coefficients of a polynomial, from the lowest."""
    coefficients = [1.0]
    for root in roots:
        coefficients = [a - root * b for a, b in zip([0.0, *coefficients], [*coefficients, 0.0], strict=True)]
    return coefficients + [0.0] * (size - len(coefficients))


def _transforms(tile: int, points: Sequence[float]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Returns the matrices of the transforms of sums, kernels and inputs, by Toom and Cook."""
    others = [[other for other in points if other != point] for point in points]
    sums = [[point**k for point in points] + [float(k == tile - 1)] for k in range(tile)]
    kernels = []
    for point, rest in zip(points, others, strict=True):
        distances = math.prod(point - other for other in rest)
        kernels.append([point**k / distances for k in range(3)])
    inputs = [_polynomial(rest, tile + 2) for rest in others] + [_polynomial(points, tile + 2)]
    return torch.tensor(sums), torch.tensor([*kernels, [0.0, 0.0, 1.0]]), torch.tensor(inputs)


def _in_tiles(
    x: torch.Tensor, weight: torch.Tensor, sums: torch.Tensor, kernels: torch.Tensor, inputs: torch.Tensor
) -> torch.Tensor:
    """Computes a convolution without padding in tiles, in float32."""
    tile, size = sums.shape
    tiles = x.unfold(2, size, tile).unfold(3, size, tile)
    of_inputs = torch.einsum("ai,ncyxij,bj->abncyx", inputs, tiles, inputs)
    of_kernels = torch.einsum("ai,ocij,bj->aboc", kernels, weight, kernels)
    products = torch.einsum("aboc,abncyx->abnoyx", of_kernels, of_inputs)
    result = torch.einsum("ka,abnoyx,lb->noykxl", sums, products, sums)
    return result.reshape(x.shape[0], len(weight), x.shape[2] - 2, x.shape[3] - 2)


def _in_taps(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """Computes a convolution without padding as a product for each tap, in float32.

    PyTorch's convolution has other errors on each processor.
    """
    windows = x.unfold(2, 3, 1).unfold(3, 3, 1)
    taps = (torch.einsum("oc,ncyx->noyx", weight[..., i, j], windows[..., i, j]) for i in range(3) for j in range(3))
    return functools.reduce(torch.add, taps)


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

    def test_slices_of_volumes(self) -> None:
        for kernel, stride, padding, changes in (
            ((1, 3, 3), (1, 1, 1), (0, 1, 1), ["multiplied in tiles of 4 by 4"]),
            ((3, 3, 3), (1, 1, 1), (1, 1, 1), []),
            ((1, 3, 3), (1, 1, 1), (1, 1, 1), []),
            ((1, 3, 3), (2, 1, 1), (0, 1, 1), []),
            ((3, 1, 1), (1, 1, 1), (1, 0, 0), []),
        ):
            with self.subTest(kernel=kernel, stride=stride, padding=padding):
                layers = (torch.nn.Conv3d(3, 64, 1), torch.nn.Conv3d(64, 64, kernel, stride, padding))
                module, inputs = torch.nn.Sequential(*layers).eval(), (torch.rand(2, 3, 2, 16, 20),)
                rewritten = rewriting.rewrite(module, inputs, self._NAMES)
                self.assertEqual([change.what for change in rewritten.changes["winograd"]], changes)
                rewriting.compare(module, rewritten, inputs)
                rewritten.emit()

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

    def test_error_growth(self) -> None:
        """Tests the factors against the transforms, and against the errors of tiles that are computed in float32."""
        torch.manual_seed(0)
        x, weight = torch.randn(1, 256, 34, 34), torch.randn(64, 256, 3, 3)
        expected = torch.nn.functional.conv2d(x.double(), weight.double())
        direct = _in_taps(x, weight) - expected
        for tile, points in _POINTS.items():
            sums, kernels, inputs = _transforms(tile, points)
            sizes = (kernels.norm(dim=1) * inputs.norm(dim=1)).square()
            growth = (sums.square() @ sizes / 3).mean().item()
            self.assertAlmostEqual(growth, winograd_convolution.ERROR_GROWTH[tile], delta=0.005)
            result = _in_tiles(x, weight, sums, kernels, inputs)
            self.assertLess((result.double() - expected).norm() / expected.norm(), 1e-5)
            self.assertAlmostEqual((result - expected).norm() / direct.norm(), growth, delta=0.3 * growth)

    def test_samples_have_error_growth(self) -> None:
        for layer, size, growth in (
            ("Conv2d(64, 64, 3, padding=1)", "34, 36", 4),
            ("Conv2d(64, 1024, 3)", "14, 14", 2),
            ("Conv2d(64, 4, 3)", "66, 66", None),
        ):
            init = f"self.first = torch.nn.Conv2d(3, 64, 3)\nself.layer = torch.nn.{layer}"
            source = model_file(
                "return self.layer(self.first(x)).amax(dim=(2, 3))", f"torch.rand(1, 3, {size})", init=init
            )
            samples = FlatTensorSerializer().deserialize(self.export(source, self._NAMES).ptd)
            entry = samples.named_data.get("forward/0/error_growth")
            found = None if entry is None else samples.buffers[entry.buffer_index]
            expected = None if growth is None else struct.pack("<d", winograd_convolution.ERROR_GROWTH[growth])
            self.assertEqual(found, expected)

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
