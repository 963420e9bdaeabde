"""Copies the values that ExecuTorch's memory plan would let another value overwrite, or that its loops would misread.

- The branches of a `cond` have memory that the branches of the next `cond`, and the body of the next loop, use again.
  The result of a `cond` lies in this memory, and ExecuTorch plans other memory for its views.
- ExecuTorch refuses a view of the result of a loop: the sizes of the result may vary, those of the view may not.
- A loop copies the bytes of the results of its body, one after another, to the results of the loop, whatever the dim
  orders are. Results of the body become contiguous, as those of the loop are.
- At the end of a method, ExecuTorch copies new values to buffers and to inputs, one after another. A value that lies in
  a buffer which is copied to before is lost, and so is an output that lies in such a buffer. If the new value of a
  buffer is another buffer or an input, ExecuTorch copies nothing.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import GraphModule, Node

from export.graph_passes import graphs
from export.graph_passes.aliases import Aliases, is_control_flow, outputs
from export.graph_passes.calls import ToDimOrderCopy, ViewCopy

_COND = torch.ops.higher_order.cond
_MAP = torch.ops.higher_order.map_impl
_SCAN = torch.ops.higher_order.scan
_CLONE = graphs.EDGE.dim_order_ops._clone_dim_order.default


def separate(program: ExportedProgram) -> None:
    """Inserts the copies. Changes the graph of a method in place."""
    for module in program.graph_module.modules():
        if isinstance(module, GraphModule):
            _separate_results(module)
    _separate_outputs(program)
    program.graph_module.recompile()


def _separate_results(module: GraphModule) -> None:
    nodes = list(module.graph.nodes)
    flows = [node for node in nodes if is_control_flow(node)]
    for flow in flows:
        is_overwritten = flow.target is _COND and flow is not flows[-1]
        for result in list(flow.users):
            if result.target is operator.getitem and (is_overwritten or any(map(_is_view, result.users))):
                _copy(result, result.next, list(result.users))
        if flow.target in (_MAP, _SCAN):
            _lay_out_rows(module, flow)
    if flows:
        module.recompile()


def _lay_out_rows(module: GraphModule, loop: Node) -> None:
    """Makes the results of a loop's body contiguous, except those that the next iteration reads."""
    body, first = loop.args[:2]
    assert isinstance(body, Node), f"{loop} has no body"
    graph_module = module.get_submodule(str(body.target))
    assert isinstance(graph_module, GraphModule), f"{body} is no graph"
    end = graph_module.graph.output_node()
    carried = len(first) if loop.target is _SCAN else 0  # type: ignore[arg-type]
    (results,) = end.args
    assert isinstance(results, (list, tuple)), f"{end} has no results"
    rows: list[Any] = list(results)
    for i, row in enumerate(rows[carried:], carried):
        value = graphs.value(row)
        if not graphs.is_contiguous(value):
            rows[i] = ToDimOrderCopy(row, dim_order=tuple(range(value.dim()))).insert(end, value.contiguous())
    end.args = (tuple(rows),)
    graph_module.recompile()


def _is_view(node: Node) -> bool:
    return ViewCopy.of(node) is not None


def _separate_outputs(program: ExportedProgram) -> None:
    end = program.graph.output_node()
    given = outputs(program)
    copied_to = {written for written, value in given if written is not None and value is not written}
    aliases = Aliases(program) if copied_to else None
    values = []
    for written, value in given:
        is_lost = isinstance(value, Node) and aliases is not None and _is_lost(aliases, copied_to, written, value)
        values.append(_copy(value, end, ()) if is_lost else value)
    end.args = (tuple(values),)
    for spec, value in zip(program.graph_signature.output_specs, values, strict=True):
        if isinstance(value, Node):
            spec.arg.name = value.name


def _is_lost(aliases: Aliases, copied_to: set[Node], written: Node | None, value: Node) -> bool:
    """Returns whether an output has no memory of its own when ExecuTorch copies new values to buffers and inputs."""
    if written is not None and value is not written and value.op == "placeholder":
        return True
    # A view that is an output of the method is a copy. A view that becomes the value of a buffer is none.
    if written is None and _is_view(value):
        return False
    return any(node in copied_to and node is not written for node in aliases.of(value))


def _copy(value: Node, before: Node, users: Iterator[Node] | list[Node] | tuple[()]) -> Node:
    """Inserts a copy of a value before a node, and has some users of the value read the copy."""
    tensor = graphs.value(value)
    order = graphs.dim_order(tensor)
    with value.graph.inserting_before(before):
        copy = value.graph.call_function(_CLONE, (value,), {"dim_order": [*order]})
    copy.meta = {**value.meta, "val": tensor}
    for user in users:
        user.replace_input_with(value, copy)
    return copy
