"""Avoids repeated work of PyTorch and ExecuTorch during a lowering. The resulting programs are the same."""

from __future__ import annotations

import contextlib
import functools
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from unittest import mock

import torch._export.utils
from executorch import exir
from executorch.exir import EdgeCompileConfig, EdgeProgramManager
from torch._C import DispatchKey
from torch._higher_order_ops.utils import autograd_not_implemented
from torch._ops import OpOverload
from torch._subclasses import FakeTensorMode, fake_impls
from torch.export import ExportedProgram, exported_program
from torch.fx import GraphModule, Node
from torch.fx.graph import _PyTreeCodeGen
from torch.fx.traceback import NodeSource

from export import idle_passes

# Composite operators that return new tensors.
_NEW = {
    *("aten.conv1d", "aten.conv2d", "aten.conv3d", "aten.conv_transpose1d", "aten.conv_transpose2d"),
    *("aten.linear", "aten.matmul", "aten.batch_norm", "aten.layer_norm", "aten.group_norm", "aten.max_pool2d"),
}


@contextlib.contextmanager
def avoided() -> Iterator[None]:
    """Avoids repeated work of any export.

    Nodes share the NodeSource records of their source nodes. Each pass adds a record to the records of the earlier
    passes, and PyTorch deep-copies all records of each node. The copies are unnecessary, since nothing changes a record
    after its construction.

    Each decomposition overrides the kernels of some 560 composite operators, each with 22 dispatch keys. `_overridden`
    replaces the table of an operator at once, where PyTorch checks and sets each kernel.

    Graph modules get their Python code when something reads the code. PyTorch generates and compiles the code after
    each pass, but most passes interpret the graph.
    """
    with (
        mock.patch.object(NodeSource, "__deepcopy__", lambda source, _: source, create=True),
        mock.patch.object(exported_program, "_override_composite_implicit_decomp", _overridden),
        mock.patch.object(GraphModule, "recompile", _recompile_late),
        mock.patch.object(GraphModule, "__reduce__", _reduce),
    ):
        yield


def to_edge(
    programs: Mapping[str, ExportedProgram], config: EdgeCompileConfig, *, generate_etrecord: bool = False
) -> EdgeProgramManager:
    """Lowers methods without backends as ExecuTorch's `to_edge_transform_and_lower` does, in less time.

    `to_edge_transform_and_lower` decomposes operators in two steps, between which the partitioners run. ExecuTorch's
    `to_edge` decomposes in one step. The programs of the two differ if a call writes to an input or to a buffer, so
    such methods are lowered with `to_edge_transform_and_lower`.

    Args:
        programs: the methods.
        config: the config of the edge dialect, with the validity check off. The two functions check differently.
        generate_etrecord: whether the result has the data of an ETRecord.
    """
    keeps_inputs = all(map(_keeps_inputs, programs.values()))
    lower = exir.to_edge if keeps_inputs else exir.to_edge_transform_and_lower
    with _known_operators(), idle_passes.skipped():
        return lower(dict(programs), compile_config=config, generate_etrecord=generate_etrecord)


def _keeps_inputs(program: ExportedProgram) -> bool:
    """Returns whether calls write to new tensors only, including calls in branches and loops."""
    graphs = (module.graph for module in program.graph_module.modules() if isinstance(module, GraphModule))
    return all(map(_is_new, (written for graph in graphs for node in graph.nodes for written in _written(node))))


def _written(node: Node) -> list[Any]:
    """Returns the arguments to which a call writes."""
    schema = getattr(node.target, "_schema", None)
    if schema is None or not schema.is_mutable:
        return []
    given = dict(enumerate(node.args)) | node.kwargs
    written = [key for index, one in enumerate(schema.arguments) if one.is_write for key in (index, one.name)]
    return [given[key] for key in written if key in given]


def _is_new(value: Any) -> bool:
    """Returns whether no input and no buffer has the storage of a value."""
    if not isinstance(value, Node) or value.op != "call_function" or not isinstance(value.target, OpOverload):
        return False
    if any(one.alias_info is not None for one in value.target._schema.returns):
        return all(map(_is_new, value.all_input_nodes))
    # A composite operator may return an argument or a view of an argument, although the schema does not say so.
    is_composite = value.target.has_kernel_for_dispatch_key(DispatchKey.CompositeImplicitAutograd)
    return not is_composite or str(value.target.overloadpacket) in _NEW or all(map(_is_new, value.all_input_nodes))


@contextlib.contextmanager
def _known_operators() -> Iterator[None]:
    """Makes PyTorch collect the decomposable operators only once. No operator is registered during the block."""
    utils = torch._export.utils
    with contextlib.ExitStack() as patches:
        # The second function runs for each of some 40 namespaces, and looks for the operators of all namespaces.
        for function in (utils._collect_all_valid_cia_ops_for_namespace, utils._materialize_cpp_cia_ops):
            patches.enter_context(mock.patch.object(utils, function.__name__, functools.cache(function)))
        yield


@contextlib.contextmanager
def _overridden(decompositions: Mapping[OpOverload, Callable[..., Any]]) -> Iterator[None]:
    """Does what PyTorch's `_override_composite_implicit_decomp` does.

    In the block, tracing calls the decomposition of each operator. Computations with constants and with fake tensors
    call the operator's own kernel.
    """
    tables = {operator: operator.py_kernels for operator in decompositions}
    for operator, decomposition in decompositions.items():
        kernel = torch._export.utils._get_decomp_for_cia(operator)
        refusal = autograd_not_implemented(operator, deferred_error=True)
        operator.py_kernels = {
            **dict.fromkeys(exported_program._AUTOGRAD_ALIAS_BACKEND_KEYS_TO_OVERRIDE, refusal),
            **dict.fromkeys(exported_program._BACKEND_KEYS_TO_OVERRIDE, kernel),
            **operator.py_kernels,
            DispatchKey.CompositeImplicitAutograd: decomposition,
        }
        operator._dispatch_cache.clear()
        fake_impls.op_implementations_dict.setdefault(operator, functools.partial(_run_fake, kernel))
    try:
        yield
    finally:
        for operator, table in tables.items():
            operator.py_kernels = table
            operator._dispatch_cache.clear()
            # PyTorch does not restore a rule from before the block.
            fake_impls.op_implementations_dict.pop(operator, None)


def _run_fake(kernel: Callable[..., Any], mode: FakeTensorMode, _: OpOverload, /, *args: Any, **kwargs: Any) -> Any:
    """Runs a kernel with fake tensors. The parameters after the first are those of a rule of FakeTensorMode."""
    with mode:
        return kernel(*args, **kwargs)


_original_recompile = GraphModule.recompile
_original_reduce = GraphModule.__reduce__
# The attributes that GraphModule.recompile sets in a graph module.
_CODE_ATTRIBUTES = ("_code", "_lineno_map", "_prologue_start")


class _LateAttribute:
    """A class attribute of one graph module. The first read recompiles the module, which replaces the attribute."""

    def __init__(self, module: GraphModule, name: str) -> None:
        self._module = weakref.ref(module)
        self._name = name

    def __get__(self, instance: GraphModule | None, owner: type[GraphModule]) -> Any:
        module = self._module()
        if module is None:
            raise AttributeError(self._name)
        _original_recompile(module)
        return getattr(owner if instance is None else instance, self._name)


def _recompile_late(module: GraphModule) -> None:
    """Does what GraphModule.recompile does, when something reads an attribute that the function sets."""
    codegen = module.graph._codegen
    if isinstance(codegen, _PyTreeCodeGen):
        module._in_spec, module._out_spec = codegen.pytree_info.in_spec, codegen.pytree_info.out_spec
    for name in _CODE_ATTRIBUTES:
        module.__dict__.pop(name, None)
    for name in ("forward", *_CODE_ATTRIBUTES):
        # PyTorch makes a class for each graph module.
        setattr(type(module), name, _LateAttribute(module, name))


def _reduce(module: GraphModule) -> tuple[Any, ...]:
    """Does what GraphModule.__reduce__ does, which pickles the code."""
    with mock.patch.object(GraphModule, "recompile", _original_recompile):
        module.recompile()
        return _original_reduce(module)
