"""Quantizes the rows of a linear layer's input while the program runs, and multiplies bytes.

torchao's quantize_() calls operators for which programs have no kernel: `torchao::choose_qparams_affine`,
`quantize_affine` and `dequantize_affine`. With weights of 8 bits, it may multiply Chars by `aten::_int_mm`, on
processors that have products of bytes as Bytes 128 larger.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import affine, graphs, packing
from export.graph_passes.graph_pass import Change, GraphPass, Stage

_ATEN = graphs.EDGE.aten
# What makes a Char the Byte that processors multiply.
_SHIFT = 128


@dataclass(frozen=True)
class _Layer:
    """A layer that some calls compute, of which `last` gives the result, in rows where `is_flat`."""

    rows: affine.Rows
    weight: affine.Weight
    bias: Node | None
    last: Node
    is_flat: bool


def _run(program: ExportedProgram) -> list[Change]:
    changes = []
    for call in graphs.calls(program, _ATEN.linear.default, _ATEN._int_mm.default):
        layer = _of_floats(program, call) if call.target is _ATEN.linear.default else _of_integers(program, call)
        if layer is None:
            continue
        from export.graph_passes.dynamic_linear_operator import GROUP_MULTIPLE  # Registers it, where it is needed.

        weight = layer.weight
        if weight.scale.shape[1] != 1 and weight.group_size % GROUP_MULTIPLE != 0:
            continue
        changes.append(Change.of(layer.last, f"a linear layer of quantized rows and weights of {weight.bits} bits"))
        offset = (weight.integers.unflatten(1, (-1, weight.group_size)).sum(2) * weight.scale.double()).sum(1).float()
        constants = [
            graphs.add_constant(program, f"{call.name}_{name}", tensor)
            for name, tensor in (
                ("panels_of_bytes", packing.panels_of_dynamic_rows(weight.integers, weight.bits)),
                ("scale_of_groups", packing.panels_of_columns(weight.scale)),
                ("offset_of_zero_points", offset),
            )
        ]
        args = (layer.rows.input, *constants, layer.bias, layer.rows.is_symmetric, layer.rows.eps)
        result = graphs.value(layer.rows.input).new_empty((*graphs.value(layer.rows.input).shape[:-1], len(offset)))
        target: Any = graphs.EDGE.rules_executorch.dynamic_linear.default
        node = graphs.insert_call(layer.last, target, args, result)
        if layer.is_flat:
            sizes = [-1, len(offset)]
            node = graphs.insert_call(layer.last, _ATEN.view_copy.default, (node, sizes), graphs.value(layer.last))
        graphs.replace(layer.last, node)
    graphs.finish(program)
    return changes


def _of_floats(program: ExportedProgram, linear: graphs.Call) -> _Layer | None:
    """A layer whose dequantized input and weight are multiplied."""
    dequantize = graphs.argument(linear, "input")
    if not isinstance(dequantize, Node) or graphs.name_of(dequantize) != affine.DEQUANTIZE:
        return None
    rows = affine.Rows.of(graphs.argument(dequantize, "input"))
    weight = affine.Weight.of(program, graphs.argument(linear, "weight"))
    if rows is None or weight is None or graphs.value(dequantize).dtype != graphs.value(rows.input).dtype:
        return None
    names = ("block_size", "scale", "zero_point")
    quantize = graphs.argument(dequantize, "input")
    if any(graphs.argument(dequantize, name) != graphs.argument(quantize, name) for name in names):
        return None
    return _Layer(rows, weight, graphs.argument(linear, "bias"), linear, is_flat=False)


def _of_integers(program: ExportedProgram, product: graphs.Call) -> _Layer | None:
    """A layer that multiplies Chars, or Bytes of Chars, and then by the scales."""
    integers = affine.constant(program, product.args[1])
    source, shift = affine.without_casts(product.args[0]), 0
    if isinstance(source, Node) and source.target in (_ATEN.add.Tensor, _ATEN.add.Scalar) and not source.kwargs:
        if graphs.number(program, affine.without_casts(source.args[1])) != _SHIFT:
            return None
        source, shift = source.args[0], _SHIFT
    rows = affine.Rows.of(affine.without_views(affine.without_casts(source)))
    if rows is None or integers is None or integers.dtype != torch.int8:
        return None
    sums: Node | None = product
    if shift:
        sums = affine.only_user(product, _ATEN.sub.Tensor)
        more = affine.constant(program, sums.args[1]) if sums is not None and not sums.kwargs else None
        if more is None or not torch.equal(more.flatten().long(), shift * integers.long().sum(0)):
            return None
    floats = _cast_to_floats(sums) if sums is not None else None
    of_rows = affine.only_user(floats, _ATEN.mul.Tensor) if floats is not None else None
    if of_rows is None or rows.scale not in [affine.without_views(operand) for operand in of_rows.args]:
        return None
    scaled = affine.scaled_columns(program, of_rows)
    if scaled is None:
        return None
    last, scale = scaled
    weight = affine.Weight(integers.t().contiguous(), scale[:, None], 8)
    x = graphs.value(rows.input)
    if x.dtype == graphs.value(last).dtype:
        return _Layer(rows, weight, affine.take_bias(last), last, is_flat=True)
    rounded = affine.rounded(last, x.dtype)
    if rounded is None:
        return None
    last, bias = rounded
    is_whole = graphs.same_sizes(graphs.value(last).shape[:-1], x.shape[:-1])
    if not is_whole and graphs.value(last).dim() != 2:
        return None
    return _Layer(rows, weight, bias, last, is_flat=not is_whole)


def _cast_to_floats(sums: Node) -> Node | None:
    """The call that alone reads some sums, and makes them floats."""
    users = list(sums.users)
    is_cast = len(users) == 1 and affine.without_casts(users[0]) is sums and users[0] is not sums
    return users[0] if is_cast and graphs.value(users[0]).dtype == torch.float32 else None


PASS = GraphPass("dynamic_linear", Stage.LOWERED, _run, preserved=(torch.ops.aten.linear.default,))
