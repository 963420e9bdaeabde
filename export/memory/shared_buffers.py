"""Refuses writes to buffers that share memory with other buffers or parameters, of one method or of several.

A program gives each buffer of each method memory of its own, so that a write would not reach the other buffers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from diagnostics.errors import Finding, InputError
from export.memory import writes
from export.user.model_file import Method

_WITH_MEMORY = (InputKind.BUFFER, InputKind.PARAMETER, InputKind.CONSTANT_TENSOR)


def check(method: Method, exported: ExportedProgram) -> None:
    """Checks that a method, with its graph before any change, writes to no buffer that shares memory.

    Raises:
        InputError: the method writes to such buffers. The error has a finding for each.
    """
    findings: dict[str, Finding] = {}
    tensors = dict(_tensors(exported))
    for name, call in _written(exported).items():
        others = _sharing(tensors[name], tensors, but=name) if name in tensors else []
        if others:
            at, frames = method.source.frames_of_text(call.meta.get("stack_trace") or "")
            findings[name] = Finding(
                at or method.at,
                f"{method.name}() writes to the buffer {name} by {_name(call)}, and {', '.join(others)} has the"
                " same memory",
                "the tensors of register_buffer() are views of one tensor, or one tensor. A program gives each buffer"
                " memory of its own, so that the write would not reach the others.",
                f"register one buffer, and take views of it in forward(), such as self.{name}[:2]; or write to both"
                " buffers.",
                frames,
                id="buffers-share-memory",
            )
    if findings:
        raise InputError(list(findings.values()))


def check_methods(methods: Sequence[Method], exported: Mapping[str, ExportedProgram]) -> None:
    """Checks that no method writes to a buffer that another method uses.

    Raises:
        InputError: a method writes to such buffers. The error has a finding for each buffer.
    """
    state = {method.name: dict(_state(method)) for method in methods}
    used = {
        name: {key: tensor for key, tensor in of.items() if key in _used(exported[name])} for name, of in state.items()
    }
    findings: dict[int, Finding] = {}
    for method in methods:
        own = state[method.name]
        others = {name: tensors for name, tensors in used.items() if name != method.name}
        for name, call in _written(exported[method.name]).items():
            sharing = [f"{other}()" for other in others if name in own and _sharing(own[name], others[other])]
            if sharing:
                found = _of_methods(method, name, call, " and ".join(sharing))
                findings.setdefault(own[name].untyped_storage().data_ptr(), found)
    if findings:
        raise InputError(list(findings.values()))


def _of_methods(method: Method, name: str, call: torch.fx.Node, others: str) -> Finding:
    at, frames = method.source.frames_of_text(call.meta.get("stack_trace") or "")
    return Finding(
        at or method.at,
        f"{method.name}() writes to the buffer {name}, which {others} uses, too",
        "the methods have one module, such as a cache of a prefill and a decode method. A program gives each method"
        f" state of its own, so that {others} would not see what {method.name}() writes.",
        "write one method with a dynamic size, such as the number of tokens; or take the state as an input, and return"
        " it. If each method should have state of its own, give each method a copy.deepcopy() of the module.",
        frames,
        id="methods-share-state",
    )


def _written(exported: ExportedProgram) -> dict[str, torch.fx.Node]:
    """Returns the names of the buffers and parameters that a method writes to, each with the first call."""
    names = _names(exported)
    calls: dict[str, torch.fx.Node] = {}
    for placeholder, call in writes.written(exported):
        if placeholder.name in names:
            calls.setdefault(names[placeholder.name], call)
    # A functional graph returns the new values.
    nodes = {node.name: node for node in exported.graph.nodes}
    for value, name in exported.graph_signature.buffers_to_mutate.items():
        calls.setdefault(name, nodes[value])
    return calls


def _used(exported: ExportedProgram) -> set[str]:
    """Returns the names of the buffers and parameters that a method uses."""
    names = _names(exported)
    return {names[one.name] for one in exported.graph.find_nodes(op="placeholder") if one.name in names and one.users}


def _names(exported: ExportedProgram) -> dict[str, str]:
    """Returns the names of buffers, parameters and constants by the names of their placeholders."""
    return {spec.arg.name: spec.target for spec in exported.graph_signature.input_specs if spec.target is not None}


def _state(method: Method) -> Iterator[tuple[str, torch.Tensor]]:
    """Yields the names and the tensors of the buffers and parameters of a module. An export may have copies."""
    module = method.module
    named = (*module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False))
    return ((name, tensor) for name, tensor in named if _has_memory(tensor))


def _has_memory(tensor: torch.Tensor) -> bool:
    """Returns whether a tensor has memory. A quantized weight of torchao has none: it is a wrapper of tensors."""
    is_plain = not is_traceable_wrapper_subclass(tensor)
    return is_plain and tensor.layout == torch.strided and tensor.device.type == "cpu"


def _name(call: torch.fx.Node) -> str:
    return call.target.name() if isinstance(call.target, torch._ops.OpOverload) else str(call.target)


def _tensors(exported: ExportedProgram) -> Iterator[tuple[str, torch.Tensor]]:
    """Yields the names and the tensors of buffers, parameters and constants that have memory."""
    for spec in exported.graph_signature.input_specs:
        if spec.kind in _WITH_MEMORY and spec.target is not None:
            tensor = exported.state_dict.get(spec.target, exported.constants.get(spec.target))
            if isinstance(tensor, torch.Tensor) and _has_memory(tensor):
                yield spec.target, tensor


def _sharing(written: torch.Tensor, tensors: Mapping[str, torch.Tensor], but: str = "") -> list[str]:
    """Returns the names of the tensors that have elements in the memory of a tensor, except the name `but`."""
    storage = written.untyped_storage()
    same = [
        other
        for other, tensor in tensors.items()
        if other != but and tensor.numel() and tensor.untyped_storage().data_ptr() == storage.data_ptr()
    ]
    if not same or not written.numel():
        return []
    touched = _touched(written)
    return [other for other in same if bool((touched & _touched(tensors[other])).any())]


def _touched(tensor: torch.Tensor) -> torch.Tensor:
    """Returns which bytes of its memory a tensor has elements in."""
    size = tensor.element_size()
    bytes_ = torch.zeros(tensor.untyped_storage().nbytes(), dtype=torch.bool)
    strides = [stride * size for stride in tensor.stride()]
    bytes_.as_strided((*tensor.shape, size), (*strides, 1), tensor.storage_offset() * size).fill_(True)
    return bytes_
