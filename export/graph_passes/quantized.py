"""What passes over quantized programs share: reading calls of quantized_decomposed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import graphs

_DTYPES = (torch.int8, torch.uint8)
_ATEN = graphs.EDGE.aten


def quantize() -> Any:
    """The operator; importing ExecuTorch's package for quantized programs has defined it in those that have it."""
    return graphs.EDGE.quantized_decomposed.quantize_per_tensor.default


def dequantize() -> Any:
    return graphs.EDGE.quantized_decomposed.dequantize_per_tensor.default


def is_quantized(program: ExportedProgram) -> bool:
    """Whether anything in the program is quantized."""
    return any(graphs.name_of(node).startswith("quantized_decomposed::") for node in program.graph.nodes)


@dataclass(frozen=True)
class Parameters:
    """How bytes stand for values: `(byte - zero_point) * scale`."""

    scale: float
    zero_point: int
    quant_min: int
    quant_max: int
    dtype: torch.dtype

    @classmethod
    def of(cls, call: graphs.Call) -> Parameters | None:
        """Those of a call of quantize() or dequantize() between floats and bytes; None for any other node."""
        if not isinstance(call, Node) or call.target not in (quantize(), dequantize()):
            return None
        scale, zero_point, quant_min, quant_max, dtype = (
            graphs.argument(call, name) for name in ("scale", "zero_point", "quant_min", "quant_max", "dtype")
        )
        floats = graphs.value(call if call.target is dequantize() else call.args[0])
        if dtype not in _DTYPES or floats.dtype != torch.float32:
            return None
        return cls(scale, zero_point, quant_min, quant_max, dtype)

    def as_args(self) -> tuple[Any, ...]:
        return (self.scale, self.zero_point, self.quant_min, self.quant_max, self.dtype)

    def quantized(self, value: float) -> int:
        """The byte of a value, as PyTorch rounds."""
        return int(torch.ops.quantized_decomposed.quantize_per_tensor(torch.tensor([value]), *self.as_args()).item())

    @property
    def byte_zero_point(self) -> int:
        """The zero point where Chars are read as Bytes, 128 larger."""
        return self.zero_point + (128 if self.dtype == torch.int8 else 0)


def dequantized(node: graphs.Call) -> tuple[Node, Parameters] | None:
    """The bytes that a call of dequantize() reads, and their parameters; None for any other node."""
    if not isinstance(node, Node) or node.target is not dequantize():
        return None
    source, parameters = node.args[0], Parameters.of(node)
    return (source, parameters) if isinstance(source, Node) and parameters is not None else None


@dataclass(frozen=True)
class Result:
    """What becomes of a layer's result.

    Attributes:
        node: the last call that the layer's operator replaces.
        parameters: of the bytes that the result becomes; None where the result stays as it is.
        quant_min: the least of the bytes, zero_point where a relu() is between the layer and its quantization.
        quant_max: the largest of the bytes.
        dtype: of the result.
    """

    node: Node
    parameters: Parameters | None
    quant_min: int
    quant_max: int
    dtype: torch.dtype

    @classmethod
    def of(cls, layer: Node) -> Result:
        node, limits = layer, (-float("inf"), float("inf"))
        while len(node.users) == 1:
            (user,) = node.users
            parameters = Parameters.of(user)
            if parameters is not None and user.target is quantize():
                least, most = (
                    parameters.quantized(limit) if abs(limit) != float("inf") else default
                    for limit, default in zip(limits, (parameters.quant_min, parameters.quant_max), strict=True)
                )
                return cls(user, parameters, least, most, parameters.dtype)
            between = _limits(user)
            if between is None:
                break
            # Functions that rise are exchangeable.
            low, high = (min(max(limit, between[0]), between[1]) for limit in limits)
            limits = (low, high)
            node = user
        return cls(layer, None, 0, 0, graphs.value(layer).dtype)


def _limits(call: graphs.Call) -> tuple[float, float] | None:
    """What a call clamps its argument to; None for any other call."""
    if call.target is _ATEN.relu.default:
        return 0.0, float("inf")
    names = {_ATEN.hardtanh.default: ("min_val", "max_val"), _ATEN.clamp.default: ("min", "max")}.get(call.target)
    if names is None:
        return None
    low, high = (graphs.argument(call, name) for name in names)
    return -float("inf") if low is None else float(low), float("inf") if high is None else float(high)
