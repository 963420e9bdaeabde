"""Makes a module from a spec, as the text of a model file."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType

import torch

from export.fuzz import steps
from export.fuzz.quantization import QUANTIZATIONS, Quantization
from export.fuzz.spec import Pick, Spec
from export.fuzz.writer import Input, Writer


def steps_of(module: ModuleType) -> dict[str, Callable[[Writer, Pick], None]]:
    """Returns the steps of a module by their kinds: the public functions that the module defines."""
    return {
        name: function
        for name, function in vars(module).items()
        if inspect.isfunction(function) and function.__module__ == module.__name__ and not name.startswith("_")
    }


KINDS = {
    kind: step
    for module in pkgutil.iter_modules(steps.__path__)
    for kind, step in steps_of(importlib.import_module(f"{steps.__name__}.{module.name}")).items()
}

_DTYPES = (torch.float32, torch.float32, torch.float32, torch.float16, torch.bfloat16)
# Sizes of the first input: images, tokens, rows and empty tensors.
_SIZES = (
    *((2, 8, 8, 8), (2, 5, 16), (1, 3, 9, 7), (3, 16), (1, 16, 12, 10), (2, 32, 6, 6), (2, 6, 10), (8, 7, 7)),
    *((1, 4, 5, 4, 6), (2, 48), (1, 33, 5, 5), (16,), (1, 1, 48), (2, 4, 5, 16), (0, 8, 6, 6), (2, 0, 16), ()),
    *((2, 16, 8, 6), (1, 1, 9, 9), (2, 12, 1, 1), (2, 4, 6, 8), (1, 8, 12, 12)),
)
# The layouts of the inputs: images are often channels-last.
_CHANNELS_LAST = (
    *((2, 8, 8, 8), (1, 16, 12, 10), (2, 16, 8, 6), (1, 1, 9, 9), (3, 1, 8, 16), (2, 12, 1, 1), (2, 8, 2, 3)),
    *((1, 32, 6, 6), (2, 3, 12, 8)),
)
_FIRST = (*((sizes, "") for sizes in _SIZES), *((sizes, "channels_last") for sizes in _CHANNELS_LAST))
_LAYOUTS = ("channels_last", "channels_last", "", "channels_last", "permuted", "strided", "", "expanded", "transposed")
_SPECIAL = ("", "", 'float("nan")', 'float("inf")', '-float("inf")')
_TEMPLATE = '''\
"""Made by //export/fuzz of {spec}"""

import math

import torch
from torch import cond, nn
from torch._higher_order_ops.map import map as map_rows
from torch._higher_order_ops.scan import scan
from torch.nn import functional as F
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
from torch.nn.utils import prune


class Model(nn.Module):
    def __init__(self):
        super().__init__()
{init}

    def forward(self, {takes}):
{forward}
        return {gives}


def _with(tensor, value):
    tensor.view(-1)[::5] = value
    return tensor


def get_model():
    model = Model().eval(){memory_format}
    for name, tensor in model.state_dict().items():
        if "norm" in name and tensor.is_floating_point():
            tensor.copy_(torch.rand_like(tensor) + 0.5)
    return model{cast}, ({example},)


def get_sample_inputs():
    torch.manual_seed(1)
    return [{samples}]
'''
_DYNAMIC = """

def get_dynamic_shapes():
    return {shapes}
"""


@dataclass(frozen=True)
class Draft:
    """A module before the symbolic sizes are known.

    Attributes:
        spec: the spec of the module.
        kinds: the kinds of the steps that are in the module, without those that were left out.
        inputs: the inputs.
        init: the lines of the constructor.
        forward: the lines of forward().
        gives: the names of the returned values.
        dtype: the dtype of all floating-point tensors.
        is_channels_last: whether weights and buffers of 4 dimensions are channels-last.
        special: a Python expression of a number that occurs in the floats of one sample; empty for none.
        wants_dynamic: whether sizes may vary.
        quantization: the quantization; None for none.
    """

    spec: Spec
    kinds: tuple[str, ...]
    inputs: tuple[Input, ...]
    init: tuple[str, ...]
    forward: tuple[str, ...]
    gives: tuple[str, ...]
    dtype: torch.dtype
    is_channels_last: bool
    special: str
    wants_dynamic: bool
    quantization: Quantization | None

    def source(self, sizes: Sequence[Sequence[tuple[int, ...]]] = ()) -> str:
        """Returns the text of the model file.

        Args:
            sizes: the sizes of all inputs, for each further sample with other sizes than the example.
        """
        own_sizes = [one.sizes for one in self.inputs]
        # One sample hides state that is lost.
        count = 3 if any("register_buffer" in line for line in self.init) else 2
        samples = [self._values(own_sizes)] * count + [*map(self._values, sizes)]
        if self.special:
            samples.append(self._values(own_sizes, self.special))
        text = _TEMPLATE.format(
            spec=self.spec,
            init=textwrap.indent("\n".join(self.init) or "pass", " " * 8),
            forward=textwrap.indent("\n".join(self.forward) or "pass", " " * 8),
            takes=", ".join(f"x{index}" for index in range(len(self.inputs))),
            gives=f"({', '.join(self.gives)},)",
            memory_format=".to(memory_format=torch.channels_last)" if self.is_channels_last else "",
            cast="" if self.dtype == torch.float32 else f".to({self.dtype})",
            example=self._values(own_sizes)[1:-2],
            samples=", ".join(samples),
        )
        if self.quantization is not None:
            text = self.quantization.added_to(text)
        if self.wants_dynamic:
            text += _DYNAMIC.format(shapes=f"({', '.join(map(_automatic, self.inputs))},)")
        return text

    def _values(self, sizes: Sequence[tuple[int, ...]], special: str = "") -> str:
        values = (one.expression(self.dtype, of, special) for one, of in zip(self.inputs, sizes, strict=True))
        return f"({', '.join(values)},)"


def _automatic(one: Input) -> str:
    """Returns dynamic shapes with Dim.AUTO for each dimension of an input.

    A program has memory for the largest sizes, which the emulator allocates.
    """
    dims = (f"{dim}: torch.export.Dim.AUTO(max={2 * size + 8})" for dim, size in enumerate(one.sizes))
    return "{" + ", ".join(dims) + "}"


def _is_read(name: str, lines: Sequence[str]) -> bool:
    """Whether a line reads a value."""
    return any(re.search(rf"\b{name}\b", line.removeprefix(f"{name} = ")) for line in lines)


def draft(spec: Spec) -> Draft:
    """Makes a module. Leaves out a step that raises for the present values."""
    torch.manual_seed(0)
    pick = Pick(spec.inputs)
    dtype = pick(*_DTYPES)
    sizes, layout = pick(*_FIRST)
    writer = Writer(dtype, pick(layout, *_LAYOUTS), pick(False, True))
    writer.input("floats", *sizes)
    kinds = []
    for step in spec.steps:
        mark = writer.mark()
        try:
            KINDS[step.kind](writer, Pick(step.numbers))
            kinds.append(step.kind)
        except Exception:  # PyTorch raises many types of exceptions for invalid arguments.
            writer.back(mark)
    pick = Pick(spec.results)
    names = list(writer.values)
    # torch.export removes values that nothing reads. The module returns such values, too.
    unread = [name for name in names[:-1] if name.startswith("y") and not _is_read(name, writer.forward)]
    more = [name for name in (pick(names[-1], *names) for _ in range(2)) if pick(False, True)]
    gives = [names[-1], *unread, *writer.gives, *more]
    quantization = pick(None, None, None, None, *QUANTIZATIONS) if writer.dtype == torch.float32 else None
    if any(re.search(r"\b(cond|map_rows|scan)\(", line) for line in writer.forward):
        quantization = None  # No quantizer takes graphs inside graphs.
    wants_dynamic = pick(False, True) and not (quantization is not None and quantization.is_pt2e)
    if any(re.search(r"\b(map_rows|scan)\(", line) for line in writer.forward):
        wants_dynamic = False  # In an ExecuTorch program, the state and the results of loops keep their largest sizes.
    special = pick(*_SPECIAL) if quantization is None else ""
    return Draft(
        spec,
        tuple(kinds),
        tuple(writer.inputs),
        tuple(writer.init),
        tuple(writer.forward),
        tuple(gives),
        writer.dtype,
        writer.is_channels_last,
        special,
        wants_dynamic,
        quantization,
    )
