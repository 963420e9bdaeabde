"""Caches repeated work of PyTorch and ExecuTorch during a lowering. The resulting graphs are the same.

A lowering runs about ten passes. Each pass traces the whole graph anew with fake tensors.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar
from unittest import mock

import torch._export.utils
from executorch import exir
from executorch.exir import EdgeCompileConfig, EdgeProgramManager
from torch._C import DispatchKey
from torch._ops import OperatorBase
from torch.export import ExportedProgram
from torch.fx import GraphModule
from torch.fx.traceback import NodeSource

_Kernel = TypeVar("_Kernel", bound=Callable[..., Any])


@contextlib.contextmanager
def avoided() -> Iterator[None]:
    """Avoids repeated work of any export.

    Nodes share the NodeSource records of their source nodes. Each pass adds a record to the records of the earlier
    passes, and PyTorch deep-copies all records of each node. The copies are unnecessary, since nothing changes a record
    after its construction.

    Kernels are overridden by `_py_impl`. Each decomposition overrides some 12,000 kernels.
    """
    with (
        mock.patch.object(NodeSource, "__deepcopy__", lambda source, _: source, create=True),
        mock.patch.object(OperatorBase, "py_impl", _py_impl),
    ):
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
    with contextlib.ExitStack() as patches:
        # The second function runs for each of some 40 namespaces, and looks for the operators of all namespaces.
        for function in (utils._collect_all_valid_cia_ops_for_namespace, utils._materialize_cpp_cia_ops):
            patches.enter_context(mock.patch.object(utils, function.__name__, functools.cache(function)))
        yield


_original_py_impl = OperatorBase.py_impl


def _py_impl(operator: OperatorBase, key: Any) -> Callable[[_Kernel], _Kernel]:
    """Does what OperatorBase.py_impl does, which evaluates type annotations in each call."""
    if not isinstance(key, DispatchKey) or key in operator.py_kernels or key == DispatchKey.Python:
        return _original_py_impl(operator, key)  # type: ignore[return-value]

    def register(kernel: _Kernel) -> _Kernel:
        operator.py_kernels[key] = kernel
        operator._dispatch_cache.clear()
        return kernel

    return register
