"""Prepares assignments to buffers, `self.state = y`, which torch.export makes copies at the end of the graph.

- A copy converts the elements to the dtype and the sizes of the buffer. An assignment in PyTorch replaces the buffer.
- A copy writes to the former tensor, which an assignment leaves as it was. Outputs of the former tensor are copied
  before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from diagnostics.errors import Finding, InputError
from export.memory import writes
from export.user.model_file import Method

# The names that torch.export gives these copies. A copy_() of the model has the name copy_ or copy__1.
_NAME = "copy__default"


def prepare(method: Method, exported: ExportedProgram) -> None:
    """Checks the assignments of a method, and separates outputs from them. Changes the program in place.

    Raises:
        InputError: the method assigns a tensor of another dtype or of other sizes.
    """
    assigned = list(_assigned(exported))
    if not assigned:
        return
    _check(method, exported, assigned)
    buffers = {buffer for buffer, _, _ in assigned}
    *_, first = assigned[0]
    end = exported.graph.output_node()
    for value in dict.fromkeys(end.all_input_nodes):
        if writes.base(value) in buffers:
            with exported.graph.inserting_before(first):
                former = exported.graph.call_function(torch.ops.aten.clone.default, (value,))
            former.meta = {**first.meta, "val": value.meta["val"].clone()}
            end.replace_input_with(value, former)
            for spec in exported.graph_signature.output_specs:
                if getattr(spec.arg, "name", None) == value.name:
                    spec.arg.name = former.name
    exported.graph_module.recompile()


def _assigned(exported: ExportedProgram) -> Iterator[tuple[Node, Node, Node]]:
    """Yields the placeholders of assigned buffers, each with the assigned value and the copy."""
    for node in exported.graph.nodes:
        if node.target is torch.ops.aten.copy_.default and node.name.startswith(_NAME):
            buffer = writes.base(node.args[0])  # The model may have written to the buffer before.
            assert buffer is not None
            yield buffer, node.args[1], node


def _check(method: Method, exported: ExportedProgram, assigned: Sequence[tuple[Node, Node, Node]]) -> None:
    names = {spec.arg.name: spec.target for spec in exported.graph_signature.input_specs}
    findings = []
    for placeholder, value, _ in assigned:
        before, now = placeholder.meta["val"], value.meta["val"]
        if (before.dtype, before.shape) == (now.dtype, now.shape):
            continue
        name, kind = names[placeholder.name], f"{now.dtype}, {list(now.shape)}"
        at, frames = method.source.frames_of_text(value.meta.get("stack_trace") or "")
        findings.append(
            Finding(
                at or method.at,
                f"{method.name}() assigns a tensor of {kind} to the buffer {name}, which is of {before.dtype},"
                f" {list(before.shape)}",
                "an assignment replaces the buffer in PyTorch. A program plans the memory of a buffer once, for the"
                " dtype and the sizes of the first value.",
                _fix(name, before, now),
                frames,
                id="replaced-buffer",
            )
        )
    if findings:
        raise InputError(findings)


def _fix(name: str, before: torch.Tensor, now: torch.Tensor) -> str:
    run = "run the model once in get_model(), as by model(*inputs)"
    if before.numel() == 0:
        first = (
            f"if the first run gives the buffer its sizes, {run}, and set the buffer back:"
            f" model.get_buffer({name!r}).zero_()."
        )
    elif before.dtype == now.dtype:
        first = (
            "register the buffer with the sizes that it keeps. If forward() computes the buffer once for its sizes,"
            f" {run}."
        )
    else:
        first = "register the buffer with the dtype and the sizes that it keeps."
    grows = f"For a value that grows, register the largest size, and write to a part of it: self.{name}[position] = ..."
    return f"{first} {grows}"
