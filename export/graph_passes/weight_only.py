"""Keeps weights of linear layers quantized, to 8 bits or to 4, two in a byte: a layer reads no more of them than that.

torchao's quantize_() dequantizes such weights with `torchao::dequantize_affine`, for which programs have no kernel.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import graphs, packing
from export.graph_passes.graph_pass import Change, GraphPass, Stage

_LINEAR = torch.ops.aten.linear.default
_DEQUANTIZE = "torchao::dequantize_affine"


def _run(program: ExportedProgram) -> list[Change]:
    changes = []
    for call in graphs.calls(program, graphs.EDGE.aten.linear.default):
        source, dequantize, bias = (graphs.argument(call, name) for name in ("input", "weight", "bias"))
        found = _weight(program, dequantize)
        if found is None or graphs.value(source).dtype != torch.float32 or not graphs.is_contiguous(source.meta["val"]):
            continue
        weight, scale = found
        bits = 4 if weight.dtype == torch.uint8 else 8
        constants = (
            graphs.add_constant(program, f"{call.name}_{name}", tensor)
            for name, tensor in (("weight_of_bytes", weight), ("scale_of_groups", scale))
        )
        target = graphs.EDGE.rules_executorch.weight_only_linear.default
        changes.append(Change.of(call, f"a linear layer with weights of {bits} bits"))
        graphs.replace(call, graphs.insert_call(call, target, (source, *constants, bias), graphs.value(call)))
    graphs.finish(program)
    return changes


def _weight(program: ExportedProgram, dequantize: Any) -> tuple[torch.Tensor, torch.Tensor] | None:
    """The weight as the operator takes it, and the scales of its groups; None for what it does not take."""
    if not isinstance(dequantize, Node) or graphs.name_of(dequantize) != _DEQUANTIZE:
        return None
    from export.graph_passes.weight_only_operator import GROUP_MULTIPLE  # Registers it for programs with it only.

    names = ("input", "block_size", "scale", "zero_point", "quant_min", "quant_max")
    tensor, block_size, scale, zero_point, least, most = (_argument(program, dequantize, name) for name in names)
    if not isinstance(tensor, torch.Tensor) or tensor.dim() != 2 or tensor.dtype != torch.int8:
        return None
    if (
        not isinstance(scale, torch.Tensor)
        or scale.dtype != torch.float32
        or graphs.value(dequantize).dtype != scale.dtype
    ):
        return None
    if block_size[0] != 1 or (isinstance(zero_point, torch.Tensor) and torch.count_nonzero(zero_point)):
        return None
    group = block_size[1]
    groups = tensor.shape[1] // group
    if tensor.shape[1] != groups * group or scale.numel() != tensor.shape[0] * groups:
        return None
    scale = scale.reshape(tensor.shape[0], groups)
    if least is not None and most is not None and least >= -8 and most <= 7 and group % packing.BLOCK_OF_HALVES == 0:
        return packing.pack_halves(tensor), scale
    return (tensor, scale) if groups == 1 or group % GROUP_MULTIPLE == 0 else None


def _argument(program: ExportedProgram, call: Node, name: str) -> Any:
    """An argument; of a constant, its elements."""
    value = graphs.argument(call, name)
    return graphs.constant(program, value) if isinstance(value, Node) else value


PASS = GraphPass("weight_only", Stage.LOWERED, _run, preserved=(_LINEAR,))
