"""Fuses dequantizations, an addition and the quantization of the sum into one operator, which adds bytes."""

from __future__ import annotations

from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import graphs, quantized
from export.graph_passes.calls import AddTensor, QuantizedAdd
from export.graph_passes.graph_pass import Change, GraphPass, Stage


def _rewrite(_: ExportedProgram, node: Node, add: AddTensor[Node]) -> Change | None:
    a, b = quantized.dequantized(add.input), quantized.dequantized(add.other)
    result = quantized.Result.of(node)
    if a is None or b is None or result.parameters is None or add.alpha != 1:
        return None
    a_scale, b_scale = (one.scale / result.parameters.scale for _, one in (a, b))
    call = QuantizedAdd(
        a[0],
        b[0],
        a_scale,
        b_scale,
        offset=result.parameters.zero_point - (a[1].zero_point * a_scale + b[1].zero_point * b_scale),
        quant_min=result.quant_min,
        quant_max=result.quant_max,
        dtype=result.dtype,
    )
    graphs.replace(result.node, call.insert(result.node, graphs.value(result.node)))
    return Change(node, "an addition of bytes")


PASS = GraphPass(
    "quantized_add",
    Stage.LOWERED,
    roots=(AddTensor,),
    rewrite=_rewrite,
    reference=(
        "fuses `dequantize`, `add`, `relu` or `hardtanh`, and `quantize` into one operator of bytes: "
        "`rules_executorch::quantized_add.out`"
    ),
    after=("quantized_layers",),
)
