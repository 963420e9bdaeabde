"""Multiplies the rows of all batches by a matrix that the batches share, as one product.

PyTorch decomposes `x @ w`, and a linear layer, into `bmm` if `x` has three dimensions and is not contiguous, as after
a transposition. The second operand of this `bmm` has a copy of `w` for each batch.
"""

from __future__ import annotations

from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import graphs
from export.graph_passes.calls import Bmm, ExpandCopy, Mm, ViewCopy
from export.graph_passes.graph_pass import Change, GraphPass, Stage


def _rewrite(_: ExportedProgram, node: Node, batched: Bmm[Node]) -> Change | None:
    shared = _shared_matrix(batched)
    if shared is None:
        return None
    source, result = graphs.value(batched.input), graphs.value(node)
    batches, rows, inputs = source.shape
    outputs = result.shape[2]
    flat = graphs.like(source, (batches * rows, inputs), (inputs, 1))
    product = graphs.like(result, (batches * rows, outputs), (outputs, 1))
    matrix = graphs.like(source, (inputs, outputs), (outputs, 1))
    flat_sizes, matrix_sizes, result_sizes = (graphs.view_sizes(one) for one in (flat, matrix, result))
    if flat_sizes is None or matrix_sizes is None or result_sizes is None:
        return None
    # Views need contiguous tensors, and ExecuTorch takes sizes with one possible value for dynamic.
    tensors = (source, result, graphs.value(shared))
    if not all(graphs.is_contiguous(one) and not graphs.has_late_sizes(one) for one in tensors):
        return None
    if graphs.value(shared).dim() > 2:
        shared = ViewCopy(shared, matrix_sizes).insert(node, matrix)
    rows_of_all = ViewCopy(batched.input, flat_sizes).insert(node, flat)
    ViewCopy(Mm(rows_of_all, shared).insert(node, product), result_sizes).write(node)
    return Change(node, "batches of rows multiplied by one matrix")


def _shared_matrix(product: Bmm[Node]) -> Node | None:
    """Returns the matrix, or the batch of one matrix, whose copies are the second operand; None if there is none."""
    expansion = ExpandCopy.of(product.mat2)
    if expansion is None:
        return None
    *batches, inputs, outputs = graphs.value(expansion.input).shape
    is_one = all(graphs.is_true(size == 1) for size in batches)
    is_whole = graphs.same_sizes((inputs, outputs), graphs.value(product.mat2).shape[1:])
    return expansion.input if is_one and is_whole else None


PASS = GraphPass(
    "broadcast_matmul",
    Stage.LOWERED,
    roots=(Bmm,),
    rewrite=_rewrite,
    reference=(
        "multiplies the rows of all batches by a matrix that the batches share in one product. PyTorch decomposes a "
        "linear layer of a transposed tensor into a product of batches, and ExecuTorch then copies the weight once per "
        "batch in each run"
    ),
    is_default=True,
    after=("no_ops",),
)
