"""Makes tensors dense: elements do not overlap, and there are no gaps between elements.

A tensor of PyTorch may share elements, as a result of expand() does, or have gaps between elements. A program's inputs
are contiguous or channels-last. A program's constants and state are contiguous. ExecuTorch's exporter does not write or
copy tensors of any other order.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Sequence
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind
from torch.utils import _pytree as pytree

_CHANNELS_LAST = [0, 2, 3, 1]


def dim_order(tensor: torch.Tensor) -> list[int] | None:
    """Returns the dimensions from the outermost to the innermost in memory; None if a program cannot have the tensor.

    The result is the contiguous order, or channels-last for a tensor of 4 dimensions.
    """
    contiguous = list(range(tensor.dim()))
    for order in (contiguous, _CHANNELS_LAST)[: 2 if tensor.dim() == 4 else 1]:
        sizes = [1, *(max(tensor.size(dim), 1) for dim in reversed(order))]
        strides = itertools.accumulate(sizes[:-1], operator.mul)
        places = zip(reversed(order), strides, strict=True)
        if all(tensor.size(dim) == 1 or tensor.stride(dim) == stride for dim, stride in places):
            return order
    return None


def usual_dim_order(sizes: Sequence[int], order: Sequence[int]) -> tuple[int, ...]:
    """Returns the contiguous order or channels-last if memory in a dim order is in that order; otherwise the dim order.

    Dimensions of size 1 have no place in memory. So an image of one channel or one pixel is contiguous.
    """
    moved = [dim for dim in order if sizes[dim] != 1]
    for usual in (range(len(sizes)), _CHANNELS_LAST)[: 2 if len(sizes) == 4 else 1]:
        if moved == [dim for dim in usual if sizes[dim] != 1]:
            return tuple(usual)
    return tuple(order)


def dense(tensor: torch.Tensor) -> torch.Tensor:
    """Returns the tensor itself if a program can have it; otherwise a copy, which is contiguous for unusual orders."""
    tensor = tensor.resolve_conj().resolve_neg()
    order = dim_order(tensor)
    if order is None:
        return contiguous(tensor)
    # Other strides of dimensions of size 1 would make PyTorch's fake kernels choose another order for results.
    usual = torch.empty_permuted(tensor.shape, order, dtype=tensor.dtype)
    return tensor if tensor.stride() == usual.stride() else usual.copy_(tensor)


def contiguous(tensor: torch.Tensor) -> torch.Tensor:
    """Returns a contiguous copy. Tensor.contiguous() would keep unusual strides of dimensions of size 1."""
    return tensor.clone(memory_format=torch.contiguous_format)


def lay_out(exported: ExportedProgram) -> None:
    """Makes the example inputs of an exported program dense, and its parameters, buffers and constants contiguous.

    Updates the fake tensors of placeholders only. The decompositions, which run on all programs, trace all other nodes
    anew.
    """
    inputs = iter(pytree.tree_leaves(exported.example_inputs))
    specs = exported.graph_signature.input_specs
    for spec, node in zip(specs, exported.graph.find_nodes(op="placeholder"), strict=True):
        name = spec.target or ""
        held: dict[str, Any] = exported.state_dict if name in exported.state_dict else exported.constants
        tensor = next(inputs) if spec.kind == InputKind.USER_INPUT else held.get(name)
        if not isinstance(tensor, torch.Tensor):
            continue
        result = dense(tensor)
        if spec.kind != InputKind.USER_INPUT and dim_order(result) == _CHANNELS_LAST:
            result = contiguous(result)
        if result is tensor:
            continue
        node.meta["val"] = torch.empty_like(node.meta["val"], memory_format=torch.contiguous_format)
        if spec.kind != InputKind.USER_INPUT:
            result = result.detach()
            is_parameter = isinstance(tensor, torch.nn.Parameter)
            held[name] = torch.nn.Parameter(result, tensor.requires_grad) if is_parameter else result
