"""Brings a graph into the normal form that passes rely on: the arguments of calls, and the sizes of values."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.export import ExportedProgram
from torch.utils import _pytree as pytree

from export.graph_passes import calls, graphs


def normalize(program: ExportedProgram) -> None:
    """Writes the arguments of each call in the normal form of call.py, and constant sizes of values as numbers.

    The arguments are those of the outermost graph, which passes rewrite. The values are also those of branches and
    loops: ExecuTorch refuses a branch whose input has a symbol where the value that it gets has a number.
    """
    for node in graphs.all_nodes(program.graph_module):
        if "val" in node.meta:
            node.meta["val"] = pytree.tree_map_only(FakeTensor, _with_constant_sizes, node.meta["val"])
    for node in program.graph.nodes:
        called = graphs.operator_of(node)
        view = calls.VIEWS.get(called.name()) if called is not None else None
        call = view.of(node) if view is not None else None
        if call is not None:
            call.write(node)


def _with_constant_sizes(tensor: FakeTensor) -> torch.Tensor:
    """Returns a tensor that has numbers in place of constant symbolic sizes and strides.

    If a model accepts one size only, torch.export keeps a symbol for the size of the input, and results have numbers.
    ExecuTorch writes no view whose sizes are numbers of a tensor whose sizes are symbols. So a pass could not replace a
    copy of such an input by the input.
    """
    sizes, strides = _constants(tensor.shape), _constants(tensor.stride())
    if all(type(new) is type(old) for new, old in zip(sizes, tensor.shape, strict=True)):
        return tensor
    with tensor.fake_mode:
        return torch.empty_strided(sizes, strides, dtype=tensor.dtype, device=tensor.device)


def _constants(sizes: Iterable[int | torch.SymInt]) -> list[int | torch.SymInt]:
    return [int(one.node.expr) if isinstance(one, torch.SymInt) and one.node.expr.is_Integer else one for one in sizes]
