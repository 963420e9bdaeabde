"""Tests of the pass padding."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from absl.testing import absltest, parameterized

from export.graph_passes.tests import rewriting
from export.graph_passes.tests.pass_test_case import (
    QUANTIZER,
    PassTestCase,
    model_file,
    padded_model,
)

# Arguments of layers, of functions and of PyTorch's operators. EACH stands for numbers that differ by dimension.
_ARGUMENTS = (
    "padding='valid'",
    "padding='same'",
    "padding='same', dilation=2",
    "padding='same', dilation=EACH",
    "padding='valid', stride=2",
    "padding='valid', stride=EACH, dilation=EACH",
    "padding='valid', groups=32",
    "padding=0",
    "padding=1",
    "padding=EACH",
    "padding=1, stride=2, dilation=EACH",
    "padding=1, groups=4",
)
_OF_LAYERS = tuple(
    f"padding={padding}, padding_mode='{mode}'"
    for padding, mode in itertools.product(("1", "'same'"), ("circular", "reflect", "replicate"))
)
_OF_FUNCTIONS = ("padding=[1]", "stride=[2]", "dilation=[2]", "padding=[1], stride=[2], dilation=[1]", "padding=(0,)")
_OF_OPERATORS = (
    "stride=[1], padding=[0], dilation=[1], transposed=False, output_padding=[0], groups=1",
    "stride=[2], padding=[1], dilation=EACH, transposed=False, output_padding=[0], groups=1",
    "stride=[2], padding=[1], dilation=[1], transposed=True, output_padding=[1], groups=1",
)


def _sampled(kernels: Sequence[int], arguments: Sequence[str], number: int) -> Sequence[tuple[int, str]]:
    return rewriting.sampled(list(itertools.product(kernels, arguments)), 3, number)


def _model(dimensions: int, number: int, pad: str = "", kernels: Sequence[int] = (3, 2)) -> str:
    """A model that writes convolutions in many ways, each between what passes have convolutions do.

    Args:
        dimensions: of the convolutions.
        number: of the sample of ways.
        pad: what the input is padded by, as for torch.nn.functional.pad.
        kernels: the sizes of the kernels.
    """
    each = str([1, 2, 1][:dimensions])
    channels = {"groups=32": 1, "groups=4": 8}
    layers: list[str] = []
    calls: list[str] = []
    for kernel, arguments in _sampled(kernels, _ARGUMENTS + _OF_LAYERS, number):
        calls.append(f"self.layers[{len(layers)}](x)")
        layers.append(f"torch.nn.Conv{dimensions}d(32, 32, {kernel}, {arguments})")
    init = [f"self.layers = torch.nn.ModuleList([{', '.join(layers)}])"]
    for kernel, arguments in _sampled(kernels, _ARGUMENTS + _OF_FUNCTIONS, number):
        sizes = [32, channels.get(arguments.rpartition(" ")[2], 32)] + [kernel] * dimensions
        init.append(f"self.weight_{len(calls)} = torch.nn.Parameter(torch.rand({sizes}))")
        calls.append(f"torch.nn.functional.conv{dimensions}d(x, self.weight_{len(calls)}, {arguments})")
    for arguments in _OF_OPERATORS:
        init.append(f"self.weight_{len(calls)} = torch.nn.Parameter(torch.rand({[32, 32] + [3] * dimensions}))")
        calls.append(f"torch.ops.aten.convolution.default(x, self.weight_{len(calls)}, bias=None, {arguments})")
    init.append(f"self.norms = torch.nn.ModuleList([torch.nn.BatchNorm{dimensions}d(32) for _ in range({len(calls)})])")
    forward = f"""
    x = {f"torch.nn.functional.pad(x, {pad})" if pad else "x"}
    results = [{", ".join(calls)}]
    return tuple(torch.relu(norm(y)) for norm, y in zip(self.norms, results))
    """
    sizes = [1, 32, 11, 10, 9][: 2 + dimensions]
    return model_file(forward, f"torch.rand({sizes})", init="\n".join(init)).replace("EACH", each)


class SpellingsTest(PassTestCase, parameterized.TestCase):
    # How far an element may be off, as a part of the largest one.
    @parameterized.parameters(*itertools.product((1, 2, 3), ("", "EVEN", "UNEVEN")))
    def test_values(self, dimensions: int, pad: str) -> None:
        widths = {"": "", "EVEN": str([1, 1] * dimensions), "UNEVEN": str([1, 0, 2, 1, 0, 0][: 2 * dimensions])}
        # Each way of writing is in a sample of each pad and of each number of dimensions.
        source = _model(dimensions, dimensions + list(widths).index(pad), widths[pad])
        exported = self.export(source, ["default"])
        if dimensions < 3:  # ExecuTorch's kernels have no more.
            self.check_values(exported)
        acting = {one.name for one in self.export(source, ["all"]).graph_passes["forward"] if one.changes}
        wanted = {"batch_norm", "uneven_padding", "activations"}
        wanted |= {"padding"} if pad == "EVEN" else set()
        wanted |= {"channels_last"} if dimensions == 2 else set()
        self.assertContainsSubset(wanted, acting)

    @parameterized.parameters(1, 2)
    def test_values_of_bytes(self, dimensions: int) -> None:
        exported = self.export(_model(dimensions, dimensions, kernels=(3,)) + QUANTIZER, ["all"])
        self.assertNotEmpty(self.changes(exported, "quantized_layers"))


class PaddingTest(PassTestCase):
    def test_acts(self) -> None:
        for pad in ("(1, 1)", "(1, 1, 2, 2)", "(2, 2, 0, 0, 0, 0)"):
            self.check(
                "padding",
                padded_model(pad),
                changes=["zeros that a convolution pads itself"],
                calls=["aten::convolution.out"],
            )

    def test_leaves(self) -> None:
        calls = ["aten::constant_pad_nd.out", "aten::convolution.out"]
        for pad in ("(0, 1, 0, 1)", "(1, 1), value=0.5"):
            self.check("padding", padded_model(pad), changes=[], calls=calls)
        self.check("padding", padded_model("(0, 0, 0, 0, 1, 1)", "Conv2d(5, 4, 3)"), changes=[], calls=calls)
        self.check("padding", padded_model("(1, 1)", "ConvTranspose2d(3, 4, 3)"), changes=[], calls=calls)


if __name__ == "__main__":
    absltest.main()
