"""Tests of transposed convolutions in the passes convolution_1d and channels_last."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any
from unittest import mock

import hypothesis
import torch
from absl.testing import absltest, parameterized
from hypothesis import strategies as st
from torch import nn

from export.graph_passes.calls import PackedConvolution
from export.graph_passes.graphs import name_of
from export.graph_passes.operators import packed_convolution
from export.graph_passes.rewrites import channels_last
from export.graph_passes.tests import rewriting

_LAYERS: Mapping[int, Any] = {1: nn.ConvTranspose1d, 2: nn.ConvTranspose2d}
_TOLERANCES = {torch.float32: 1e-4, torch.float16: 5e-3, torch.bfloat16: 5e-2}


@st.composite
def _layers(draw: st.DrawFn) -> tuple[nn.Module, torch.Tensor]:
    """Draws a transposed convolution with all of its arguments, and an input of it."""
    dimensions, groups = draw(st.integers(1, 2)), draw(st.integers(1, 2))
    channels, outputs = (groups * draw(st.sampled_from(sizes)) for sizes in ((3, 8, 20), (2, 8, 16, 33)))

    def each(least: int, most: int) -> list[int]:
        return [draw(st.integers(least, most)) for _ in range(dimensions)]

    kernel, stride, dilation, padding, sizes = each(1, 5), each(1, 3), each(1, 3), each(0, 2), each(1, 6)
    added = [draw(st.integers(0, max(both) - 1)) for both in zip(stride, dilation, strict=True)]
    hypothesis.assume(
        all(
            (size - 1) * by + far * (extent - 1) + 1 + more > 2 * cut
            for size, by, far, extent, more, cut in zip(sizes, stride, dilation, kernel, added, padding, strict=True)
        )
    )
    dtype, is_biased = draw(st.sampled_from([*_TOLERANCES])), draw(st.booleans())
    layer = _LAYERS[dimensions](channels, outputs, kernel, stride, padding, added, groups, is_biased, dilation)
    batch = draw(st.sampled_from(([], [1], [3])))
    return layer.to(dtype).eval(), torch.randn(*batch, channels, *sizes).to(dtype)


class TransposedConvolutionTest(parameterized.TestCase):
    def test_random_layers(self) -> None:
        """All layers give PyTorch's results, and those that the kernel supports are packed."""

        def check(drawn: tuple[nn.Module, torch.Tensor]) -> None:
            layer, x = drawn
            rewritten = rewriting.rewrite(layer, (x,), ["convolution_1d", "channels_last"])
            rewriting.compare(layer, rewritten, (x,), tolerance=_TOLERANCES[x.dtype])
            packed = [call for _, call in PackedConvolution.each(rewritten.program.graph.nodes)]
            self.assertEqual([call.transposed for call in packed], [True] * self._is_supported(layer))

        settings = hypothesis.settings(
            max_examples=30, database=None, deadline=None, suppress_health_check=[*hypothesis.HealthCheck]
        )
        # No layer loses by copies.
        with mock.patch.object(channels_last, "_PRODUCTS_OF_COPY", 0):
            hypothesis.seed(0)(settings(hypothesis.given(_layers())(check)))()

    def _is_supported(self, layer: Any) -> bool:
        return layer.out_channels // layer.groups >= 8 and all(
            size >= stride and math.gcd(stride, dilation) == 1
            for size, stride, dilation in zip(layer.kernel_size, layer.stride, layer.dilation, strict=True)
        )

    @parameterized.parameters(None, 0, 2)
    def test_decoder(self, dim: int | None) -> None:
        """Tensors between the layers are not copied, and the layers apply the activations."""

        class Decoder(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.up = nn.ConvTranspose2d(32, 24, 4, stride=2, padding=1)
                self.wide = nn.ConvTranspose2d(24, 16, 3, stride=(1, 2), padding=1, output_padding=(0, 1))
                self.skip = nn.Conv2d(24, 16, (1, 1))
                self.last = nn.Conv2d(16, 3, 3)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                y = self.up(x).relu()
                skipped = nn.functional.interpolate(self.skip(y), scale_factor=(1.0, 2.0))
                result: torch.Tensor = self.last(self.wide(y).sigmoid() + skipped)
                return result

        module, x = Decoder().eval(), torch.randn(2, 32, 7, 6)
        shapes = None if dim is None else ({dim: torch.export.Dim("size", min=2, max=20)},)
        rewritten = rewriting.rewrite(module, (x,), ["all"], shapes)
        others = {None: (), 0: (torch.randn(5, 32, 7, 6),), 2: (torch.randn(2, 32, 12, 6),)}[dim]
        rewriting.compare(module, rewritten, (x,), *((one,) for one in others))
        nodes = rewritten.program.graph.nodes
        self.assertCountEqual(
            [call.transposed for _, call in PackedConvolution.each(nodes)], [True, True, False, False]
        )
        copies = [node for node in nodes if name_of(node) == "dim_order_ops::_to_dim_order_copy"]
        self.assertLen(copies, 2)  # Of the input and of the result.
        self.assertNotIn("aten::relu", map(name_of, nodes))
        self.assertNotIn("aten::sigmoid", map(name_of, nodes))
        rewritten.emit()

    def test_winograd_leaves(self) -> None:
        module, x = nn.ConvTranspose2d(64, 64, 3, padding=1).eval(), torch.randn(1, 64, 32, 32)
        rewritten = rewriting.rewrite(module, (x,), ["channels_last", "winograd"])
        rewriting.compare(module, rewritten, (x,))
        self.assertNotEmpty([*PackedConvolution.each(rewritten.program.graph.nodes)])

    def test_strides_that_gain_less_than_copies_cost(self) -> None:
        """Layers with strides may have half of the products, since the other kernel takes twice as long for them."""
        x = torch.randn(1, 64, 32, 32)
        for kernel, stride, is_packed in ((2, 2, True), (1, 1, False)):
            rewritten = rewriting.rewrite(nn.ConvTranspose2d(64, 32, kernel, stride), (x,), ["channels_last"])
            self.assertLen([*PackedConvolution.each(rewritten.program.graph.nodes)], int(is_packed))

    def test_operator(self) -> None:
        operator = PackedConvolution.overload()
        for (shape, groups), dtype in itertools.product(
            (((8, 70, 3, 2), 1), ((8, 20, 3, 2), 2)), (torch.float32, torch.bfloat16)
        ):
            x, weight, bias = (torch.rand(sizes).to(dtype) for sizes in ((2, 8, 7, 6), shape, (shape[1] * groups,)))
            stride, padding, end_padding, dilation = ([2, 1], [0, 1], [1, -1], [1, 2])
            packed = packed_convolution.pack_transposed(weight, groups, stride, padding, dilation)
            expected = self._reference(x, weight, bias, (stride, padding, end_padding, dilation), groups)
            addend = torch.rand_like(expected)
            steps = (stride, padding, end_padding, dilation, groups)
            result = operator(x, packed, bias, addend, [3, 2], len(bias), *steps, "clamp", 0.0, 9.0, True)
            tolerance = 1e-5 if dtype == torch.float32 else 0.02
            torch.testing.assert_close(result, (expected + addend).clamp(0, 9), rtol=tolerance, atol=tolerance)

    def _reference(
        self,
        x: torch.Tensor,
        weight: torch.Tensor,
        bias: torch.Tensor,
        steps: tuple[Sequence[int], Sequence[int], Sequence[int], Sequence[int]],
        groups: int,
    ) -> torch.Tensor:
        """PyTorch's result with enough outputs at the ends, without those that are removed."""
        stride, (top, left), (bottom, right), dilation = steps
        padded = nn.functional.pad(x, (0, 2, 0, 2))
        result = nn.functional.conv_transpose2d(padded, weight, bias, stride, 0, 0, groups, dilation)
        height, width = (
            (size - 1) * by + far * (kernel - 1) + 1
            for size, kernel, by, far in zip(x.shape[2:], weight.shape[2:], stride, dilation, strict=True)
        )
        return result[:, :, top : height - bottom, left : width - right]


if __name__ == "__main__":
    absltest.main()
