"""Tests that operators of ours are in PyTorch what own_custom_ops.yaml says.

Where tests run graphs (tests/rewriting.py), each operator is compared with its fake and with its out variant.
"""

import dataclasses
import functools
import itertools
import math
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
import yaml
from absl.testing import absltest
from torch._subclasses import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv, StatelessSymbolicContext
from torch.utils import _pytree as pytree

import export
from export.graph_passes import calls, graphs, packing
from export.graph_passes.operators import (
    packed_convolution,
    packed_linear,
    packed_recurrent,
    registration,
)

_YAML = Path(export.__path__[0]).parent / "kernels/optimized/own_custom_ops.yaml"
_SCHEMAS = {entry["func"].partition("(")[0]: entry["func"] for entry in yaml.safe_load(_YAML.read_text())}
_VIEWS = [one for one in vars(calls).values() if getattr(one, "OPERATOR", "").startswith(f"{registration.NAMESPACE}::")]


@dataclasses.dataclass(frozen=True)
class _Call:
    """A call of an operator.

    Attributes:
        operator: the class of its view.
        args: its arguments.
        kwargs: its arguments by keyword.
    """

    operator: type[registration.OwnCall[Any]]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any] = dataclasses.field(default_factory=dict)


def _linear_calls(x: torch.Tensor, features: int) -> Iterator[_Call]:
    """Calls of the operators for linear layers, whose weights have `features` rows."""
    inputs = x.shape[-1]
    weight, one = torch.randint(-8, 8, (features, inputs), dtype=torch.int8), torch.ones(features)
    yield _Call(calls.PackedLinear, (x, packed_linear.pack(torch.rand(features, inputs)), None, features))
    yield _Call(calls.WeightOnlyLinear, (x, weight, one[:, None], None))
    panels, scales = packing.panels_of_dynamic_rows(weight, 8), packing.panels_of_columns(one[:, None])
    yield _Call(calls.DynamicLinear, (x, panels, scales, one, None, False, 1e-6))
    of_rows = packing.panels_of_rows(weight)
    yield _Call(calls.QuantizedLinear, (x.to(torch.int8), of_rows, one, one, None, -128, 127, torch.int8))
    yield _Call(calls.RmsNorm, (x, None, 1, 1e-5))


def _image_calls(x: torch.Tensor, channels: int) -> Iterator[_Call]:
    """Calls of the operators for images, with `channels` output channels."""
    weight, one = torch.rand(channels, x.shape[1], 3, 3), torch.ones(channels)
    addend, ends = torch.rand(x.shape[0], channels, *x.shape[2:]), ([1, 1], [1, 1])
    steps = ([1, 1], *ends, [1, 1], 1)
    packed = packed_convolution.pack(weight, 1)
    yield _Call(calls.PackedConvolution, (x, packed, None, addend, [3, 3], channels, *steps))
    yield _Call(calls.PackedConvolution, (x, packed, None, None, [3, 3], channels, *steps, "clamp", 0.0, 1.0))
    yield _Call(calls.WinogradConvolution, (x, packed, None, addend, channels, 2, *ends))
    yield _Call(calls.FusedConvolution, (x, weight, None, *steps))
    integers = x.to(torch.int8)
    panels = packing.panels_of_convolution(weight.to(torch.int8), 1)
    steps_of_bytes = ([3, 3], [1, 1], [1, 1, 1, 1], [1, 1], 1, 0, -128, 127, torch.int8)
    yield _Call(calls.QuantizedConvolution, (integers, panels, one, one, None, *steps_of_bytes))
    yield _Call(calls.QuantizedLookup, (integers, torch.arange(256, dtype=torch.uint8)))
    yield _Call(calls.QuantizedAdd, (integers, integers, 1.0, 1.0, 0.0, -128, 127, torch.int8))


def _recurrent_calls(x: torch.Tensor, units: int) -> Iterator[_Call]:
    """Calls of the operators for recurrent layers of `units` hidden units, with a row of images as a sequence."""
    x, features = x[..., 0], x.shape[2]
    for view, gates, more in ((calls.PackedLstm, 4, (0,)), (calls.PackedGru, 3, ()), (calls.PackedRnn, 1, ())):
        weights = [torch.rand(gates * units, size) for size in (features, units)]
        biases = [torch.rand(gates * units) for _ in weights]
        packed = packed_recurrent.pack_network([*weights, *biases], gates, has_biases=True, has_projections=False)
        for batch_first in (False, True):
            state = torch.rand(1, x.shape[0 if batch_first else 1], units)
            states = (state, None) if gates == 4 else (state,)
            flags = (units, *more, 1, True, False, batch_first, *(("tanh",) if gates == 1 else ()))
            yield _Call(view, (x, *states, packed, *flags))


def _other_calls(x: torch.Tensor) -> Iterator[_Call]:
    """Calls of attention, with a tensor as queries, keys and values, and of an embedding."""
    for by_token in (False, True):
        names = ("query_by_token", "key_by_token", "value_by_token", "out_by_token")
        yield _Call(calls.OwnScaledDotProductAttention, (x, x, x), dict.fromkeys(names, by_token))
    yield _Call(calls.PackedEmbedding, (packed_linear.pack(torch.rand(9, 4)), x.long(), 9))
    yield _Call(calls.Activation, (x, "hardswish"))
    for keeps in (False, True):
        yield _Call(calls.ImageMean, (x, keeps))


def _orders(shape: tuple[int, ...]) -> Iterator[torch.Tensor]:
    """Tensors in several dim orders: contiguous, as PyTorch's channels-last images, and turned."""
    x = torch.rand(shape)
    yield x
    yield x.contiguous(memory_format=torch.channels_last)
    # `contiguous` leaves the strides of images that are contiguous and channels-last.
    yield torch.empty_strided(shape, (math.prod(shape[1:]), 1, shape[1] * shape[3], shape[1])).copy_(x)
    yield x.permute(3, 1, 0, 2).contiguous().permute(2, 1, 3, 0)


class DimOrdersTest(absltest.TestCase):
    """Tests that results have the declared dim orders, with the strides that PyTorch gives contiguous tensors."""

    # No size of 1; one channel; one pixel; one column; one number.
    _SHAPES = ((2, 3, 5, 4), (2, 1, 5, 4), (2, 3, 1, 1), (2, 3, 5, 1), (1, 1, 1, 1))

    def _check_all(self, call: _Call, results: Any) -> None:
        for name, result in zip(call.operator.RESULTS, pytree.tree_leaves(results), strict=True):
            self._check(call, name, result)

    def _check(self, call: _Call, name: str, result: torch.Tensor) -> None:
        message = f"{name} of {call.operator.OPERATOR} of {[getattr(one, 'shape', one) for one in call.args]}"
        declared = call.operator.DIM_ORDERS[name]
        usual = torch.empty(result.shape).stride()
        if declared == "contiguous":
            self.assertEqual(result.stride(), usual, message)
        if declared == "channels_last":
            fits_both = result.shape[1] == 1 or result.shape[2:] == (1, 1)
            last = torch.empty(result.shape, memory_format=torch.channels_last).stride()
            self.assertEqual(result.stride(), usual if fits_both else last, message)
        if declared.startswith("like "):
            other = getattr(call.operator.bind(call.args, call.kwargs), declared.removeprefix("like "))
            self.assertEqual(graphs.dim_order(result), graphs.dim_order(other), message)
        if graphs.is_contiguous(result):
            self.assertEqual(result.stride(), usual, message)

    def test_results(self) -> None:
        tested = set()
        for shape, channels in itertools.product(self._SHAPES, (6, 1)):
            for x in _orders(shape):
                for call in (
                    *_linear_calls(x, channels),
                    *_image_calls(x, channels),
                    *_recurrent_calls(x, channels),
                    *_other_calls(x),
                ):
                    tested.add(call.operator)
                    operator = call.operator.overload()
                    with FakeTensorMode() as mode:
                        args = pytree.tree_map_only(torch.Tensor, mode.from_tensor, call.args)
                        fake = operator(*args, **call.kwargs)
                    result = operator(*call.args, **call.kwargs)
                    self._check_all(call, result)
                    for one, other in zip(pytree.tree_leaves(fake), pytree.tree_leaves(result), strict=True):
                        self.assertEqual((one.shape, one.stride()), (other.shape, other.stride()))
                    self._check_all(call, fake)
        self.assertCountEqual(tested, _VIEWS)

    def test_sizes_that_vary_get_no_guards(self) -> None:
        for x in _orders((2, 3, 5, 4)):
            # The channels of an image and the features of a row are static.
            for call, vary in [
                *((one, (True, True, True, False)) for one in _linear_calls(x, 6)),
                *((one, (True, False, True, True)) for one in _image_calls(x, 6)),
                *((one, (True, True, False)) for one in _recurrent_calls(x, 6)),
            ]:
                if call.operator is calls.FusedConvolution:
                    continue  # PyTorch's convolution compares the number of images with 16.
                shapes = ShapeEnv()
                with FakeTensorMode(shape_env=shapes) as mode:
                    dims = [DimDynamic.DYNAMIC if one else DimDynamic.STATIC for one in vary]
                    first = mode.from_tensor(call.args[0], symbolic_context=StatelessSymbolicContext(dims))
                    fake_of = functools.partial(mode.from_tensor, static_shapes=True)
                    others = pytree.tree_map_only(torch.Tensor, fake_of, call.args[1:])
                    args = [
                        first if given is call.args[0] else one
                        for given, one in zip(call.args[1:], others, strict=True)
                    ]
                    before = [str(guard.expr) for guard in shapes.guards]
                    result = call.operator.overload()(first, *args)
                self.assertEqual([str(guard.expr) for guard in shapes.guards], before, call.operator.OPERATOR)
                fits = {"contiguous": graphs.is_contiguous, "channels_last": graphs.is_channels_last}
                for name, one in zip(call.operator.RESULTS, pytree.tree_leaves(result), strict=True):
                    declared = call.operator.DIM_ORDERS[name]
                    if declared in fits:
                        self.assertTrue(fits[declared](one), call.operator.OPERATOR)


class OperatorsTest(absltest.TestCase):
    def test_schemas(self) -> None:
        names = {view.overload()._schema.name for view in _VIEWS}
        self.assertEqual(names, {name.removesuffix(".out") for name in _SCHEMAS})
        for name, text in _SCHEMAS.items():
            out = torch._C.parse_schema(text)
            namespace, operator = name.removesuffix(".out").split("::")
            registered = getattr(getattr(torch.ops, namespace), operator)
            self.assertEqual(registered.out._schema, out)
            without_outs = re.sub(r"(, \*)?(, Tensor\([a-z]!\) \w+)+\)", ")", text.replace(".out(", "("))
            functional = torch._C.parse_schema(re.sub(r"Tensor\([a-z]!\)", "Tensor", without_outs))
            self.assertEqual(registered.default._schema, functional)
            self.assertCountEqual(registered.overloads(), ["default", "out"])

    def test_an_operator_that_no_file_computes(self) -> None:
        class Unknown(registration.OwnCall[Any]):
            OPERATOR = "rules_executorch::unknown"

        with self.assertRaisesRegex(LookupError, "export/graph_passes/rewrites implements rules_executorch::unknown"):
            Unknown.overload()


class PackedConvolutionTest(absltest.TestCase):
    def test_nan_in_the_next_pixel(self) -> None:
        x = torch.zeros(2, 3, 8, 8, dtype=torch.bfloat16).contiguous(memory_format=torch.channels_last)
        x[:, :, 1:7, 1:7] = torch.nan
        weight = torch.ones(1, 3, 1, 1, dtype=torch.bfloat16)
        arguments = (None, None, [1, 1], 1, [1, 1], [0, 0], [0, 0], [1, 1], 1)
        call = calls.PackedConvolution.overload()
        result = call(x, packed_convolution.pack(weight, 1), *arguments)
        self.assertTrue(torch.equal(result.isnan(), x[:, :1].isnan()))


class RegistrationTest(absltest.TestCase):
    def test_only_what_is_called_is_registered(self) -> None:
        program = (
            "import torch\n"
            "from export.graph_passes import calls, passes\n"
            "calls.RmsNorm.overload()\n"
            "names = [n for n in torch._C._dispatch_get_all_op_names() if n.startswith('rules_executorch::')]\n"
            "print(sorted(names))\n"
        )
        printed = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
        self.assertEqual(printed.splitlines()[-1], "['rules_executorch::rms_norm', 'rules_executorch::rms_norm.out']")


if __name__ == "__main__":
    absltest.main()
