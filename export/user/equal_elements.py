"""The order of equal elements in eager runs.

`torch.sort` without `stable=True`, `torch.topk`, `torch.kthvalue` and `torch.mode` may give any order or index of equal
elements (https://docs.pytorch.org/docs/stable/generated/torch.sort.html). PyTorch's depend on the instruction sets of
the processor. The kernels keep the order of the input, and give the last index of a mode. In the eager runs of an
export, PyTorch does so, too.
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

# Selected elements, and their indices in the input.
_Selected = tuple[torch.Tensor, torch.Tensor]


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
            for name, kernel in _KERNELS.items():
                library.impl(name, _compared(name, kernel, stacks), "CPU", with_keyset=True, allow_override=True)
        yield stacks
    finally:
        library._destroy()


def _compared(name: str, kernel: Callable[..., _Selected], stacks: list[str]) -> Callable[..., _Selected]:
    """Returns a kernel of an operator of PyTorch that gives what `kernel` makes of the results of PyTorch's kernel."""
    original = torch.library.get_kernel(name, "CPU").call_boxed

    def call(keys: Any, tensor: torch.Tensor, *args: Any, **kwargs: Any) -> _Selected:
        values, indices = original(keys, tensor, *args, **kwargs)
        ours = kernel(values, tensor, *args, **kwargs)
        if not indices.equal(ours[1]):
            stacks.append("".join(traceback.format_stack()))
            values.copy_(ours[0])
            indices.copy_(ours[1])
        return values, indices

    return call


def _sort(
    _: torch.Tensor | None, tensor: torch.Tensor, *, stable: bool | None, dim: int = -1, descending: bool = False
) -> _Selected:
    del stable
    values, indices = torch.empty_like(tensor), torch.empty_like(tensor, dtype=torch.int64)
    torch.sort(tensor, stable=True, dim=dim, descending=descending, out=(values, indices))
    return values, indices


def _topk(
    _: torch.Tensor, tensor: torch.Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> _Selected:
    del sorted
    values, indices = _sort(None, tensor, stable=True, dim=dim, descending=largest)
    return (values.narrow(dim, 0, k), indices.narrow(dim, 0, k)) if tensor.dim() else (values, indices)


def _kthvalue(values: torch.Tensor, tensor: torch.Tensor, k: int, dim: int = -1, keepdim: bool = False) -> _Selected:
    indices = _sort(None, tensor, stable=True, dim=dim)[1]
    if tensor.dim():
        indices = indices.narrow(dim, k - 1, 1)
    return values, indices if keepdim or not tensor.dim() else indices.squeeze(dim)


def _mode(values: torch.Tensor, tensor: torch.Tensor, dim: int = -1, keepdim: bool = False) -> _Selected:
    if not tensor.dim():
        return values, torch.zeros_like(values, dtype=torch.int64)
    wide = values if keepdim else values.unsqueeze(dim)
    is_mode = (tensor == wide) | (tensor.isnan() & wide.isnan())
    shape = [-1 if one == dim % tensor.dim() else 1 for one in range(tensor.dim())]
    places = torch.arange(tensor.shape[dim]).reshape(shape)
    return values, torch.where(is_mode, places, -1).amax(dim, keepdim=keepdim)  # The last one.


# The operators by which PyTorch's functions sort and select.
_KERNELS: Mapping[str, Callable[..., _Selected]] = {
    "aten::kthvalue": _kthvalue,
    "aten::mode": _mode,
    "aten::sort.stable": _sort,
    "aten::topk": _topk,
}


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
        f"the results of {method.name}() depend on the order of equal elements, which this call leaves open",
        "PyTorch's order of equal elements depends on the processor, and so does that of topk(sorted=False). The"
        " program keeps the order of the input, as stable=True does. The recorded outputs are those of the program.",
        "write torch.sort(x, stable=True) for torch.sort(x), the first k elements of torch.sort(x, stable=True,"
        " descending=True) for torch.topk(x, k), and element k - 1 of torch.sort(x, stable=True) for torch.kthvalue(x,"
        " k). Eager PyTorch then has the results of the program. For torch.mode, use the values only.",
        details,
        id="equal-elements",
        severity="warning",
    )
