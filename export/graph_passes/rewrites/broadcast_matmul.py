"""Multiplies the rows of all batches by a matrix that the batches share, as one product.

PyTorch decomposes `x @ w`, and a linear layer, into `bmm` if `x` has three dimensions and is not contiguous, as after
a transposition. The second operand of this `bmm` has a copy of `w` for each batch.
"""

from __future__ import annotations

from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import graphs
from export.graph_passes.calls import Bmm, ExpandCopy, Mm, ViewCopy
from export.graph_passes.graph_pass import Change, GraphPass, Sites, Stage


def _run(program: ExportedProgram, sites: Sites) -> list[Change]:
    del program
    changes = []
    for node, product in Bmm.each(sites):
        shared = _shared_matrix(product)
        if shared is not None and _multiply_rows(node, product.input, shared):
            changes.append(Change.of(node, "batches of rows multiplied by one matrix"))
    return changes


def _shared_matrix(product: Bmm[Node]) -> Node | None:
    """Returns the matrix, or the batch of one matrix, whose copies are the second operand; None if there is none."""
    expansion = ExpandCopy.of(product.mat2)
    if expansion is None:
        return None
    *batches, inputs, outputs = graphs.value(expansion.input).shape
    is_one = all(graphs.is_true(size == 1) for size in batches)
    is_whole = graphs.same_sizes((inputs, outputs), graphs.value(product.mat2).shape[1:])
    return expansion.input if is_one and is_whole else None


def _multiply_rows(node: Node, input: Node, shared: Node) -> bool:
    """Writes one product of all rows and the shared matrix to a node. Returns False if the sizes allow no views."""
    source, result = graphs.value(input), graphs.value(node)
    batches, rows, inputs = source.shape
    outputs = result.shape[2]
    flat = graphs.like(source, (batches * rows, inputs), (inputs, 1))
    product = graphs.like(result, (batches * rows, outputs), (outputs, 1))
    matrix = graphs.like(source, (inputs, outputs), (outputs, 1))
    flat_sizes, matrix_sizes, result_sizes = (graphs.view_sizes(one) for one in (flat, matrix, result))
    if flat_sizes is None or matrix_sizes is None or result_sizes is None:
        return False
    # Views need contiguous tensors, and ExecuTorch takes sizes with one possible value for dynamic.
    tensors = (source, result, graphs.value(shared))
    if not all(graphs.is_contiguous(one) and not graphs.has_late_sizes(one) for one in tensors):
        return False
    if graphs.value(shared).dim() > 2:
        shared = ViewCopy(shared, matrix_sizes).insert(node, matrix)
    rows_of_all = ViewCopy(input, flat_sizes).insert(node, flat)
    ViewCopy(Mm(rows_of_all, shared).insert(node, product), result_sizes).write(node)
    return True


PASS = GraphPass(
    "broadcast_matmul",
    Stage.LOWERED,
    _run,
    reference=(
        "multiplies the rows of all batches by a matrix that the batches share in one product. PyTorch decomposes a "
        "linear layer of a transposed tensor into a product of batches, and ExecuTorch then copies the weight once per "
        "batch in each run"
    ),
    is_default=True,
    after=("no_ops",),
)
