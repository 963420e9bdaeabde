"""The order of equal elements in eager runs.

`torch.sort` without `stable=True`, and `torch.topk`, may give equal elements in any order
(https://docs.pytorch.org/docs/stable/generated/torch.sort.html). PyTorch's order depends on the instruction sets of the
processor. The kernels keep the order of the input. In the eager runs of an export, PyTorch does so, too.
"""

from __future__ import annotations

import contextlib
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch

from diagnostics.errors import Finding
from export.user import samples
from export.user.model_file import Method
from export.user.samples import Recorded

# A sorted tensor and the indices of its elements in the input.
_Sorted = tuple[torch.Tensor, torch.Tensor]
_SORT = "aten::sort.stable"  # Of PyTorch's functions that sort, all but topk call it.
_TOPK = "aten::topk"


@contextlib.contextmanager
def kept() -> Iterator[Sequence[str]]:
    """Has PyTorch sort like the kernels during the block.

    Yields:
        The stack of each call in whose result PyTorch has another order of equal elements. Grows during the block.
    """
    stacks: list[str] = []
    library = torch.library.Library("aten", "IMPL")
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*overrid", category=UserWarning)
            for name, kernel in ((_SORT, _sort), (_TOPK, _topk)):
                library.impl(name, _compared(name, kernel, stacks), "CPU", with_keyset=True, allow_override=True)
        yield stacks
    finally:
        library._destroy()


def _compared(name: str, kernel: Callable[..., _Sorted], stacks: list[str]) -> Callable[..., _Sorted]:
    """Returns a kernel of PyTorch's operator `name`, with the order of equal elements of `kernel`."""
    original = torch.library.get_kernel(name, "CPU").call_boxed

    def call(keys: Any, tensor: torch.Tensor, *args: Any, **kwargs: Any) -> _Sorted:
        values, indices = original(keys, tensor, *args, **kwargs)
        ours = kernel(tensor, *args, **kwargs)
        if not indices.equal(ours[1]):
            stacks.append("".join(traceback.format_stack()))
            values.copy_(ours[0])
            indices.copy_(ours[1])
        return values, indices

    return call


def _sort(tensor: torch.Tensor, *, stable: bool | None, dim: int = -1, descending: bool = False) -> _Sorted:
    del stable
    values, indices = torch.empty_like(tensor), torch.empty_like(tensor, dtype=torch.int64)
    torch.sort(tensor, stable=True, dim=dim, descending=descending, out=(values, indices))
    return values, indices


def _topk(tensor: torch.Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> _Sorted:
    del sorted
    values, indices = _sort(tensor, stable=True, dim=dim, descending=largest)
    return (values.narrow(dim, 0, k), indices.narrow(dim, 0, k)) if tensor.dim() else (values, indices)


def find(methods: Sequence[Method], recorded: Mapping[str, Recorded], stacks: Sequence[str]) -> list[Finding]:
    """Returns a warning for each method whose results depend on the order of equal elements.

    Args:
        methods: the methods of the program.
        recorded: their runs with the order of the kernels.
        stacks: the stacks of the calls whose order is another one without `kept()`.
    """
    return [_finding(method, stacks) for method in methods if stacks and _depends(method, recorded[method.name])]


def _depends(method: Method, recorded: Recorded) -> bool:
    """Returns whether the runs have other outputs with PyTorch's order."""
    before = torch.get_rng_state()
    try:
        again = samples.record(method)
    except Exception:  # A module may raise any exception in runs that are not the user's.
        return False
    draws = not before.equal(torch.get_rng_state())
    torch.set_rng_state(before)
    return not draws and any(
        (one.outputs, one.state) != (other.outputs, other.state)
        for one, other in zip(recorded.samples, again.samples, strict=True)
    )


def _finding(method: Method, stacks: Sequence[str]) -> Finding:
    places = [method.source.frames_of_text(stack) for stack in stacks]
    at, details = next((place for place in places if place[0]), places[0])
    return Finding(
        at or method.at,
        f"the results of {method.name}() depend on the order in which sort() or topk() gives equal elements",
        "PyTorch leaves this order open, and that of topk(sorted=False). It depends on the processor. The program keeps"
        " the order of the input, as stable=True does. The recorded outputs are those of the program.",
        "write torch.sort(x, stable=True) for torch.sort(x), and the first k elements of torch.sort(x, stable=True,"
        " descending=True) for torch.topk(x, k). Eager PyTorch then has the results of the program.",
        details,
        id="equal-elements",
        severity="warning",
    )
