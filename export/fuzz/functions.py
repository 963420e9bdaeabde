"""Calls of PyTorch's functions and modules with the arguments of PyTorch's samples, as modules to check.

The samples are those of PyTorch's own tests: of functions (OpInfo), and of modules (ModuleInfo), which are in
evaluation mode. The tensors of a sample are the inputs of its call, and all other arguments are constants.
"""

from __future__ import annotations

import functools
import importlib
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from export.fuzz.check import quiet
from export.fuzz.quantization import Quantization

_SAMPLES_OF = "torch.testing._internal"
# Functions with results that have no values.
_UNINITIALIZED = re.compile(r"\b(new_)?empty")
_DTYPES = (torch.float32, torch.int64, torch.float16, torch.bfloat16)
# The number of samples that are counted. Some functions have thousands, and the first ones are of all kinds.
_MOST_SAMPLES = 200

_TEMPLATE = '''\
"""Calls {name} with a sample of PyTorch."""

import torch

from export.fuzz import functions

_CALL = functions.call({name!r}, {dtype}, {number})


def get_model():
    return _CALL, _CALL.inputs


def get_sample_inputs():
    return [_CALL.inputs, _CALL.inputs]
'''
_DYNAMIC = """

def get_dynamic_shapes():
    return (_CALL.open_sizes(),)
"""


class UnusableError(Exception):
    """A call has no inputs, or no results that could be compared."""


class Call(torch.nn.Module):
    """Calls a function with the tensors of a sample as the inputs. Returns the tensors in the results.

    Args:
        function: a function or a module.
        args: the arguments of the sample.
        kwargs: its arguments by name.
    """

    def __init__(self, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        super().__init__()
        self.function = function
        leaves, self._tree = pytree.tree_flatten((tuple(args), dict(kwargs)))
        # The layout in memory of a sample is not that of an input.
        self.leaves = [one.contiguous() if _is_usual(one) else one for one in leaves]

    @property
    def inputs(self) -> tuple[torch.Tensor, ...]:
        return tuple(one for one in self.leaves if isinstance(one, torch.Tensor))

    def open_sizes(self) -> tuple[dict[int, Any], ...]:
        """Returns dynamic shapes with Dim.AUTO for each dimension of each input."""
        auto = torch.export.Dim.AUTO
        return tuple({dim: auto(max=2 * size + 8) for dim, size in enumerate(one.shape)} for one in self.inputs)

    def forward(self, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        given = iter(inputs)
        leaves = [next(given) if isinstance(one, torch.Tensor) else one for one in self.leaves]
        args, kwargs = pytree.tree_unflatten(leaves, self._tree)
        results = pytree.tree_leaves(self.function(*args, **kwargs))
        return tuple(one for one in results if isinstance(one, torch.Tensor))

    def check(self) -> None:
        """Checks that the results can be compared.

        Raises:
            UnusableError: the function is random, or there are no inputs or no results.
        """
        if not self.inputs or not all(map(_is_usual, self.inputs)):
            raise UnusableError("no usual inputs")
        with _NotRandom():  # type: ignore[no-untyped-call]
            found = self(*(one.clone() for one in self.inputs))
        if not found or not all(map(_is_usual, found)):
            raise UnusableError("no usual results")


# PyTorch tags it as random, as its namesakes for GPUs, but it has no dropout.
_ATTENTION = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default


class _NotRandom(TorchDispatchMode):
    """Refuses calls of random operators. Results of few elements are often equal although they are random."""

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if torch.Tag.nondeterministic_seeded in func.tags and func is not _ATTENTION:
            raise UnusableError(f"{func} is random")
        return func(*args, **(kwargs or {}))


@functools.cache
def _infos() -> Mapping[str, Any]:
    """Returns PyTorch's OpInfos and ModuleInfos by name, as in `nn.functional.linear` and `nn.Linear`."""
    # These imports take seconds.
    of_functions = importlib.import_module(f"{_SAMPLES_OF}.common_methods_invocations").op_db
    of_modules = importlib.import_module(f"{_SAMPLES_OF}.common_modules").module_db
    return {one.full_name: one for one in of_functions} | {one.name: one for one in of_modules}


def _calls(info: Any, dtype: torch.dtype) -> Iterator[Call]:
    torch.manual_seed(0)
    if not hasattr(info, "module_cls"):
        for one in itertools.islice(info.sample_inputs("cpu", dtype, requires_grad=False), _MOST_SAMPLES):
            yield Call(info.op, (one.input, *one.args), one.kwargs)
        return
    for one in info.module_inputs_func(info, "cpu", dtype, requires_grad=False, training=False):
        module = info.module_cls(*one.constructor_input.args, **one.constructor_input.kwargs).to(dtype).eval()
        result = Call(module, one.forward_input.args, one.forward_input.kwargs)
        if info.is_lazy:
            result(*result.inputs)  # The first call makes the parameters.
        yield result


def call(name: str, dtype: torch.dtype, number: int) -> Call:
    """Returns the call of a sample."""
    return next(itertools.islice(_calls(_infos()[name], dtype), number, None))


def _is_usual(one: Any) -> bool:
    """Whether this is a dense tensor of numbers that PyTorch can add, as it cannot in float8."""
    if not isinstance(one, torch.Tensor) or one.layout != torch.strided:
        return False
    return not one.is_floating_point() or one.itemsize > 1


@dataclass(frozen=True)
class Function:
    """The call of a sample, as a module to check.

    Attributes:
        name: the name of the function's OpInfo, or of the module's ModuleInfo.
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
    """Yields calls of functions and modules.

    Args:
        pattern: a regular expression of names.
        count: the number of samples of a function and dtype, which are spread over all samples. Every other call has
            open sizes.
        first: the first function.
        every: a step between functions.
    """
    chosen = [name for name in _infos() if re.search(pattern, name) and not _UNINITIALIZED.match(name)]
    for name in chosen[first % every :: every]:
        for dtype in _DTYPES:
            try:
                with quiet():
                    total = sum(1 for _ in _calls(_infos()[name], dtype))
            except Exception:  # PyTorch has no samples of this dtype.
                continue
            step = max(1, total // count)
            for index, number in enumerate(range(0, min(total, count * step), step)):
                try:
                    with quiet():
                        call(name, dtype, number).check()
                except Exception:  # PyTorch refuses some samples.
                    continue
                yield Function(name, dtype, number, is_dynamic=index % 2 == 1)
