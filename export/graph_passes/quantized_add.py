"""Makes additions of dequantized tensors whose sums are quantized one operator, which adds bytes."""

from __future__ import annotations

from torch.export import ExportedProgram

from export.graph_passes import graphs, quantized
from export.graph_passes.graph_pass import Change, GraphPass, Stage


def _run(program: ExportedProgram) -> list[Change]:
    if not quantized.is_quantized(program):
        return []
    from export.graph_passes import quantized_operators  # noqa: F401, registers them for programs that have them.

    changes = []
    for add in graphs.calls(program, graphs.EDGE.aten.add.Tensor):
        operands = [one for one in map(quantized.dequantized, add.args[:2]) if one is not None]
        result = quantized.Result.of(add)
        if len(operands) != 2 or result.parameters is None or graphs.argument(add, "alpha") != 1:
            continue
        (a, of_a), (b, of_b) = operands
        scales = [one.scale / result.parameters.scale for one in (of_a, of_b)]
        zeros = sum(one.zero_point * scale for one, scale in zip((of_a, of_b), scales, strict=True))
        target = graphs.EDGE.rules_executorch.quantized_add.default
        args = (a, b, *scales, result.parameters.zero_point - zeros, result.quant_min, result.quant_max, result.dtype)
        changes.append(Change.of(add, "an addition of bytes"))
        graphs.replace(result.node, graphs.insert_call(result.node, target, args, graphs.value(result.node)))
    graphs.finish(program)
    return changes


PASS = GraphPass("quantized_add", Stage.LOWERED, _run)
