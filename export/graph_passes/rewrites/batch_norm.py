"""Folds batch norms into the convolutions and linear layers before them."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import graphs
from export.graph_passes.calls import Addmm, Convolution, Linear, NativeBatchNormLegitNoTraining, PermuteCopy
from export.graph_passes.graph_pass import Change, GraphPass, Stage

_Layer = Addmm[Node] | Convolution[Node] | Linear[Node]


def _rewrite(program: ExportedProgram, node: Node, norm: NativeBatchNormLegitNoTraining[Node]) -> Change | None:
    before = norm.input
    layer = Addmm.of(before) or Convolution.of(before) or Linear.of(before)
    factors = _Factors.of(program, norm)
    if layer is None or factors is None or not graphs.is_only_for(before, node) or not graphs.first_result_only(node):
        return None
    folded = _folded(program, before, layer, factors)
    if folded is None:
        return None
    weight, bias = (
        graphs.add_constant(program, f"{before.name}_{name}_with_batch_norm", tensor)
        for name, tensor in zip(("weight", "bias"), folded, strict=True)
    )
    if isinstance(layer, Addmm):
        transposed = PermuteCopy(weight, dims=(1, 0)).insert(before, graphs.value(layer.mat2))
        layer.replace(input=bias, mat2=transposed).write(before)
    else:
        layer.replace(weight=weight, bias=bias).write(before)
    for user in list(node.users):
        graphs.replace(user, before)
    return Change(node, "a batch norm folded into the layer before it", before)


@dataclass(frozen=True)
class _Factors:
    """The factor and the offset of each feature of a batch norm: `x * factor + offset`."""

    factor: torch.Tensor
    offset: torch.Tensor

    @classmethod
    def of(cls, program: ExportedProgram, norm: NativeBatchNormLegitNoTraining[Node]) -> _Factors | None:
        """Returns the factors of a batch norm; None if one of its tensors is no constant."""
        mean, variance = (graphs.constant(program, one) for one in (norm.running_mean, norm.running_var))
        scale, shift = (graphs.constant(program, one) for one in (norm.weight, norm.bias))
        if mean is None or variance is None:
            return None
        if (scale is None and norm.weight is not None) or (shift is None and norm.bias is not None):
            return None
        factor = torch.rsqrt(variance.double() + norm.eps) * (1.0 if scale is None else scale.double())
        return cls(factor, (0.0 if shift is None else shift.double()) - mean.double() * factor)


def _folded(
    program: ExportedProgram, node: Node, layer: _Layer, norm: _Factors
) -> tuple[torch.Tensor, torch.Tensor] | None:
    """Returns the weight and the bias of a layer with the norm folded in; None if this is impossible."""
    bias_node = layer.input if isinstance(layer, Addmm) else layer.bias
    weight, bias = graphs.constant(program, _weight(layer)), graphs.constant(program, bias_node)
    if weight is None or (bias is None and bias_node is not None):
        return None
    is_transposed = isinstance(layer, Convolution) and layer.transposed
    if isinstance(layer, Convolution):
        if is_transposed and layer.groups != 1:
            return None
    # A batch norm's features are dimension 1. A linear layer's features are the last dimension, so only results of two
    # dimensions match.
    elif graphs.value(node).dim() != 2 or weight.dim() != 2 or (bias is not None and bias.dim() != 1):
        return None
    # A weight's features are the first dimension; in a transposed convolution, the second.
    factors = norm.factor.reshape([1] * is_transposed + [-1] + [1] * (weight.dim() - 1 - is_transposed))
    offset = norm.offset if bias is None else bias.double() * norm.factor + norm.offset
    return (weight.double() * factors).to(weight.dtype), offset.to(weight.dtype)


def _weight(layer: _Layer) -> Node | None:
    """Returns the weight with a row for each output feature; None if the layer has no such weight."""
    if not isinstance(layer, Addmm):
        return layer.weight
    permute = PermuteCopy.of(layer.mat2)
    return permute.input if permute and permute.dims == (1, 0) and layer.alpha == layer.beta == 1 else None


PASS = GraphPass(
    "batch_norm",
    Stage.LOWERED,
    roots=(NativeBatchNormLegitNoTraining,),
    rewrite=_rewrite,
    reference="folds batch norms into the convolution or linear layer before them",
    is_default=True,
)
