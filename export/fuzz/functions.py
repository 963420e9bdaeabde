"""Modules that each call one function of PyTorch, with the arguments of PyTorch's samples (OpInfos).

The tensors of a sample are the inputs of its module, and all other arguments are constants.
"""

from __future__ import annotations

import functools
import importlib
import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from export.fuzz.check import quiet
from export.fuzz.quantization import Quantization

_SAMPLES_OF = "torch.testing._internal.common_methods_invocations"
# Functions with results that have no values.
_UNINITIALIZED = re.compile(r"\b(new_)?empty")
_DTYPES = (torch.float32, torch.int64, torch.bfloat16)
# The number of samples that are counted. Some functions have thousands, and the first ones are of all kinds.
_MOST_SAMPLES = 200

_TEMPLATE = '''\
"""Calls {name} with a sample of PyTorch."""

import torch

from export.fuzz import functions

_CALL = functions.call({name!r}, {dtype}, {number})


class Model(torch.nn.Module):
    def forward(self, *inputs):
        return _CALL(*inputs)


def get_model():
    return Model(), _CALL.inputs


def get_sample_inputs():
    return [_CALL.inputs, _CALL.inputs]
'''
_DYNAMIC = """

def get_dynamic_shapes():
    return (_CALL.open_sizes(),)
"""


class UnusableError(Exception):
    """A module of the sample has no inputs or no results that could be compared."""


@dataclass(frozen=True)
class Call:
    """A call of a function, with the tensors of a sample as its inputs."""

    function: Any
    leaves: Sequence[Any]
    tree: pytree.TreeSpec

    @property
    def inputs(self) -> tuple[torch.Tensor, ...]:
        return tuple(one for one in self.leaves if isinstance(one, torch.Tensor))

    def open_sizes(self) -> tuple[dict[int, Any], ...]:
        """Returns dynamic shapes with Dim.AUTO for each dimension of each input."""
        auto = torch.export.Dim.AUTO
        return tuple({dim: auto(max=2 * size + 8) for dim, size in enumerate(one.shape)} for one in self.inputs)

    def __call__(self, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Returns the tensors in the results."""
        given = iter(inputs)
        leaves = [next(given) if isinstance(one, torch.Tensor) else one for one in self.leaves]
        first, args, kwargs = pytree.tree_unflatten(leaves, self.tree)
        results = pytree.tree_leaves(self.function(first, *args, **kwargs))
        return tuple(one for one in results if isinstance(one, torch.Tensor))

    def check(self) -> None:
        """Checks that the results can be compared.

        Raises:
            UnusableError: the function is random, or there are no inputs or no results.
        """
        if not self.inputs or not all(map(_is_dense, self.inputs)):
            raise UnusableError("no dense inputs")
        with _NotRandom():
            found = self(*(one.clone() for one in self.inputs))
        if not found or not all(map(_is_dense, found)):
            raise UnusableError("no dense results")


class _NotRandom(TorchDispatchMode):
    """Refuses calls of random operators. Results of few elements are often equal although they are random."""

    def __torch_dispatch__(  # noqa: PLR0917  # The signature is PyTorch's.
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if torch.Tag.nondeterministic_seeded in func.tags:
            raise UnusableError(f"{func} is random")
        return func(*args, **(kwargs or {}))


@functools.cache
def _infos() -> Sequence[Any]:
    # This import takes seconds.
    return [*importlib.import_module(_SAMPLES_OF).op_db]


def _samples(info: Any, dtype: torch.dtype) -> Iterator[Any]:
    torch.manual_seed(0)
    return itertools.islice(info.sample_inputs("cpu", dtype, requires_grad=False), _MOST_SAMPLES)


def call(name: str, dtype: torch.dtype, number: int) -> Call:
    """Returns the call of a sample."""
    info = next(one for one in _infos() if one.full_name == name)
    sample = next(itertools.islice(_samples(info, dtype), number, None))
    leaves, tree = pytree.tree_flatten((sample.input, sample.args, sample.kwargs))
    # The layout in memory of a sample is not that of an input.
    return Call(info.op, [one.contiguous() if _is_dense(one) else one for one in leaves], tree)


def _is_dense(one: Any) -> bool:
    return isinstance(one, torch.Tensor) and one.layout == torch.strided


@dataclass(frozen=True)
class Function:
    """The module of a sample.

    Attributes:
        name: the name of the function's OpInfo.
        dtype: the dtype of the sample.
        number: the number of the sample.
        is_dynamic: whether the sizes of the inputs are open.
        wants_dynamic: false. Inputs of other sizes may not be valid arguments.
        quantization: none.
    """

    name: str
    dtype: torch.dtype
    number: int
    is_dynamic: bool
    wants_dynamic: bool = False
    quantization: Quantization | None = None

    def source(self, sizes: Sequence[Sequence[tuple[int, ...]]] = ()) -> str:
        """Returns the text of the model file. There are no other sizes."""
        assert not sizes
        text = _TEMPLATE.format(name=self.name, dtype=self.dtype, number=self.number)
        return text + (_DYNAMIC if self.is_dynamic else "")


def functions(pattern: str, count: int, first: int = 0, every: int = 1) -> Iterator[Function]:
    """Yields modules.

    Args:
        pattern: a regular expression of names.
        count: the number of samples of a function and dtype, which are spread over all samples. Every other module has
            open sizes.
        first: the first function.
        every: a step between functions.
    """
    found = [info for info in _infos() if re.search(pattern, info.full_name)]
    chosen = [info for info in found if not _UNINITIALIZED.match(info.full_name)]
    for info in chosen[first % every :: every]:
        for dtype in _DTYPES:
            if not info.supports_dtype(dtype, "cpu"):
                continue
            try:
                total = sum(1 for _ in _samples(info, dtype))
            except Exception:  # Some generators raise for some dtypes.
                continue
            step = max(1, total // count)
            for index, number in enumerate(range(0, min(total, count * step), step)):
                try:
                    with quiet():
                        call(info.full_name, dtype, number).check()
                except Exception:  # PyTorch refuses some samples.
                    continue
                yield Function(info.full_name, dtype, number, is_dynamic=index % 2 == 1)
