"""The way of an operator into a program: its kernel, or the operators into which an export decomposes it."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import torch
import yaml
from executorch.exir import EdgeCompileConfig
from executorch.exir.dialects.edge._ops import EdgeOpOverload
from torch.utils import _pytree as pytree

from export.lower import repeated_work
from export.lower.decompositions import DECOMPOSITIONS
from export.patches import more_decompositions
from tools.operators.calls import Call

# Operators that the runtime itself computes or that an export computes, so that no kernel does.
_OF_THE_RUNTIME = {
    "aten::_local_scalar_dense": "an instruction of the runtime reads the number",
    "aten::sym_is_contiguous": "an export answers the question",
    "aten::sym_numel": "the product of sizes, which the runtime computes",
    "aten::sym_size.int": "an instruction of the runtime reads the size",
    "aten::sym_storage_offset": "0 for all tensors of a program",
    "aten::sym_stride.int": "the product of sizes, which the runtime computes",
}

# Operators that programs cannot call, with the reason.
WITHOUT_WAY: Mapping[str, str] = {
    "aten::linalg_lstsq": "torch.export cannot trace it, since the sizes of its results depend on the driver. A least"
    " squares solution is `torch.linalg.pinv(a) @ b`, or that of `torch.linalg.qr(a)` for a matrix of full rank",
}


@dataclasses.dataclass(frozen=True)
class Way:
    """The way of one operator.

    Attributes:
        operators: the operators that a program calls, in order of their names, such as `aten::add.out`.
        missing: those of them without a kernel, or the failure of the lowering.
        note: what stands in place of the operators.
    """

    operators: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    note: str = ""


def kernels(yamls: Iterable[str]) -> set[str]:
    """The operators with kernels, from the YAMLs of kernel libraries."""
    entries = (entry for text in yamls for entry in yaml.safe_load(text))
    names = (entry["op"] if "op" in entry else entry["func"].partition("(")[0] for entry in entries)
    return {name if "::" in name else f"aten::{name}" for name in names}


def wanted(calls: Iterable[Call]) -> dict[str, Call | None]:
    """The operators that need a way, with their calls: Core ATen's and those of the list. None: the list lacks one.

    Of several calls of an operator, as with complex numbers, each has its own name.
    """
    found: dict[str, Call | None] = {}
    for call in calls:
        name = call.name
        if name in found:
            name = f"{name} (complex)"
        found[name] = call
    for name in _core_aten():
        found.setdefault(name, None)
    return dict(sorted(found.items()))


def way(name: str, call: Call | None, have: Collection[str]) -> Way:
    """Exports a call, and returns the operators of the program.

    Args:
        name: the operator's name.
        call: a call of the operator; None if the list has none.
        have: the operators with kernels.
    """
    if name in _OF_THE_RUNTIME:
        return Way(note=_OF_THE_RUNTIME[name])
    if call is None:
        return Way(missing=("no call in tools/operators/calls.py",))
    try:
        called = _lowered(call)
    except Exception as error:
        return Way(missing=(f"{type(error).__name__}: {str(error).strip().splitlines()[0]}",))
    return Way(tuple(called), tuple(one for one in called if one not in have))


def _core_aten() -> list[str]:
    """The operators of Core ATen, without those that change an argument."""
    found = []
    for name in torch._C._dispatch_get_all_op_names():
        namespace, _, rest = name.partition("::")
        packet, _, overload = rest.partition(".")
        if namespace == "aten":
            operator = getattr(getattr(torch.ops.aten, packet), overload or "default", None)
            if operator is not None and torch.Tag.core in operator.tags and not operator._schema.is_mutable:
                found.append(name)
    return found


class _Module(torch.nn.Module):
    def __init__(self, call: Call) -> None:
        super().__init__()
        self._call = call

    def forward(self, *tensors: torch.Tensor) -> Any:
        given = iter(tensors)

        def replaced(argument: Any) -> Any:
            return next(given) if isinstance(argument, torch.Tensor) else argument

        return self._call.operator(*pytree.tree_map(replaced, self._call.args), **self._call.kwargs)


def _lowered(call: Call) -> list[str]:
    """The names of the operators that a program with a call has."""
    tensors = tuple(one.clone() for one in pytree.tree_leaves(call.args) if isinstance(one, torch.Tensor))
    with torch.no_grad():
        exported = torch.export.export(_Module(call), tensors)
    with more_decompositions.added(DECOMPOSITIONS), repeated_work.avoided():
        config = EdgeCompileConfig(_check_ir_validity=False)
        graph = repeated_work.to_edge({"forward": exported}, config).exported_program().graph
    names = set()
    for node in graph.nodes:
        if isinstance(node.target, EdgeOpOverload):
            try:
                names.add(node.target.to_out_variant().name())
            except RuntimeError:
                names.add(re.sub(r"\.default$", "", node.target._op.name()))
        elif isinstance(node.target, torch._ops.HigherOrderOperator):
            names.add(str(node.target))
    return sorted(names)
