"""Patch: a copy into a buffer keeps the dtype, the sizes and the strides of the buffer.

**What**: replaces `_remove_unnecessary_copy_op_pass` of `torch.export.exported_program`, which replaces the new value
of a buffer, `copy(buffer, source)`, by `source`.

**Why**: the replacement is right only if the source has the dtype, the sizes and the strides of the buffer. For
`self.buffer.copy_(source)` with a source of another dtype or of fewer dimensions, the program computes with the source,
without its conversion.

**Effect**: without the patch, such a program has other results than the model, such as 2.7 in place of 2 from a buffer
of integers, and results of another dtype.

**Report**, to PyTorch: `_remove_unnecessary_copy_op_pass` should keep copies that convert or broadcast.
"""

from __future__ import annotations

import contextlib

import torch
from torch.export import exported_program
from torch.export.graph_signature import ExportGraphSignature
from torch.fx import GraphModule, Node
from torch.fx.experimental.symbolic_shapes import guard_or_false

from export.patches.patch import Patch

PATCH = Patch(
    "converting_copies",
    known={"torch.export.exported_program:_remove_unnecessary_copy_op_pass": {"2.13": "9bc81cde34bb"}},
    without="programs that copy into a buffer of another dtype or shape are wrong",
)


def kept() -> contextlib.AbstractContextManager[None]:
    """Keeps copies that convert or broadcast during the block."""
    return PATCH.applied(exported_program, _remove_unnecessary_copy_op_pass=_without_plain_copies)


def _without_plain_copies(
    module: GraphModule, signature: ExportGraphSignature
) -> tuple[GraphModule, ExportGraphSignature]:
    """Replaces new values of buffers that are copies of tensors of the same kind by these tensors."""
    written = {**signature.buffers_to_mutate, **signature.parameters_to_mutate}
    with module._set_replace_hook(signature.get_replace_hook()):
        for result in module.graph.output_node().all_input_nodes:
            if result.name not in written or result.target is not torch.ops.aten.copy.default:
                continue
            buffer, source = result.args[:2]
            if isinstance(buffer, Node) and isinstance(source, Node) and _is_plain(buffer, source):
                result.replace_all_uses_with(source)
                module.graph.erase_node(result)
        module.recompile()
    return module, signature


def _is_plain(buffer: Node, source: Node) -> bool:
    """Returns whether a copy is known to have the source's dtype, sizes and strides."""
    one, other = (node.meta["val"] for node in (buffer, source))
    return (
        one.dtype == other.dtype
        and one.dim() == other.dim()
        and all(guard_or_false(a == b) for a, b in zip(one.shape, other.shape, strict=True))
        and all(guard_or_false(a == b) for a, b in zip(one.stride(), other.stride(), strict=True))
    )
