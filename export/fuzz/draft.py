"""Makes a module from a spec, as the text of a model file."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from export.fuzz.quantization import QUANTIZATIONS, Quantization
from export.fuzz.spec import Pick, Spec
from export.fuzz.steps import attention, features, images, moves, state
from export.fuzz.writer import Input, Writer

KINDS = {**images.KINDS, **features.KINDS, **moves.KINDS, **attention.KINDS, **state.KINDS}

_DTYPES = (torch.float32, torch.float32, torch.float32, torch.float16, torch.bfloat16)
# Sizes of the first input: images, tokens, rows and empty tensors.
_SIZES = (
    *((2, 8, 8, 8), (2, 5, 16), (1, 3, 9, 7), (3, 16), (1, 16, 12, 10), (2, 32, 6, 6), (2, 6, 10), (8, 7, 7)),
    *((1, 4, 5, 4, 6), (2, 48), (1, 33, 5, 5), (16,), (1, 1, 48), (2, 4, 5, 16), (0, 8, 6, 6), (2, 0, 16), ()),
)
_SPECIAL = ("", "", 'float("nan")', 'float("inf")', '-float("inf")')
_TEMPLATE = '''\
"""Made by //export/fuzz of {spec}"""

import math

import torch
from torch import nn
from torch.nn import functional as F


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
    model = Model().eval()
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
        inputs: the inputs.
        init: the lines of the constructor.
        forward: the lines of forward().
        gives: the names of the returned values.
        dtype: the dtype of all floating-point tensors.
        special: a Python expression of a number that occurs in the floats of one sample; empty for none.
        wants_dynamic: whether sizes may vary.
        quantization: the quantization; None for none.
    """

    spec: Spec
    inputs: tuple[Input, ...]
    init: tuple[str, ...]
    forward: tuple[str, ...]
    gives: tuple[str, ...]
    dtype: torch.dtype
    special: str
    wants_dynamic: bool
    quantization: Quantization | None

    def source(self, sizes: Sequence[Sequence[tuple[int, ...]]] = ()) -> str:
        """Returns the text of the model file.

        Args:
            sizes: the sizes of all inputs, for each further sample with other sizes than the example.
        """
        own_sizes = [one.sizes for one in self.inputs]
        samples = [self._values(own_sizes), *map(self._values, sizes)]
        if self.special:
            samples.append(self._values(own_sizes, self.special))
        text = _TEMPLATE.format(
            spec=self.spec,
            init=textwrap.indent("\n".join(self.init) or "pass", " " * 8),
            forward=textwrap.indent("\n".join(self.forward) or "pass", " " * 8),
            takes=", ".join(f"x{index}" for index in range(len(self.inputs))),
            gives=f"({', '.join(self.gives)},)",
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
    """Returns dynamic shapes with Dim.AUTO for each dimension of an input, with sizes up to 128."""
    return "{" + ", ".join(f"{dim}: torch.export.Dim.AUTO(max=128)" for dim in range(len(one.sizes))) + "}"


def _is_read(name: str, lines: Sequence[str]) -> bool:
    """Whether a line reads a value."""
    return any(re.search(rf"\b{name}\b", line.removeprefix(f"{name} = ")) for line in lines)


def draft(spec: Spec) -> Draft:
    """Makes a module. Leaves out a step that raises for the present values."""
    torch.manual_seed(0)
    pick = Pick(spec.inputs)
    writer = Writer(pick(*_DTYPES))
    writer.input("floats", *pick(*_SIZES))
    for step in spec.steps:
        mark = writer.mark()
        try:
            KINDS[step.kind](writer, Pick(step.numbers))
        except Exception:  # PyTorch raises many types of exceptions for invalid arguments.
            writer.back(mark)
    pick = Pick(spec.results)
    names = list(writer.values)
    # torch.export removes values that nothing reads. The module returns such values, too.
    unread = [name for name in names[:-1] if name.startswith("y") and not _is_read(name, writer.forward)]
    gives = [names[-1], *unread] + [name for name in (pick(names[-1], *names) for _ in range(2)) if pick(False, True)]
    quantization = pick(None, None, None, None, *QUANTIZATIONS) if writer.dtype == torch.float32 else None
    wants_dynamic = pick(False, True) and not (quantization is not None and quantization.is_pt2e)
    special = pick(*_SPECIAL) if quantization is None else ""
    return Draft(
        spec,
        tuple(writer.inputs),
        tuple(writer.init),
        tuple(writer.forward),
        tuple(gives),
        writer.dtype,
        special,
        wants_dynamic,
        quantization,
    )
