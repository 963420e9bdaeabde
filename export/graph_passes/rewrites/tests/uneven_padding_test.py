"""Tests of the pass uneven_padding."""

from __future__ import annotations

import torch
from absl.testing import absltest

from export.graph_passes.calls import (
    FusedConvolution,
)
from export.graph_passes.tests.pass_test_case import (
    CONVOLUTION_OUT,
    PassTestCase,
    padded_model,
)


class UnevenPaddingTest(PassTestCase):
    def test_acts(self) -> None:
        for pad in ("(0, 1, 0, 1)", "(2, 0)", "(1, 1)"):
            self.check(
                "uneven_padding",
                padded_model(pad),
                changes=["zeros that a convolution pads itself"],
                calls=[CONVOLUTION_OUT],
            )

    def test_leaves(self) -> None:
        calls = ["aten::constant_pad_nd.out", "aten::convolution.out"]
        for source in (
            padded_model("(0, 1), value=0.5"),
            padded_model("(0, 0, 0, 0, 0, 1)", "Conv2d(4, 4, 3)"),
            padded_model("(0, 1)", "ConvTranspose2d(3, 4, 3)"),
        ):
            self.check("uneven_padding", source, changes=[], calls=calls)

    def test_operator(self) -> None:
        x, weight, bias = torch.rand(1, 4, 7, 6), torch.rand(6, 2, 3, 3), torch.rand(6)
        args = (x, weight, bias, [2, 1], [0, 1], [1, 0], [1, 1], 2, "clamp", 0.0, 1.0)
        operator = FusedConvolution.overload()
        padded = torch.nn.functional.pad(x, (1, 0, 0, 1))
        expected = torch.nn.functional.conv2d(padded, weight, bias, stride=(2, 1), groups=2).clamp(0, 1)
        torch.testing.assert_close(operator(*args), expected)
        self.assertEqual(torch.ops.rules_executorch.fused_convolution.out._schema.name, operator.name())


if __name__ == "__main__":
    absltest.main()
