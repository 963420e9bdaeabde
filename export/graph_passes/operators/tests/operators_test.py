"""Tests that operators of ours are in PyTorch what own_custom_ops.yaml says, and that fakes tell what these give."""

import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
import yaml
from absl.testing import absltest, parameterized
from torch._subclasses import FakeTensorMode
from torch.utils import _pytree as pytree

import export
from export.graph_passes import calls, packing
from export.graph_passes.operators import packed_convolution, packed_linear, registration, winograd_convolution

_YAML = Path(export.__path__[0]).parent / "kernels/optimized/own_custom_ops.yaml"
_SCHEMAS = {entry["func"].partition("(")[0]: entry["func"] for entry in yaml.safe_load(_YAML.read_text())}
# Gives arguments of a call.
_Sample = Callable[[], tuple[Any, ...]]


def _image(channels: int, *, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(2, channels, 7, 6).to(dtype).to(memory_format=torch.channels_last)


def _bytes(*shape: int, dtype: torch.dtype = torch.int8) -> torch.Tensor:
    return torch.randint(0, 256, shape).to(torch.uint8).view(dtype)


def _packed_convolution(channels: int, groups: int, *, dtype: torch.dtype = torch.float32) -> tuple[Any, ...]:
    weight = packed_convolution.pack(torch.randn(channels, 8 // groups, 3, 2).to(dtype), groups)
    steps = ([2, 1], [0, 1], [1, 0], [1, 2])
    addend = torch.randn(2, channels, 3, 5).to(dtype).to(memory_format=torch.channels_last)
    return _image(8, dtype=dtype), weight, torch.randn(channels).to(dtype), addend, [3, 2], channels, *steps, groups


def _quantized_convolution(groups: int, dtype: torch.dtype, table: torch.Tensor | None) -> tuple[Any, ...]:
    weight = packing.panels_of_convolution(_bytes(12, 8 // groups, 3, 2), groups)
    image = _bytes(2, 8, 7, 6).to(memory_format=torch.channels_last)
    window = ([3, 2], [2, 1], [0, 1, 1, 0], [1, 2], groups)
    return image, weight, torch.rand(12), torch.randn(12), table, *window, 3, -128, 127, dtype


def _dynamic_linear(bits: int, is_symmetric: bool) -> tuple[Any, ...]:
    weight = packing.panels_of_dynamic_rows(torch.randint(-8, 8, (20, 64)).to(torch.int8), bits)
    scale = packing.panels_of_columns(torch.rand(20, 2))
    return torch.randn(2, 3, 64), weight, scale, torch.randn(20), torch.randn(20), is_symmetric, 1e-6


def _attention() -> tuple[Any, ...]:
    return torch.randn(2, 4, 5, 6), torch.randn(2, 2, 7, 6), torch.randn(2, 2, 7, 3)


_SAMPLES: Mapping[type[registration.OwnCall[Any]], tuple[_Sample, ...]] = {
    calls.DynamicLinear: tuple(
        lambda bits=bits, is_symmetric=is_symmetric: _dynamic_linear(bits, is_symmetric)  # type: ignore[misc]
        for bits in (4, 8)
        for is_symmetric in (False, True)
    ),
    calls.FusedConvolution: (
        lambda: (torch.randn(2, 4, 7), torch.randn(6, 2, 3), torch.randn(6), [2], [1], [0], [1], 2, "gelu"),
        lambda: (_image(4), torch.randn(6, 4, 3, 2), None, [2, 1], [0, 1], [1, 2], [1, 2], 1, "clamp", 0.0, 6.0),
    ),
    calls.OwnScaledDotProductAttention: (
        lambda: (*_attention(), None, True),
        lambda: (torch.randn(2, 5, 4, 6), *_attention()[1:], torch.rand(5, 7) < 0.9, False, {"query_by_token": True}),
        lambda: (*_attention(), None, False, {"out_by_token": True, "scale": 0.5}),
    ),
    calls.PackedConvolution: (
        lambda: _packed_convolution(70, 1),
        lambda: (*_packed_convolution(40, 2, dtype=torch.bfloat16), "silu"),
        lambda: (*_packed_convolution(8, 8), "clamp", -1.0, 1.0),
    ),
    calls.PackedEmbedding: (
        lambda: (packed_linear.pack(torch.randn(50, 8)), torch.randint(0, 50, (2, 3)), 50),
        lambda: (packed_linear.pack(torch.randn(50, 8).bfloat16()), torch.randint(0, 50, (4,)), 50),
    ),
    calls.PackedLinear: (
        lambda: (torch.randn(2, 3, 8), packed_linear.pack(torch.randn(50, 8)), torch.randn(50), 50, "gelu_tanh"),
        lambda: (torch.randn(8, 3).t(), packed_linear.pack(torch.randn(48, 8)), None, 48),
    ),
    calls.QuantizedAdd: (
        lambda: (_bytes(2, 3), _bytes(3, dtype=torch.uint8), 0.5, 0.25, 1.0, 0, 255, torch.uint8),
        lambda: (_bytes(2, 3, 4).transpose(0, 2), _bytes(2, 3, 4).transpose(0, 2), 1.0, 2.0, 3.0, -8, 7, torch.int8),
    ),
    calls.QuantizedConvolution: (
        lambda: _quantized_convolution(1, torch.int8, _bytes(256)),
        lambda: _quantized_convolution(2, torch.float32, None),
    ),
    calls.QuantizedLinear: (
        lambda: (
            *(_bytes(3, 40), packing.panels_of_rows(_bytes(20, 40)), torch.rand(20), torch.randn(20)),
            *(None, -128, 127, torch.int8),
        ),
        lambda: (
            *(_bytes(2, 3, 40), packing.panels_of_rows(_bytes(20, 40)), torch.rand(20), torch.randn(20)),
            *(_bytes(256, dtype=torch.uint8), 0, 255, torch.uint8),
        ),
    ),
    calls.QuantizedLookup: (
        lambda: (_bytes(2, 3), _bytes(256, dtype=torch.uint8)),
        lambda: (_bytes(2, 8, 7, 6).to(memory_format=torch.channels_last), _bytes(256)),
    ),
    calls.RmsNorm: (
        lambda: (torch.randn(2, 3, 8), torch.rand(3, 8), 2, 1e-5),
        lambda: (torch.randn(2, 3, 8).transpose(0, 1).bfloat16(), None, 1, 1e-5),
    ),
    calls.WeightOnlyLinear: (
        lambda: (torch.randn(3, 64), _bytes(6, 64), torch.rand(6, 2), torch.randn(6)),
        lambda: (torch.randn(2, 3, 64).half(), packing.pack_halves(_bytes(6, 64) >> 4), torch.rand(6, 1), None),
    ),
    calls.WinogradConvolution: tuple(
        lambda tile=tile, channels=channels: (  # type: ignore[misc]
            *(_image(8), winograd_convolution.pack(torch.randn(channels, 8, 3, 3), tile), torch.randn(channels)),
            *(None, channels, [0, 1], [1, 0], "sigmoid"),
        )
        for tile, channels in ((2, 70), (4, 16))
    ),
}


def _sample(make: _Sample) -> tuple[tuple[Any, ...], dict[str, Any]]:
    *args, last = make()
    return (tuple(args), last) if isinstance(last, dict) else ((*args, last), {})


class OperatorsTest(parameterized.TestCase):
    def setUp(self) -> None:
        super().setUp()
        torch.manual_seed(0)

    def test_schemas(self) -> None:
        schemas = {str(view.overload()._schema): view for view in _SAMPLES}
        self.assertLen(schemas, len(_SCHEMAS))
        for name, text in _SCHEMAS.items():
            out = torch._C.parse_schema(text)
            namespace, operator = name.removesuffix(".out").split("::")
            registered = getattr(getattr(torch.ops, namespace), operator)
            self.assertEqual(registered.out._schema, out)
            functional = torch._C.parse_schema(
                text.replace(".out(", "(")
                .replace(", *, Tensor(a!) out)", ")")
                .replace(", Tensor(a!) out)", ")")
                .replace("Tensor(a!)", "Tensor")
            )
            self.assertEqual(registered.default._schema, functional)
            self.assertCountEqual(registered.overloads(), ["default", "out"])

    @parameterized.named_parameters((view.__name__, view) for view in _SAMPLES)
    def test_fakes(self, view: type[registration.OwnCall[Any]]) -> None:
        for make in _SAMPLES[view]:
            args, kwargs = _sample(make)
            result = view.overload()(*args, **kwargs)
            with FakeTensorMode() as mode:
                fakes = pytree.tree_map_only(torch.Tensor, mode.from_tensor, (args, kwargs))
                fake = view.overload()(*fakes[0], **fakes[1])
            for one in (fake, view.overload()(*args, **kwargs)):
                self.assertEqual((one.shape, one.dtype), (result.shape, result.dtype))
                self.assertEqual(one.stride(), result.stride())

    @parameterized.named_parameters((view.__name__, view) for view in _SAMPLES)
    def test_opcheck(self, view: type[registration.OwnCall[Any]]) -> None:
        for make in _SAMPLES[view]:
            torch.library.opcheck(view.overload(), *_sample(make))

    @parameterized.named_parameters((view.__name__, view) for view in _SAMPLES)
    def test_out_variants(self, view: type[registration.OwnCall[Any]]) -> None:
        for make in _SAMPLES[view]:
            args, kwargs = _sample(make)
            result = view.overload()(*args, **kwargs)
            out = torch.zeros_like(result)
            self.assertIs(view.overload().overloadpacket.out(*args, **kwargs, out=out), out)
            torch.testing.assert_close(out, result, rtol=0, atol=0, equal_nan=True)

    def test_an_operator_that_no_file_computes(self) -> None:
        class Unknown(registration.OwnCall[Any]):
            OPERATOR = "rules_executorch::unknown"

        with self.assertRaisesRegex(LookupError, "export/graph_passes/operators implements rules_executorch::unknown"):
            Unknown.overload()


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
