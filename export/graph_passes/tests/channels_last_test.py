"""Tests of the pass channels_last: sizes that vary, and sizes of 1, in everything that carries the order on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import torch
from absl.testing import absltest, parameterized
from torch import nn
from torch.nn import functional

from export.graph_passes import graphs
from export.graph_passes.rewrites import channels_last
from export.graph_passes.tests import rewriting

_ATEN = torch.ops.aten
_Function = Callable[[torch.Tensor], torch.Tensor]


def _normalized(y: torch.Tensor) -> torch.Tensor:
    ones = torch.ones(y.shape[1])
    return functional.batch_norm(y, ones, ones * 2)


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
    "aten::div.Tensor": (lambda y: y / (y.abs() + 1),),
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
    "aten::mul.Scalar": (lambda y: _ATEN.mul.Scalar(y, 2.0),),
    "aten::mul.Tensor": (lambda y: y * y.sigmoid(), lambda y: y * torch.arange(float(y.shape[1]))[:, None, None]),
    "aten::neg": (torch.neg,),
    "aten::permute_copy": (lambda y: y.permute(0, 1, 3, 2),),
    "aten::relu": (torch.relu,),
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

    def __init__(self, channels: int, functions: Sequence[_Function], *, is_followed: bool = False) -> None:
        super().__init__()
        # The first layer pays for copies behind the second.
        self.first = nn.Sequential(nn.Conv2d(48, 48, 3, padding=1), nn.Conv2d(48, channels, 3, padding=1))
        self.next = nn.Conv2d(channels, 8, 3, padding=1)
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
        self.assertSameElements(_CARRIERS, channels_last._CARRIERS)

    @parameterized.named_parameters((name.removeprefix("aten::").replace(".", "_"), name) for name in _CARRIERS)
    def test_sizes_that_vary(self, name: str) -> None:
        module = _Between(16, _CARRIERS[name], is_followed=True).eval()
        sizes = ({2: torch.export.Dim("height", min=5, max=64), 3: torch.export.Dim("width", min=5, max=64)},)
        rewritten = rewriting.rewrite(module, _image(12, 12), ["channels_last"], sizes)
        (carried, *_) = [node for node in rewritten.program.graph.nodes if graphs.name_of(node) == name]
        source = carried.all_input_nodes[0]
        self.assertTrue(graphs.is_channels_last(graphs.value(source)), source.format_node())
        rewriting.compare(module, rewritten, _image(12, 12), _image(9, 24), _image(5, 64))
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
        rewritten = rewriting.rewrite(module, inputs, ["channels_last"])
        self.assertNotEmpty(rewritten.changes["channels_last"])
        rewriting.compare(module, rewritten, inputs)
        rewritten.emit()


if __name__ == "__main__":
    absltest.main()
