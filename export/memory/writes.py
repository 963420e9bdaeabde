"""Prepares writes to inputs, buffers and parameters for ExecuTorch's lowering, on the graph of torch.export."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import ExportGraphSignature, InputKind
from torch.fx import Node

_COPY = torch.ops.aten.copy_.default


def prepare(exported: ExportedProgram) -> None:
    """Makes the writes of a program such that ExecuTorch lowers them. Changes the program in place.

    - A parameter that the method writes to becomes a buffer. ExecuTorch has state in buffers only.
    - The copy of an input or buffer to another one gets a source of its own. Otherwise, the new value would be an input
      of the functional graph, for which ExecuTorch's lowering fails, or writes nothing.
    - A second copy of one value, to another input or buffer, gets a source of its own, since PyTorch's signature of a
      functional graph has one target for each value.
    """
    _make_buffers(exported)
    copied: set[Any] = set()
    for node in list(exported.graph.nodes):
        if not _copies_to_placeholder(node):
            continue
        source, value = base(node.args[1]), _without_names(node.args[1])
        if (source is not None and source.op == "placeholder") or value in copied:
            with exported.graph.inserting_before(node):
                own = exported.graph.call_function(torch.ops.aten.clone.default, (node.args[1],))
            own.meta = {**node.meta, "val": node.args[1].meta["val"].clone()}
            node.update_arg(1, own)
        copied.add(value)
    exported.graph_module.recompile()


def _make_buffers(exported: ExportedProgram) -> None:
    signature = exported.graph_signature
    names_written = {placeholder.name for placeholder, _ in written(exported)}
    names = [
        spec.target
        for spec in signature.input_specs
        if spec.kind is InputKind.PARAMETER and spec.arg.name in names_written and spec.target is not None
    ]
    if not names:
        return
    specs = [
        dataclasses.replace(spec, kind=InputKind.BUFFER, persistent=True) if spec.target in names else spec
        for spec in signature.input_specs
    ]
    exported._graph_signature = ExportGraphSignature(specs, signature.output_specs)
    for name in names:
        exported.state_dict[name] = exported.state_dict[name].detach().clone()
    for spec, node in zip(specs, exported.graph.find_nodes(op="placeholder"), strict=True):
        if spec.target in names:
            # PyTorch refuses a write to a fake parameter, as to a parameter.
            node.meta["val"] = node.meta["val"].detach()


def written(exported: ExportedProgram) -> Iterator[tuple[Node, Node]]:
    """Yields the placeholders that calls write to, each with the call."""
    for node in exported.graph.nodes:
        schema = getattr(node.target, "_schema", None) if node.op == "call_function" else None
        for argument, value in zip(schema.arguments if schema else (), node.args, strict=False):
            if argument.is_write:
                memory = base(value)
                if memory is not None and memory.op == "placeholder":
                    yield memory, node


def base(value: Any) -> Node | None:
    """Returns the node whose memory a value of a graph of torch.export has."""
    while isinstance(value, Node) and value.op == "call_function":
        schema = getattr(value.target, "_schema", None)
        if schema is None or not any(one.alias_info is not None for one in schema.returns):
            return value
        value = value.args[0]
    return value if isinstance(value, Node) else None


def _without_names(value: Any) -> Any:
    """Returns the node that computes a value, after calls that a functional graph does not have."""
    while isinstance(value, Node) and value.target in (torch.ops.aten.alias.default, torch.ops.aten.detach.default):
        value = value.args[0]
    return value


def _copies_to_placeholder(node: Node) -> bool:
    """Returns whether a call copies a tensor to an input, a buffer or a parameter."""
    if node.target is not _COPY:
        return False
    to = base(node.args[0])
    return to is not None and to.op == "placeholder"
