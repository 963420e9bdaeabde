"""Makes example inputs, parameters, buffers and constants of an exported program dense."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import torch
from torch._ops import OpOverload
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, InputSpec
from torch.fx import Node
from torch.utils import _pytree as pytree

from diagnostics.errors import InputError
from export.graph_passes import graphs
from export.user.dense_tensors import CHANNELS_LAST, contiguous, dense, dim_order
from export.user.model_file import Method


def check(method: Method, exported: ExportedProgram) -> None:
    """Checks that all tensors of a method are strided.

    Raises:
        InputError: a tensor is sparse. The error has the first one.
    """
    for node in graphs.all_nodes(exported.graph_module):
        value = node.meta.get("val")
        if isinstance(value, torch.Tensor) and value.layout != torch.strided:
            at, frames = method.source.frames_of_text(node.meta.get("stack_trace") or "")
            raise InputError.of(
                at or method.at,
                f"{method.name}() has {node.name}, a tensor of the layout {value.layout}",
                "a program has strided tensors only.",
                "keep the indices and the values as buffers, and multiply with functions on strided tensors, such"
                " as y.index_add(0, rows, values.unsqueeze(1) * x[columns]).",
                frames,
                id="unsupported-value",
            )


def lay_out(exported: ExportedProgram) -> ExportedProgram:
    """Makes the example inputs of an exported program dense, and its parameters, buffers and constants contiguous.

    Updates the fake tensors of placeholders only. The decompositions, which run on all programs, trace all other nodes
    anew.
    """
    _lay_out(exported, of_inputs=True)
    if not any(_unlike(exported, of_inputs=False)):
        return exported
    _separate_elements(exported)
    # flatten() of a channels-last buffer is a copy, and a write to the copy does not reach the buffer. flatten() of a
    # contiguous buffer is a view. So the calls become functional first, with the buffer's strides in PyTorch.
    if any(
        isinstance(node.target, OpOverload) and node.target._schema.is_mutable
        for node in graphs.all_nodes(exported.graph_module)
    ):
        _separate(exported)
        exported = exported.run_decompositions({})
    # The strides of a tensor that PyTorch views may not allow a view of the contiguous tensor.
    for node in graphs.all_nodes(exported.graph_module):
        if node.target is torch.ops.aten.view.default:
            node.target = torch.ops.aten.reshape.default
    _lay_out(exported, of_inputs=False)
    return exported


def _separate_elements(exported: ExportedProgram) -> None:
    """Gives each element of an expanded tensor memory of its own. PyTorch refuses writes to other elements."""
    for node, spec, tensor, result in _unlike(exported, of_inputs=False):
        if torch._debug_has_internal_overlap(tensor) == 1:
            node.meta["val"] = torch.empty_like(node.meta["val"], memory_format=torch.contiguous_format)
            _hold(exported, spec, tensor, result.detach())


def _separate(exported: ExportedProgram) -> None:
    """Gives parts of one memory, such as `memory[::2]` and `memory[1::2]`, a memory each, with their strides.

    PyTorch does not make writes to such parts functional. A program has the parts apart.
    """
    state = [(spec, tensor) for _, spec, tensor, _ in _unlike(exported, of_inputs=False)]
    shared = Counter(tensor.untyped_storage().data_ptr() for _, tensor in state)
    for spec, tensor in state:
        if shared[tensor.untyped_storage().data_ptr()] > 1 and torch._debug_has_internal_overlap(tensor) != 1:
            own = torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype)
            _hold(exported, spec, tensor, own.copy_(tensor.detach()))


def _unlike(
    exported: ExportedProgram, *, of_inputs: bool
) -> Iterator[tuple[Node, InputSpec, torch.Tensor, torch.Tensor]]:
    """Yields the inputs, or the state and constants, whose memory a program cannot have.

    Yields:
        The placeholder, its specification, the tensor, and the tensor as a program can have it.
    """
    inputs = iter(pytree.tree_leaves(exported.example_inputs))
    specs = exported.graph_signature.input_specs
    for spec, node in zip(specs, exported.graph.find_nodes(op="placeholder"), strict=True):
        is_input = spec.kind == InputKind.USER_INPUT
        tensor = next(inputs) if is_input else _held(exported, spec).get(spec.target or "")
        if is_input != of_inputs or not isinstance(tensor, torch.Tensor):
            continue
        result = dense(tensor)
        if not is_input and dim_order(result) == CHANNELS_LAST:
            result = contiguous(result)
        if result is not tensor:
            yield node, spec, tensor, result


def _held(exported: ExportedProgram, spec: InputSpec) -> dict[str, Any]:
    """Returns the dictionary that has the tensor of a parameter, a buffer or a constant."""
    held: dict[str, Any] = exported.state_dict if spec.target in exported.state_dict else exported.constants
    return held


def _lay_out(exported: ExportedProgram, *, of_inputs: bool) -> None:
    for node, spec, tensor, result in _unlike(exported, of_inputs=of_inputs):
        node.meta["val"] = torch.empty_like(node.meta["val"], memory_format=torch.contiguous_format)
        if not of_inputs:
            _hold(exported, spec, tensor, result.detach())


def _hold(exported: ExportedProgram, spec: InputSpec, before: torch.Tensor, now: torch.Tensor) -> None:
    is_parameter = isinstance(before, torch.nn.Parameter)
    _held(exported, spec)[spec.target or ""] = torch.nn.Parameter(now, before.requires_grad) if is_parameter else now
