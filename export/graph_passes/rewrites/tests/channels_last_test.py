"""Tests of the pass channels_last."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence

import torch
from absl.testing import absltest, parameterized
from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower
from torch import nn
from torch.nn import functional

from export.exporter import Exported
from export.graph_passes import graphs, padding_operators, passes
from export.graph_passes.calls import (
    PackedConvolution,
)
from export.graph_passes.operators import packed_convolution
from export.graph_passes.rewrites import channels_last
from export.graph_passes.tests import rewriting
from export.graph_passes.tests.pass_test_case import (
    PACKED_CONVOLUTION_OUT,
    PassTestCase,
    model_file,
)

_ATEN = torch.ops.aten
_Function = Callable[[torch.Tensor], torch.Tensor]


def _normalized(y: torch.Tensor) -> torch.Tensor:
    ones = torch.ones(y.shape[1])
    return functional.batch_norm(y, ones, ones * 2)


def _normalized_in_groups(y: torch.Tensor) -> torch.Tensor:
    weight = torch.linspace(0.5, 2.0, y.shape[1])
    return functional.group_norm(y, max(y.shape[1] // 4, 1), weight, weight - 1)


# For each carrier, calls of it that give images.
_CARRIERS: Mapping[str, tuple[_Function, ...]] = {
    "aten::_native_batch_norm_legit_no_training": (_normalized,),
    "aten::abs": (torch.abs,),
    "aten::add.Scalar": (lambda y: _ATEN.add.Scalar(y, 1.0),),
    "aten::add.Tensor": (lambda y: y + 1.0, lambda y: y + y.abs(), lambda y: y.amax((0, 1), True) + y),
    "aten::amax": (lambda y: y.amax(2, keepdim=True), lambda y: y * y.amax((2, 3), keepdim=True)),
    "aten::cat": (lambda y: torch.cat([y, y.abs()], 2), lambda y: torch.cat([y, y], 3)),
    "aten::clamp": (lambda y: y.clamp(-1, 1),),
    "aten::constant_pad_nd": (lambda y: functional.pad(y, (1, 2, 0, 1)), lambda y: functional.pad(y, (0, 1))),
    "aten::div.Scalar": (lambda y: _ATEN.div.Scalar(y, 2.0),),
    "aten::div.Tensor": (lambda y: y / (y.abs() + 2),),
    "aten::elu": (functional.elu,),
    "aten::exp": (torch.exp,),
    "aten::gelu": (functional.gelu,),
    "aten::hardtanh": (functional.hardtanh,),
    "aten::leaky_relu": (functional.leaky_relu,),
    "aten::max_pool2d_with_indices": (
        lambda y: functional.max_pool2d(y, 2, padding=1),
        lambda y: functional.max_pool2d(y, 3, stride=2, padding=1),
    ),
    "aten::maximum": (lambda y: torch.maximum(y, y.neg()),),
    "aten::minimum": (lambda y: torch.minimum(y.neg(), y),),
    "aten::native_group_norm": (_normalized_in_groups, lambda y: functional.group_norm(y, 1)),
    "aten::mul.Scalar": (lambda y: _ATEN.mul.Scalar(y, 2.0),),
    "aten::mul.Tensor": (lambda y: y * y.sigmoid(), lambda y: y * torch.arange(float(y.shape[1]))[:, None, None]),
    "aten::neg": (torch.neg,),
    "aten::permute_copy": (lambda y: y.permute(0, 1, 3, 2),),
    # A reflection needs more pixels than its width.
    "aten::reflection_pad2d": (
        lambda y: functional.pad(functional.interpolate(y, scale_factor=3.0), (1, 2, 0, 1), mode="reflect"),
    ),
    "aten::relu": (torch.relu,),
    "aten::replication_pad2d": (lambda y: functional.pad(y, (1, 0, 2, 1), mode="replicate"),),
    "aten::sigmoid": (torch.sigmoid,),
    "aten::sqrt": (lambda y: y.abs().sqrt(),),
    "aten::sub.Scalar": (lambda y: _ATEN.sub.Scalar(y, 2.0),),
    "aten::sub.Tensor": (lambda y: y - y.abs(),),
    "aten::tanh": (torch.tanh,),
    "aten::upsample_bilinear2d.vec": (
        lambda y: functional.interpolate(y, scale_factor=2.0, mode="bilinear"),
        lambda y: functional.interpolate(y, scale_factor=(1.5, 2.0), mode="bilinear", align_corners=True),
    ),
    "aten::upsample_nearest2d.vec": (
        lambda y: functional.interpolate(y, scale_factor=2.0),
        lambda y: functional.interpolate(y, scale_factor=(2.0, 1.5)),
    ),
    "rules_executorch::activation": (functional.hardswish, functional.mish),
}
# The same for volumes.
_CARRIERS_OF_VOLUMES: Mapping[str, tuple[_Function, ...]] = {
    "aten::_native_batch_norm_legit_no_training": (_normalized,),
    "aten::add.Tensor": (lambda y: y + 1.0, lambda y: y + y.abs(), lambda y: y.amax((0, 1), True) + y),
    "aten::amax": (lambda y: y.amax(2, keepdim=True), lambda y: y * y.amax((2, 3, 4), keepdim=True)),
    "aten::cat": (lambda y: torch.cat([y, y.abs()], 2), lambda y: torch.cat([y, y], 4)),
    "aten::constant_pad_nd": (lambda y: functional.pad(y, (1, 2, 0, 1, 1, 0)), lambda y: functional.pad(y, (0, 1))),
    "aten::max_pool3d_with_indices": (
        lambda y: functional.max_pool3d(y, 2, padding=1),
        lambda y: functional.max_pool3d(y, (1, 3, 3), stride=(1, 2, 2), padding=(0, 1, 1)),
    ),
    "aten::mul.Tensor": (lambda y: y * torch.arange(float(y.shape[1]))[:, None, None, None],),
    "aten::native_group_norm": (_normalized_in_groups,),
    "aten::permute_copy": (lambda y: y.permute(0, 1, 3, 2, 4),),
    "aten::relu": (torch.relu,),
}
_OTHERS: tuple[_Function, ...] = (
    functional.softplus,
    functional.mish,
    functional.hardswish,
    lambda y: y.abs().log1p(),
    lambda y: y.flip(3),
    lambda y: y.cumsum(2),
    lambda y: y.softmax(1),
    lambda y: y.mean((2, 3), keepdim=True),
    lambda y: y.transpose(1, 2),
    lambda y: y.permute(0, 2, 3, 1).abs(),
    lambda y: y.transpose(2, 3).contiguous(),
    lambda y: y.flatten(1),
    lambda y: y.unsqueeze(1),
    lambda y: y[:, :, :1],
    lambda y: functional.avg_pool2d(y, 3, padding=1),
)


class _Between(nn.Module):
    """Functions of a convolution's result, and the next convolution of theirs."""

    def __init__(
        self,
        channels: int,
        functions: Sequence[_Function],
        *,
        is_followed: bool = False,
        layer: Callable[..., nn.Module] = nn.Conv2d,
    ) -> None:
        super().__init__()
        # The first layer pays for copies behind the second.
        self.first = nn.Sequential(layer(48, 48, 3, padding=1), layer(48, channels, 3, padding=1))
        self.next = layer(channels, 8, 3, padding=1)
        self.functions, self.is_followed = functions, is_followed

    def forward(self, x: torch.Tensor) -> list[torch.Tensor]:
        y = self.first(x)
        results = [function(y) for function in self.functions]
        if self.is_followed:
            results += [self.next(one) for one in results]
        return [one.amax(-1) for one in results]


def _image(height: int, width: int) -> tuple[torch.Tensor]:
    return (torch.rand(2, 48, height, width),)


class CarriersTest(parameterized.TestCase):
    def test_all_are_here(self) -> None:
        self.assertSameElements({*_CARRIERS, *_CARRIERS_OF_VOLUMES}, channels_last._CARRIERS)

    @parameterized.named_parameters((name.removeprefix("aten::").replace(".", "_"), name) for name in _CARRIERS)
    def test_sizes_that_vary(self, name: str) -> None:
        module = _Between(16, _CARRIERS[name], is_followed=True).eval()
        sizes = ({2: torch.export.Dim("height", min=5, max=64), 3: torch.export.Dim("width", min=5, max=64)},)
        names = ["channels_last", "padding_modes", "written_activations"]
        rewritten = rewriting.rewrite(module, _image(12, 12), names, sizes)
        (carried, *_) = [node for node in rewritten.program.graph.nodes if graphs.name_of(node) == name]
        source = carried.all_input_nodes[0]
        self.assertTrue(graphs.is_channels_last(graphs.value(source)), source.format_node())
        if name in padding_operators.OF_IMAGES:
            self.assertTrue(graphs.is_channels_last(graphs.value(carried)), carried.format_node())
        rewriting.compare(module, rewritten, _image(12, 12), _image(9, 24), _image(5, 64))
        rewritten.emit()


_SIZES_OF_VOLUMES = ((16, 3, 4, 5), (1, 3, 4, 5), (16, 1, 1, 1), (16, 1, 4, 5), (16, 3, 4, 1))


class VolumesTest(parameterized.TestCase):
    @parameterized.named_parameters((name.removeprefix("aten::"), name) for name in _CARRIERS_OF_VOLUMES)
    def test_carriers(self, name: str) -> None:
        for channels, *sizes in _SIZES_OF_VOLUMES:
            module = _Between(channels, _CARRIERS_OF_VOLUMES[name], is_followed=True, layer=nn.Conv3d).eval()
            inputs = (torch.rand(2, 48, *sizes),)
            rewritten = rewriting.rewrite(module, inputs, ["channels_last"])
            (carried, *_) = [node for node in rewritten.program.graph.nodes if graphs.name_of(node) == name]
            for source in carried.all_input_nodes[:1]:
                self.assertTrue(graphs.is_channels_last(graphs.value(source)), source.format_node())
            rewriting.compare(module, rewritten, inputs)
            rewritten.emit()

    def test_sizes_that_vary(self) -> None:
        module = _Between(16, (torch.relu, lambda y: y.amax(2, keepdim=True)), is_followed=True, layer=nn.Conv3d).eval()
        sizes = {dim: torch.export.Dim(name, min=2, max=16) for dim, name in ((2, "depth"), (4, "width"))}
        rewritten = rewriting.rewrite(module, (torch.rand(2, 48, 4, 5, 6),), ["channels_last"], (sizes,))
        self.assertNotEmpty(rewritten.changes["channels_last"])
        rewriting.compare(module, rewritten, (torch.rand(2, 48, 4, 5, 6),), (torch.rand(2, 48, 7, 5, 3),))
        rewritten.emit()

    def test_other_calls(self) -> None:
        functions: tuple[_Function, ...] = (
            lambda y: functional.avg_pool3d(y, 1),
            lambda y: functional.adaptive_avg_pool3d(y, 1),
            lambda y: functional.interpolate(y, scale_factor=2.0),
            lambda y: y.amax(2),
            lambda y: y.flatten(1, 2),
            lambda y: y.transpose(1, 2),
            lambda y: y[:, :, 0],
            lambda y: functional.conv_transpose3d(y, torch.ones(y.shape[1], 16, 2, 2, 2), stride=2),
        )
        for channels, *sizes in _SIZES_OF_VOLUMES:
            module, inputs = _Between(channels, functions, layer=nn.Conv3d).eval(), (torch.rand(2, 48, *sizes),)
            rewritten = rewriting.rewrite(module, inputs, ["channels_last"])
            self.assertNotEmpty(rewritten.changes["channels_last"])
            rewriting.compare(module, rewritten, inputs)
            rewritten.emit()

    def test_leaves(self) -> None:
        for layer in (
            nn.Conv3d(16, 32, 3).double(),
            nn.ConvTranspose3d(16, 32, 3),
            nn.Conv3d(16, 16, 3, groups=16),  # The copies cost more than the layer gains.
        ):
            inputs = (torch.rand(2, 16, 4, 5, 6).to(layer.weight.dtype),)
            rewritten = rewriting.rewrite(layer.eval(), inputs, ["channels_last"])
            self.assertEmpty(rewritten.changes["channels_last"])
            rewriting.compare(layer, rewritten, inputs)


class GuardsTest(absltest.TestCase):
    def test_example_image_of_one_pixel(self) -> None:
        """For the example, the contiguous result is channels-last, too. A guard of the export says so."""
        module = nn.Conv2d(4, 64, 5, stride=3, padding=1).eval()
        auto = torch.export.Dim.AUTO
        rewritten = rewriting.rewrite(module, (torch.rand(4, 5, 4),), ["channels_last"], ({1: auto, 2: auto},))
        self.assertNotEmpty(rewritten.changes["channels_last"])
        rewriting.compare(module, rewritten, (torch.rand(4, 5, 4),), (torch.rand(4, 9, 8),))
        rewritten.emit()


_SHAPES = ((8, 6, 6), (1, 6, 6), (8, 1, 1), (1, 1, 1), (8, 1, 5), (8, 5, 1), (1, 1, 5), (1, 5, 1))


class OrdersTest(parameterized.TestCase):
    @parameterized.parameters(*enumerate(_SHAPES))
    def test_carriers(self, number: int, shape: tuple[int, int, int]) -> None:
        self._check(number, shape, tuple(one for functions in _CARRIERS.values() for one in functions))

    @parameterized.parameters(*enumerate(_SHAPES))
    def test_other_calls(self, number: int, shape: tuple[int, int, int]) -> None:
        transposed = (lambda y, other=other: other(y).transpose(1, -1) for other in _OTHERS)
        self._check(number, shape, (*_OTHERS, *transposed))

    def _check(self, number: int, shape: tuple[int, int, int], functions: Sequence[_Function]) -> None:
        channels, height, width = shape
        module, inputs = _Between(channels, rewriting.sampled(functions, 3, number)).eval(), _image(height, width)
        rewritten = rewriting.rewrite(module, inputs, ["channels_last", "padding_modes"])
        self.assertNotEmpty(rewritten.changes["channels_last"])
        rewriting.compare(module, rewritten, inputs)
        rewritten.emit()


class ChannelsLastTest(PassTestCase):
    _COPY = "dim_order_ops::_to_dim_order_copy.out"
    _LAYER = "aten::convolution of channels-last tensors"

    def _export(self, forward: str, init: str, names: Sequence[str] = ("channels_last",)) -> Exported:
        layers = f"{init}\nself.a = torch.nn.Conv2d(3, 32, 3)\nself.b = torch.nn.Conv2d(32, 64, 3, padding=1)"
        return self.export(model_file(forward, "torch.rand(1, 3, 18, 18)", init=layers), names)

    def test_acts(self) -> None:
        exported = self._export(
            "return self.b(self.c(torch.relu(self.a(x)))).amax(dim=(2, 3))",
            "self.c = torch.nn.Conv2d(32, 32, 5, groups=32, stride=2, padding=2)",
        )
        self.assertEqual(self.changes(exported, "channels_last"), [self._LAYER] * 3)
        self.assertEqual(self.calls(exported), ["aten::amax.out", "aten::relu.out", PACKED_CONVOLUTION_OUT])

    def test_carries(self) -> None:
        """Nothing is copied between the layers."""
        for between in (
            "torch.nn.functional.pad(y, (1, 2, 0, 1))",
            "torch.nn.functional.max_pool2d(y, 2)",
            "torch.nn.functional.interpolate(y, scale_factor=2)",
            "torch.cat([y, y.sigmoid()], dim=2)",
            "y * y.amax(dim=(2, 3), keepdim=True)",
            "y * self.scale + 1.0",
            "torch.nn.functional.batch_norm(y, self.variance, self.variance)",
            "torch.nn.functional.group_norm(y, 4, self.variance)",
        ):
            with self.subTest(between):
                forward = f"y = self.a(x)\nreturn self.b({between}).amax(dim=(2, 3))"
                init = "self.scale = torch.nn.Parameter(torch.rand(32, 1, 1))"
                init += "\nself.register_buffer('variance', torch.rand(32))"
                exported = self._export(forward, init)
                self.assertEqual(self.changes(exported, "channels_last"), [self._LAYER] * 2)
                self.assertNotIn(self._COPY, self.calls(exported))

    def test_copies_at_borders(self) -> None:
        forward = "y = self.b(self.a(x))\nreturn self.c(y.view(1, 64, 8, 32)), y"
        exported = self._export(forward, "self.c = torch.nn.Conv2d(64, 64, 3)")
        # For the view and for the caller, once; the last layer's input and result.
        copies = ["copied from channels-last"] * 2 + ["copied to channels-last"]
        self.assertEqual(self.changes(exported, "channels_last"), [self._LAYER] * 3 + copies)

    def test_a_copy_for_several_regions(self) -> None:
        """The copy of the input is too expensive for the first layer alone. It counts for the layer that runs first."""
        init = "self.small, self.large = torch.nn.Conv2d(96, 96, 1), torch.nn.Conv2d(96, 96, 3, padding=1)"
        for layers, count in (("self.small(x), self.large(x)", 1), ("self.large(x), self.small(x)", 2)):
            source = model_file(f"return {layers}", "torch.rand(1, 96, 8, 8)", init=init)
            for _ in range(3):
                exported = self.export(source, ["channels_last"])
                changes = self.changes(exported, "channels_last")
                self.assertEqual(changes.count(self._LAYER), count)

    def test_acts_on_what_is_channels_last(self) -> None:
        source = "x = x.to(memory_format=torch.channels_last)\nreturn self.b(torch.relu(self.a(x)))"
        exported = self._export(source, "pass")
        self.assertEqual(self.changes(exported, "channels_last"), [self._LAYER] * 2)

    def test_factorized_volumes(self) -> None:
        """The layers of a block of R(2+1)D keep the order, with all that is between them."""
        exported = self.export(
            model_file(
                "y = torch.relu(self.a(x))\nreturn torch.relu(self.c(self.b(y)) + y).amax(dim=(2, 3, 4))",
                "torch.rand(1, 3, 4, 18, 18)",
                init="self.a = torch.nn.Conv3d(3, 32, (1, 7, 7), (1, 2, 2), padding=(0, 3, 3))\n"
                "self.b = torch.nn.Conv3d(32, 48, (1, 3, 3), padding=(0, 1, 1))\n"
                "self.c = torch.nn.Conv3d(48, 32, (3, 1, 1), padding=(1, 0, 0))",
            ),
            ["channels_last", "addends", "activations"],
        )
        self.assertEqual(self.changes(exported, "channels_last"), [self._LAYER] * 3)
        self.assertEqual(self.calls(exported), ["aten::amax.out", PACKED_CONVOLUTION_OUT])

    def test_volumes_of_other_steps(self) -> None:
        for layer in (
            "Conv3d(32, 48, 3, padding=2, stride=(2, 1, 2))",
            "Conv3d(32, 48, (3, 1, 2), padding=1, dilation=(1, 2, 1))",
            "Conv3d(32, 48, (2, 1, 1), stride=(2, 1, 1), groups=2)",
            "Conv3d(32, 48, 1, stride=2)",
            "Conv3d(32, 48, (1, 5, 5), padding=(0, 2, 2), padding_mode='reflect')",
            "Conv3d(32, 48, 3).half()",
            "Conv3d(32, 48, 3).bfloat16()",
        ):
            with self.subTest(layer):
                dtype = next((one for one in ("half", "bfloat16") if one in layer), "float")
                init = f"self.layer = torch.nn.{layer}\nself.first = torch.nn.Conv3d(3, 32, 3).{dtype}()"
                source = "return self.layer(self.first(x)).amax(dim=(2, 3, 4))"
                exported = self.export(model_file(source, f"torch.rand(1, 3, 6, 7, 8).{dtype}()", init=init), ["all"])
                self.assertIn(PACKED_CONVOLUTION_OUT, self.calls(exported))
                self.assertNotIn("rules_executorch::fused_convolution.out", self.calls(exported))

    def test_leaves(self) -> None:
        images = "torch.rand(1, 32, 16, 16)"
        for layer, inputs in (
            # The copies cost more than the layer gains.
            ("Conv2d(32, 32, 3, groups=32)", images),
            ("Conv2d(32, 2, 1)", images),
            # Panels would be empty mostly.
            ("Conv2d(32, 32, 9, groups=8)", images),
            ("ConvTranspose2d(32, 32, 3, groups=32)", images),
            ("ConvTranspose2d(32, 4, 9, stride=2)", images),
            ("ConvTranspose2d(32, 64, 3, stride=(4, 1))", images),
            ("ConvTranspose2d(32, 64, 4, stride=2, dilation=2)", images),
            ("ConvTranspose2d(32, 64, 5).double()", f"{images}.double()"),
            ("Conv2d(32, 64, 5).double()", f"{images}.double()"),
            ("Conv1d(4, 64, 25)", "torch.rand(1, 4, 88)"),
        ):
            with self.subTest(layer):
                init = f"self.layer = torch.nn.{layer}"
                source = model_file("return self.layer(x)", inputs, init=init)
                self.check("channels_last", source, changes=[], calls=["aten::convolution.out"])
        source = model_file("return torch.nn.functional.conv2d(x, others[0])", images, "torch.rand(64, 32, 5, 5)")
        self.check("channels_last", source, changes=[], calls=["aten::convolution.out"])

    def test_leaves_layers_before_empty_images(self) -> None:
        """ExecuTorch refuses the strides of channels-last images without elements."""
        calls = ["aten::constant_pad_nd.out", "aten::convolution.out", "aten::relu.out"]
        for channels in (1, 64):
            for pad in (f"0, 0, 0, 0, 0, -{channels}", "0, 0, -16, 0"):
                with self.subTest(channels=channels, pad=pad):
                    forward = f"return torch.nn.functional.pad(self.layer(x).relu(), ({pad}))"
                    init = f"self.layer = torch.nn.Conv2d(32, {channels}, 3, padding=1)"
                    exported = self.export(
                        model_file(forward, "torch.rand(1, 32, 16, 16)", init=init), ["channels_last"]
                    )
                    self.assertEqual(self.changes(exported, "channels_last"), [])
                    self.assertEqual(self.calls(exported), calls)

    def test_values(self) -> None:
        class Network(torch.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.first = torch.nn.Conv2d(3, 50, 3, stride=2)
                self.depthwise = torch.nn.Conv2d(50, 50, 3, padding=1, groups=50)
                self.groups = torch.nn.Conv2d(50, 50, 3, padding=(1, 2), dilation=(1, 2), groups=2)
                self.last = torch.nn.Conv2d(50, 100, 3)

            def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
                x = torch.nn.functional.pad(self.first(x).relu(), (0, 1, 0, 0))
                y = torch.nn.functional.hardtanh(self.depthwise(x) + x)
                z = (x + self.groups(y)).sigmoid() + y
                return self.last(z).flatten(1), y

        network, inputs = Network().eval(), (torch.rand(2, 3, 21, 19),)
        names = ("uneven_padding", "channels_last", "addends", "activations")
        edge = to_edge_transform_and_lower(
            torch.export.export(network, inputs), compile_config=EdgeCompileConfig(_check_ir_validity=False)
        )
        program = edge.exported_program()
        for one in passes.select(names):
            self.assertNotEqual(len(passes.apply(one, program)), 0, one.name)
        torch.testing.assert_close(program.module()(*inputs), network(*inputs), rtol=1e-4, atol=1e-4)

    def test_half_precision(self) -> None:
        forward = "return self.b(self.c(torch.relu(self.a(x)))).amax(dim=(2, 3))"
        init = "self.c = torch.nn.Conv2d(32, 32, 5, groups=32, stride=2, padding=2)"
        for dtype in ("half", "bfloat16"):
            layers = f"{init}\nself.a = torch.nn.Conv2d(3, 32, 3)\nself.b = torch.nn.Conv2d(32, 64, 3)\nself.{dtype}()"
            source = model_file(forward, f"torch.rand(1, 3, 18, 18).{dtype}()", init=layers)
            exported = self.export(source, ["channels_last", "activations"])
            self.assertEqual(self.changes(exported, "channels_last"), [self._LAYER] * 3)
            self.assertEqual(self.calls(exported), ["aten::amax.out", PACKED_CONVOLUTION_OUT])

    def test_operator(self) -> None:
        operator = PackedConvolution.overload()
        for (shape, groups), dtype in itertools.product(
            (((70, 8, 3, 2), 1), ((40, 4, 3, 2), 2), ((8, 1, 3, 2), 8)), (torch.float32, torch.bfloat16)
        ):
            x, weight, bias = (torch.rand(sizes).to(dtype) for sizes in ((2, 8, 7, 6), shape, shape[:1]))
            packed = packed_convolution.pack(weight, groups)
            steps = ([2, 1], [0, 1], [1, 0], [1, 2])
            expected = torch.nn.functional.conv2d(
                torch.nn.functional.pad(x, (1, 0, 0, 1)), weight, bias, (2, 1), 0, (1, 2), groups
            )
            addend = torch.rand_like(expected)
            args = (x, packed, bias, addend, [3, 2], shape[0], *steps, groups, "clamp", 0.0, 9.0)
            result = (expected + addend).clamp(0, 9)
            tolerance = 1e-5 if dtype == torch.float32 else 0.02
            torch.testing.assert_close(operator(*args), result, rtol=tolerance, atol=tolerance)
        self.assertEqual(torch.ops.rules_executorch.packed_convolution.out._schema.name, operator.name())

    def test_operator_of_volumes(self) -> None:
        operator = PackedConvolution.overload()
        for (shape, groups), dtype in itertools.product(
            (((70, 8, 2, 3, 2), 1), ((40, 4, 2, 3, 2), 2), ((8, 1, 2, 3, 2), 8)), (torch.float32, torch.bfloat16)
        ):
            x, weight, bias = (torch.rand(sizes).to(dtype) for sizes in ((2, 8, 4, 7, 6), shape, shape[:1]))
            steps = ([1, 2, 1], [1, 0, 1], [0, 1, 0], [1, 1, 2])
            padded = torch.nn.functional.pad(x, (1, 0, 0, 1, 1, 0))
            expected = torch.nn.functional.conv3d(padded, weight, bias, (1, 2, 1), 0, (1, 1, 2), groups)
            packed = packed_convolution.pack(weight, groups)
            result = operator(x, packed, bias, None, [2, 3, 2], shape[0], *steps, groups)
            tolerance = 1e-5 if dtype == torch.float32 else 0.02
            torch.testing.assert_close(result, expected, rtol=tolerance, atol=tolerance)
            self.assertTrue(result.is_contiguous(memory_format=torch.channels_last_3d))


if __name__ == "__main__":
    absltest.main()
