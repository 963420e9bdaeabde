"""Caches repeated work of PyTorch and ExecuTorch during a lowering. The resulting graphs are the same.

A lowering runs about ten passes. Each pass traces the whole graph anew with fake tensors.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Mapping
from unittest import mock

import torch._export.utils
from executorch import exir
from executorch.exir import EdgeCompileConfig, EdgeProgramManager
from torch.export import ExportedProgram
from torch.fx import GraphModule
from torch.fx.traceback import NodeSource


@contextlib.contextmanager
def shared_sources() -> Iterator[None]:
    """Makes nodes share the NodeSource records of their source nodes.

    Each pass adds a record to the records of the earlier passes, and PyTorch deep-copies all records of each node. The
    copies are unnecessary, since nothing changes a record after its construction.
    """
    with mock.patch.object(NodeSource, "__deepcopy__", lambda source, _: source, create=True):
        yield


def to_edge(
    programs: Mapping[str, ExportedProgram], config: EdgeCompileConfig, *, generate_etrecord: bool = False
) -> EdgeProgramManager:
    """Lowers methods without backends as ExecuTorch's `to_edge_transform_and_lower` does, in less time.

    `to_edge_transform_and_lower` decomposes operators in two steps, between which the partitioners run. ExecuTorch's
    `to_edge` decomposes in one step. If a call writes to its arguments, the order of calls differs between the two, so
    such methods are lowered with `to_edge_transform_and_lower`.

    Args:
        programs: the methods.
        config: the config of the edge dialect, with the validity check off. The two functions check differently.
        generate_etrecord: whether the result has the data of an ETRecord.
    """
    lower = exir.to_edge if all(map(_is_functional, programs.values())) else exir.to_edge_transform_and_lower
    with _known_operators():
        return lower(dict(programs), compile_config=config, generate_etrecord=generate_etrecord)


def _is_functional(program: ExportedProgram) -> bool:
    """Returns whether no call writes to its arguments, including calls in branches and loops."""
    graphs = (module.graph for module in program.graph_module.modules() if isinstance(module, GraphModule))
    schemas = (getattr(node.target, "_schema", None) for graph in graphs for node in graph.nodes)
    return not any(schema.is_mutable for schema in schemas if schema is not None)


@contextlib.contextmanager
def _known_operators() -> Iterator[None]:
    """Makes PyTorch collect the decomposable operators only once. No operator is registered during the block."""
    utils = torch._export.utils
    collect = utils._collect_all_valid_cia_ops_for_namespace
    with mock.patch.object(utils, collect.__name__, functools.cache(collect)):
        yield
