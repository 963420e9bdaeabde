"""Folds batch norms into the convolutions and linear layers before them."""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Node
from torch.nn.utils import fusion

from export.graph_passes import graphs
from export.graph_passes.graph_pass import Change, GraphPass, Stage

_ATEN = graphs.EDGE.aten
_CONVOLUTION = _ATEN.convolution.default
_LINEAR = _ATEN.linear.default
_ADDMM = _ATEN.addmm.default


def _run(program: ExportedProgram) -> list[Change]:
    changes = []
    for norm in graphs.calls(program, _ATEN._native_batch_norm_legit_no_training.default):
        change = Change.of(norm, "a batch norm folded into the layer before it")
        if _fold(program, norm):
            changes.append(change)
    graphs.finish(program)
    return changes


def _fold(program: ExportedProgram, norm: graphs.Call) -> bool:
    layer = norm.args[0]
    if not isinstance(layer, Node) or len(layer.users) != 1 or not graphs.first_result_only(norm):
        return False
    statistics = [graphs.constant(program, norm.args[i]) for i in (3, 4)]
    affine = [graphs.constant(program, norm.args[i]) for i in (1, 2)]
    if any(tensor is None for tensor in statistics):
        return False
    if any(tensor is None and norm.args[i] is not None for i, tensor in zip((1, 2), affine, strict=True)):
        return False
    folded = _folded(program, layer, (*statistics, norm.args[6], *affine))
    if folded is None:
        return False
    weight, bias = (
        graphs.add_constant(program, f"{layer.name}_{name}_with_batch_norm", tensor)
        for name, tensor in zip(("weight", "bias"), folded, strict=True)
    )
    if layer.target is _ADDMM:
        transposed = graphs.insert_call(layer, _ATEN.permute_copy.default, (weight, [1, 0]), folded[0].t())
        transposed.meta["val"] = graphs.value(layer.args[2])
        layer.args = (bias, layer.args[1], transposed)
    else:
        layer.args = (layer.args[0], weight, bias, *layer.args[3:])
    for user in list(norm.users):
        assert user.target is operator.getitem
        graphs.replace(user, layer)
    program.graph.erase_node(norm)
    return True


def _folded(program: ExportedProgram, layer: graphs.Call, norm: Any) -> tuple[torch.Tensor, torch.Tensor] | None:
    """The weight and the bias of a layer with the norm in them; None where the norm cannot be in them."""
    if layer.target is _ADDMM:
        if layer.kwargs or getattr(layer.args[2], "target", None) is not _ATEN.permute_copy.default:
            return None
        weight_node, bias_node = layer.args[2].args[0], layer.args[0]
    elif layer.target in (_CONVOLUTION, _LINEAR):
        weight_node, bias_node = layer.args[1], graphs.argument(layer, "bias")
    else:
        return None
    weight, bias = graphs.constant(program, weight_node), graphs.constant(program, bias_node)
    if weight is None or (bias is None and bias_node is not None):
        return None
    if layer.target is not _CONVOLUTION:
        # The features of a batch norm are its dimension 1, those of a layer the last.
        if graphs.value(layer).dim() != 2 or (bias is not None and bias.dim() != 1):
            return None
        return _computed(fusion.fuse_linear_bn_weights(weight, bias, *norm))
    is_transposed, groups = layer.args[6], layer.args[8]
    if is_transposed and groups != 1:
        return None
    mean, variance, epsilon, scale, shift = norm
    return _computed(
        fusion.fuse_conv_bn_weights(weight, bias, mean, variance, epsilon, scale, shift, transpose=bool(is_transposed))
    )


def _computed(parameters: tuple[torch.Tensor, torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
    return parameters[0].detach(), parameters[1].detach()


PASS = GraphPass("batch_norm", Stage.LOWERED, _run)
