"""Keeps weights of linear layers quantized, to 8 bits or to 4, two in a byte: a layer reads no more of them than that.

torchao's quantize_() dequantizes such weights with `torchao::dequantize_affine`, for which programs have no kernel, or
makes floats of all of them in each call.
"""

from __future__ import annotations

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import affine, graphs, packing
from export.graph_passes.graph_pass import Change, GraphPass, Stage

_ATEN = graphs.EDGE.aten


def _run(program: ExportedProgram) -> list[Change]:
    changes = []
    for call in graphs.calls(program, _ATEN.linear.default, _ATEN.mm.default):
        found = _of_linear(program, call) if call.target is _ATEN.linear.default else _of_product(program, call)
        packed = _packed(found[0]) if found else None
        source = call.args[0]
        if found is None or packed is None or not _is_taken(graphs.value(source)):
            continue
        weight, last = found
        changes.append(
            Change.of(last, f"a linear layer with weights of {4 if packed.dtype == torch.uint8 else 8} bits")
        )
        bias = graphs.argument(call, "bias") if last is call else affine.take_bias(last)
        constants = (
            graphs.add_constant(program, f"{call.name}_{name}", tensor)
            for name, tensor in (("weight_of_bytes", packed), ("scale_of_groups", weight.scale))
        )
        target = graphs.EDGE.rules_executorch.weight_only_linear.default
        graphs.replace(last, graphs.insert_call(last, target, (source, *constants, bias), graphs.value(last)))
    graphs.finish(program)
    return changes


def _is_taken(x: torch.Tensor) -> bool:
    return x.dtype in affine.FLOATS and graphs.is_contiguous(x)


def _of_linear(program: ExportedProgram, linear: graphs.Call) -> tuple[affine.Weight, Node] | None:
    """The weight of a layer that is dequantized before it is multiplied, and the call that gives the result."""
    weight = affine.Weight.of(program, graphs.argument(linear, "weight"))
    return (weight, linear) if weight is not None else None


def _of_product(program: ExportedProgram, product: graphs.Call) -> tuple[affine.Weight, Node] | None:
    """The same of one whose columns have their scales once they are multiplied."""
    integers = affine.constant(program, affine.without_casts(product.args[1]))
    scaled = affine.scaled_columns(program, product)
    if integers is None or integers.dtype != torch.int8 or scaled is None:
        return None
    last, scale = scaled
    if graphs.value(last).dtype != graphs.value(product).dtype:
        return None
    return affine.Weight(integers.t().contiguous(), scale[:, None], 8), last


def _packed(weight: affine.Weight) -> torch.Tensor | None:
    """The weight as the operator takes it; None for one that the operator does not take."""
    from export.graph_passes.weight_only_operator import GROUP_MULTIPLE  # Registers it for programs with it only.

    if weight.bits == 4 and weight.group_size % packing.BLOCK_OF_HALVES == 0:
        return packing.pack_halves(weight.integers)
    is_taken = weight.scale.shape[1] == 1 or weight.group_size % GROUP_MULTIPLE == 0
    return weight.integers if is_taken else None


PASS = GraphPass("weight_only", Stage.LOWERED, _run, preserved=(torch.ops.aten.linear.default,))
