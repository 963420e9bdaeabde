"""Patch: methods without backends are decomposed once.

**What**: nothing is replaced. An export calls ExecuTorch's `to_edge` in place of `to_edge_transform_and_lower`, which
relies on what the two do.

**Why**: `to_edge_transform_and_lower` decomposes operators in two steps, between which the partitioners run. `to_edge`
decomposes in one step. The programs of the two differ if a call writes to an input or to a buffer. They also differ if
the new value of an input is an output of the program: each step adds a copy.

**Effect**: without it, an export of MobileNetV2 takes 28% more CPU time (5.2 s, not 4.0), and one of a ViT 14%.

**Report**, to ExecuTorch: `to_edge_transform_and_lower` should decompose in one step if there are no partitioners.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch._C import DispatchKey
from torch._ops import OpOverload
from torch.export import ExportedProgram
from torch.export.graph_signature import OutputKind
from torch.fx import GraphModule, Node

from export.patches.patch import Patch

_PROGRAM = "executorch.exir.program._program"

PATCH = Patch(
    "one_decomposition",
    known={
        f"{_PROGRAM}:to_edge": {"1.4.1": "f654a63ef085", "1.5.1": "f654a63ef085"},
        f"{_PROGRAM}:to_edge_transform_and_lower": {"1.4.1": "e85d79fcd171", "1.5.1": "83d5a6b61daa"},
        f"{_PROGRAM}:_gen_edge_manager_for_partitioners": {"1.4.1": "0c7a7eb6bdca", "1.5.1": "487532422385"},
    },
    without="the export is slower",
)

# Composite operators that return new tensors.
_NEW = {
    *("aten.conv1d", "aten.conv2d", "aten.conv3d", "aten.conv_transpose1d", "aten.conv_transpose2d"),
    *("aten.linear", "aten.matmul", "aten.batch_norm", "aten.layer_norm", "aten.group_norm", "aten.max_pool2d"),
}


def is_enough(programs: Mapping[str, ExportedProgram]) -> bool:
    """Returns whether `to_edge` makes the programs of `to_edge_transform_and_lower` without backends."""
    return PATCH.is_applied() and all(map(_keeps_inputs, programs.values()))


def _keeps_inputs(program: ExportedProgram) -> bool:
    """Returns whether calls, including those in branches and loops, write to new tensors only, and no input changes."""
    if any(output.kind is OutputKind.USER_INPUT_MUTATION for output in program.graph_signature.output_specs):
        return False
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
