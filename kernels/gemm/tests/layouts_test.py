"""Tests that graph passes and kernels use the layouts that layouts.yaml describes.

Weights that passes pack are unpacked in C++, and the reverse. packed_weights.cpp uses the layout functions of kernels.
The environment variable PACKED_WEIGHTS_LIBRARY names the library, and LAYOUTS names layouts.yaml.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import os
import random
from collections.abc import Callable, Mapping
from pathlib import Path
from types import CodeType
from typing import Any

import torch
import yaml
from absl.testing import absltest
from torch.nn import functional

from export.graph_passes import packing
from export.graph_passes.operators import packed_convolution, packed_linear, packed_recurrent

_CASES = 16
_FLOATS = (torch.float32, torch.float16, torch.bfloat16)
# The names of float panels in layouts.yaml.
_OF_FLOATS = "packed_linear, packed_embedding; a group of packed_convolution or winograd_convolution"
_OF_BFLOAT16 = "packed_linear, packed_embedding; a group of packed_convolution; of BFloat16"


class LayoutsTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.library = ctypes.CDLL(str(Path(os.environ["PACKED_WEIGHTS_LIBRARY"]).absolute()))
        self.layouts = {layout["layout"]: layout for layout in yaml.safe_load(Path(os.environ["LAYOUTS"]).read_text())}
        self.random = random.Random(1)
        torch.manual_seed(1)

    def size(self, most: int, least: int = 1) -> int:
        return self.random.randint(least, most)

    def weight(self, *shape: int, dtype: torch.dtype = torch.int8, bits: int = 7) -> torch.Tensor:
        """Random integers that all dtypes can represent."""
        return torch.randint(-(2 ** (bits - 1)), 2 ** (bits - 1), shape).to(dtype)

    def copy(self, name: str, packs: bool, packed: torch.Tensor, weight: torch.Tensor, *sizes: int) -> None:
        """Calls a function of packed_weights.cpp."""
        pointers = (ctypes.c_void_p(tensor.data_ptr()) for tensor in (packed, weight))
        getattr(self.library, name)(ctypes.c_bool(packs), *pointers, *map(ctypes.c_int64, sizes))

    def check(
        self,
        name: str,
        weight: torch.Tensor,
        packed: torch.Tensor,
        unpack: Callable[[torch.Tensor], torch.Tensor],
        *sizes: int,
    ) -> None:
        """Tests that kernels read the layout that a pass writes, and the reverse.

        Args:
            name: the function of packed_weights.cpp.
            weight: the weight.
            packed: the weight, packed by a pass.
            unpack: the pass's function that unpacks a weight.
            sizes: the other arguments of the function.
        """
        read, written = torch.zeros_like(weight), torch.zeros_like(packed)
        self.copy(name, False, packed, read, *sizes)
        self.copy(name, True, written, weight, *sizes)
        case = f"{name}{(*weight.shape, *sizes)}"
        self.assertTrue(torch.equal(read, weight), f"{case}: packed in Python, read in C++")
        self.assertTrue(torch.equal(unpack(written), weight), f"{case}: packed in C++, read in Python")
        self.assertTrue(torch.equal(written, packed), f"{case}: packed in Python and in C++")

    def check_described(self, layout: str, of: str, weight: torch.Tensor, packed: torch.Tensor, **more: int) -> None:
        """Compares a weight of shape (N, K) that a pass has packed with the description in layouts.yaml.

        Args:
            layout: the layout.
            of: which of its elements.
            weight: the weight.
            packed: the packed weight.
            **more: further numbers of the description.
        """
        line = {line["of"]: line for line in self.layouts[layout]["elements"]}[of]
        constants = {name: constant["value"] for name, constant in self.layouts[layout]["constants"].items()}
        names = {**constants, **more, "N": weight.shape[0], "K": weight.shape[1]}
        described = torch.zeros(_numbers(line, "shape", {**names, "n": 0, "k": 0}), dtype=torch.int16)
        for n, k in itertools.product(*map(range, weight.shape)):
            element = int(weight[n, k])
            at = _numbers(line, "at", {**names, "n": n, "k": k})
            if "half" in line:
                (half,) = _numbers(line, "half", {**names, "n": n, "k": k})
                element = (element & 15) << 4 * half
            (described if len(at) > 1 else described.view(-1))[at] += element
        self.assertEqual(described.shape, packed.shape, of)
        self.assertTrue(torch.equal(described.to(packed.dtype), packed), f"{of}: {tuple(weight.shape)}")

    def test_linear(self) -> None:
        for dtype in _FLOATS * _CASES:
            has_pairs = dtype == torch.bfloat16
            outputs, inputs = self.size(120), self.size(20) * (2 if has_pairs else 1)
            weight = self.weight(outputs, inputs, dtype=dtype)
            packed = packed_linear.pack(weight)
            unpack = functools.partial(packed_linear.unpack, features=outputs)
            self.check("copy_linear", weight, packed, unpack, dtype.itemsize, outputs, inputs, has_pairs)
            of = _OF_BFLOAT16 if has_pairs else _OF_FLOATS
            self.check_described("float_panel", of, weight, packed)

    def test_recurrent(self) -> None:
        for dtype, gates in itertools.product(_FLOATS * (_CASES // 4), (4, 3, 1)):
            units, inputs = self.size(60), self.size(20)
            weight = self.weight(gates * units, inputs, dtype=dtype)
            packed = packed_recurrent.pack(weight, gates)
            unpack = functools.partial(packed_recurrent.unpack, gates=gates, units=units)
            self.check("copy_recurrent", weight, packed, unpack, dtype.itemsize, gates * units, inputs, gates)
            of = "packed_gru, packed_lstm, packed_rnn, of G gates"
            self.check_described("float_panel", of, weight, packed, G=gates)

    def test_convolution(self) -> None:
        for dtype in _FLOATS * _CASES:
            groups, outputs, kernel = self.random.choice((1, 1, 2, 3)), self.size(110), (self.size(4), self.size(4))
            weight = self.weight(groups * outputs, self.size(7, least=2), *kernel, dtype=dtype)
            packed = packed_convolution.pack(weight, groups)
            if dtype == torch.bfloat16 and groups == 1:
                weight = functional.pad(weight, (0, 0, 0, 0, 0, weight.shape[1] % 2))
            channels, positions = weight.shape[1], kernel[0] * kernel[1]
            has_pairs = dtype == torch.bfloat16 and channels % 2 == 0
            unpack = functools.partial(
                packed_convolution.unpack, kernel_size=kernel, out_channels=groups * outputs, groups=groups
            )
            sizes = (dtype.itemsize, groups, outputs, channels, positions, has_pairs)
            self.check("copy_convolution", weight, packed, unpack, *sizes)
            of = _OF_BFLOAT16 if has_pairs else _OF_FLOATS
            for group, panels in zip(weight.chunk(groups), packed, strict=True):
                self.check_described("float_panel", of, group.permute(0, 2, 3, 1).flatten(1), panels)

    def test_depthwise(self) -> None:
        for dtype in _FLOATS * _CASES:
            channels, kernel = self.size(60, least=2), (self.size(4), self.size(4))
            weight = self.weight(channels, 1, *kernel, dtype=dtype)
            packed = packed_convolution.pack(weight, channels)
            unpack = functools.partial(
                packed_convolution.unpack, kernel_size=kernel, out_channels=channels, groups=channels
            )
            self.check("copy_depthwise", weight, packed, unpack, dtype.itemsize, channels, kernel[0] * kernel[1])
            of = "packed_convolution with a group for each channel"
            self.check_described("float_panel", of, weight.flatten(1), packed)

    def test_transposed_convolution(self) -> None:
        """Tests the order of the kernel positions, which the kernel's test packs and multiplies in the same order."""
        for stride in itertools.product((1, 2, 3, 4), repeat=2):
            kernel, dilation = [self.size(4) + step for step in stride], [self.random.choice((1, 5)) for _ in stride]
            padding, groups, outputs = [self.size(3, least=0) for _ in stride], self.size(2), self.size(20)
            weight = self.weight(groups * self.size(4), outputs, *kernel, dtype=torch.float32)

            def in_order(
                position: tuple[int, ...],
                axes: tuple[tuple[int, int, int], ...] = tuple(zip(dilation, padding, stride, strict=True)),
            ) -> tuple[int, ...]:
                phases = ((at * far - before) % step for at, (far, before, step) in zip(position, axes, strict=True))
                return *phases, *(-at for at in position)

            positions = sorted(itertools.product(*map(range, kernel)), key=in_order)
            of_groups = torch.cat([part.transpose(0, 1) for part in weight.chunk(groups)])
            ordered = torch.stack([of_groups[:, :, y, x] for y, x in positions], 2).unsqueeze(2)
            self.assertTrue(
                torch.equal(
                    packed_convolution.pack_transposed(weight, groups, stride, padding, dilation),
                    packed_convolution.pack(ordered, groups),
                ),
                f"kernel {kernel}, stride {stride}, padding {padding}, dilation {dilation}, {groups} groups",
            )

    def test_bytes(self) -> None:
        for _ in range(_CASES):
            weight = self.weight(self.size(50), self.size(30))
            packed = packing.panels_of_rows(weight)
            unpack = functools.partial(packing.rows_of_panels, rows=weight.shape[0], columns=weight.shape[1])
            self.check("copy_bytes", weight, packed, unpack, packed.shape[1], *weight.shape)
            of = "quantized_linear; a group of quantized_convolution"
            self.check_described("byte_panel", of, weight, packed)

    def test_quantized_convolution(self) -> None:
        for _ in range(_CASES):
            groups, outputs, channels = self.random.choice((1, 1, 2, 3)), self.size(40), self.size(9, least=2)
            kernel = [self.size(6), self.size(4)]
            weight = self.weight(groups * outputs, channels, *kernel)
            packed = packing.panels_of_convolution(weight, groups)
            unpack = self.unpack_of_bytes(weight, groups)
            sizes = (groups, outputs, channels, kernel[0] * kernel[1])
            self.check("copy_quantized_convolution", weight, packed, unpack, *sizes)
            of = "quantized_linear; a group of quantized_convolution"
            for group, panels in zip(weight.chunk(groups), packed.chunk(groups), strict=True):
                self.check_described("byte_panel", of, group.permute(0, 2, 3, 1).flatten(1), panels)

    def test_quantized_depthwise(self) -> None:
        for _ in range(_CASES):
            channels, height, width = self.size(40, least=2), self.size(9), self.size(5)
            weight = self.weight(channels, 1, height, width)
            packed = packing.panels_of_convolution(weight, channels)
            unpack = self.unpack_of_bytes(weight, channels)
            self.check("copy_quantized_depthwise", weight, packed, unpack, channels, height, width)

    def unpack_of_bytes(self, weight: torch.Tensor, groups: int) -> Callable[[torch.Tensor], torch.Tensor]:
        channels, in_channels, *kernel = weight.shape
        return functools.partial(
            packing.convolution_of_panels,
            channels=channels,
            in_channels=in_channels,
            kernel_size=kernel,
            groups=groups,
        )

    def test_dynamic(self) -> None:
        for bits in (4, 8) * _CASES:
            weight = self.weight(self.size(50), self.size(40), bits=bits)
            packed = packing.panels_of_dynamic_rows(weight, bits)
            unpack = functools.partial(packing.rows_of_dynamic_panels, rows=weight.shape[0], columns=weight.shape[1])
            name = "copy_dynamic_nibbles" if bits == 4 else "copy_bytes"
            self.check(name, weight, packed, unpack, packed.shape[1], *weight.shape)
            self.check_described("byte_panel", f"dynamic_linear with weights of {bits} bits", weight, packed)

    def test_scales(self) -> None:
        for _ in range(_CASES):
            scales = self.weight(self.size(50), self.size(5), dtype=torch.float32)
            packed = packing.panels_of_columns(scales)
            unpack = functools.partial(packing.columns_of_panels, rows=scales.shape[0])
            self.check("copy_scales", scales, packed, unpack, *scales.shape)
            self.check_described("byte_panel", "scales of dynamic_linear, of group k of a row", scales, packed)

    def test_rows(self) -> None:
        for _ in range(_CASES):
            weight = self.weight(self.size(50), self.size(4) * packing.BLOCK_OF_NIBBLES, bits=4)
            packed = packing.pack_nibbles(weight)
            self.check("copy_row_nibbles", weight, packed, packing.unpack_nibbles, *weight.shape)
            of = "weight_only_linear with weights of 4 bits"
            self.check_described("quantized_row", of, weight + 8, packed)


def _numbers(line: Mapping[str, Any], field: str, names: Mapping[str, int]) -> tuple[int, ...]:
    """The numbers of a field of a line, with the given values of names."""
    known: dict[str, Any] = {"up": lambda a, b: -(-a // b), **names}
    return tuple(eval(_compiled(f"[{line[field]}]"), known))


@functools.cache
def _compiled(text: str) -> CodeType:
    return compile(text, "layouts.yaml", "eval")


if __name__ == "__main__":
    absltest.main()
