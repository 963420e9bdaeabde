"""Has PyTorch and ExecuTorch do once what they do again and again while they lower graphs. The graphs are the same.

A lowering runs about ten passes that each make the whole graph anew, and compute its calls on tensors without elements.
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
    """Has nodes share the records of the nodes that they come from.

    Each pass adds a record to those of the pass before, all of which PyTorch copies for each node. Nothing changes a
    record once it is made.
    """
    with mock.patch.object(NodeSource, "__deepcopy__", lambda source, _: source, create=True):
        yield


def to_edge(
    programs: Mapping[str, ExportedProgram], config: EdgeCompileConfig, *, generate_etrecord: bool = False
) -> EdgeProgramManager:
    """What ExecuTorch's `to_edge_transform_and_lower` gives for methods without backends, in less time.

    That function decomposes operators in two steps, as partitioners are asked about the graph between the steps.
    ExecuTorch's `to_edge` decomposes in one step. The order of calls differs where a call writes to its arguments.

    Args:
        programs: the methods.
        config: how they turn into the edge dialect, without a check of the dialect, in which the functions differ.
        generate_etrecord: whether the result knows what an ETRecord has.
    """
    lower = exir.to_edge if all(map(_is_functional, programs.values())) else exir.to_edge_transform_and_lower
    with _known_operators():
        return lower(dict(programs), compile_config=config, generate_etrecord=generate_etrecord)


def _is_functional(program: ExportedProgram) -> bool:
    """Whether no call writes to its arguments, in branches and loops neither."""
    graphs = (module.graph for module in program.graph_module.modules() if isinstance(module, GraphModule))
    schemas = (getattr(node.target, "_schema", None) for graph in graphs for node in graph.nodes)
    return not any(schema.is_mutable for schema in schemas if schema is not None)


@contextlib.contextmanager
def _known_operators() -> Iterator[None]:
    """Has PyTorch collect the operators that it may decompose once. No operator is registered meanwhile."""
    utils = torch._export.utils
    collect = utils._collect_all_valid_cia_ops_for_namespace
    with mock.patch.object(utils, collect.__name__, functools.cache(collect)):
        yield
