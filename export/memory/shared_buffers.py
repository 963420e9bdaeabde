"""Refuses writes to buffers that share memory with other buffers or parameters.

A program gives each buffer memory of its own, so that a write would not reach the other buffers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from diagnostics.errors import Finding, InputError
from export.memory import writes
from export.user.model_file import Method

_WITH_MEMORY = (InputKind.BUFFER, InputKind.PARAMETER, InputKind.CONSTANT_TENSOR)


def check(method: Method, exported: ExportedProgram) -> None:
    """Checks that a method writes to no buffer that shares memory.

    Args:
        method: the method.
        exported: its graph, before any change.

    Raises:
        InputError: the method writes to such buffers. The error has a finding for each.
    """
    findings: dict[str, Finding] = {}
    tensors = dict(_tensors(exported))
    names = {spec.arg.name: spec.target for spec in exported.graph_signature.input_specs if spec.target is not None}
    for placeholder, call in writes.written(exported):
        name = names.get(placeholder.name, "")
        others = _sharing(name, tensors) if name in tensors and name not in findings else []
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


def _name(call: torch.fx.Node) -> str:
    return call.target.name() if isinstance(call.target, torch._ops.OpOverload) else str(call.target)


def _tensors(exported: ExportedProgram) -> Iterator[tuple[str, torch.Tensor]]:
    """Yields the names and the tensors of buffers, parameters and constants.

    A quantized weight of torchao has no memory of its own: the weight is a wrapper of tensors.
    """
    for spec in exported.graph_signature.input_specs:
        if spec.kind in _WITH_MEMORY and spec.target is not None:
            tensor = exported.state_dict.get(spec.target, exported.constants.get(spec.target))
            if not isinstance(tensor, torch.Tensor) or is_traceable_wrapper_subclass(tensor):
                continue
            if tensor.layout == torch.strided and tensor.device.type == "cpu":
                yield spec.target, tensor


def _sharing(name: str, tensors: Mapping[str, torch.Tensor]) -> list[str]:
    """Returns the names of the tensors that have elements in the memory of a tensor."""
    written = tensors[name]
    storage = written.untyped_storage()
    same = [
        other
        for other, tensor in tensors.items()
        if other != name and tensor.numel() and tensor.untyped_storage().data_ptr() == storage.data_ptr()
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
