"""Reads calls of quantized_decomposed, for the passes over programs that PT2E quantized."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import graphs
from export.graph_passes.call import T
from export.graph_passes.calls import Clamp, DequantizePerTensor, Hardtanh, QuantizePerTensor, Relu

_DTYPES = (torch.int8, torch.uint8)


def is_quantized(program: ExportedProgram) -> bool:
    """Returns whether the program has calls of quantized_decomposed."""
    return any(graphs.name_of(node).startswith("quantized_decomposed::") for node in program.graph.nodes)


@dataclass(frozen=True)
class Parameters:
    """The parameters of a quantization per tensor. The value of a byte is `(byte - zero_point) * scale`."""

    scale: float
    zero_point: int
    quant_min: int
    quant_max: int
    dtype: torch.dtype

    @classmethod
    def of(cls, call: QuantizePerTensor[Node] | DequantizePerTensor[Node] | None) -> Parameters | None:
        """Returns the parameters of a quantization or dequantization; None for other calls and unsupported dtypes."""
        if call is None or call.dtype not in _DTYPES:
            return None
        floats = call.out_dtype if isinstance(call, DequantizePerTensor) else graphs.value(call.input).dtype
        if floats not in (None, torch.float32):
            return None
        return cls(call.scale, call.zero_point, call.quant_min, call.quant_max, call.dtype)

    def quantize(self, floats: T) -> QuantizePerTensor[T]:
        """Returns the call that quantizes floats with these parameters."""
        return QuantizePerTensor(floats, self.scale, self.zero_point, self.quant_min, self.quant_max, self.dtype)

    def dequantize(self, of_bytes: T) -> DequantizePerTensor[T]:
        """Returns the call that dequantizes bytes with these parameters."""
        return DequantizePerTensor(of_bytes, self.scale, self.zero_point, self.quant_min, self.quant_max, self.dtype)

    def quantized(self, value: float) -> int:
        """Returns the byte of a value, with PyTorch's rounding."""
        return int(self.quantize(torch.tensor([value])).compute().item())

    @property
    def byte_zero_point(self) -> int:
        """The zero point if kernels read Chars as Bytes, with 128 added."""
        return self.zero_point + (128 if self.dtype == torch.int8 else 0)


def dequantized(node: object) -> tuple[Node, Parameters] | None:
    """Returns the bytes that a call dequantizes, and their parameters; None for any other node."""
    call = DequantizePerTensor.of(node)
    parameters = Parameters.of(call)
    return (call.input, parameters) if call and parameters else None


@dataclass(frozen=True)
class Result:
    """The result of a layer, with the activation and the quantization after the layer.

    Attributes:
        node: the last call that the layer's operator replaces.
        parameters: the parameters of the quantization; None if the result stays a float.
        quant_min: the smallest byte. With a relu() between the layer and the quantization, this is zero_point.
        quant_max: the largest byte.
        dtype: the dtype of the result.
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
            parameters = Parameters.of(QuantizePerTensor.of(user))
            if parameters is not None:
                least, most = (
                    parameters.quantized(limit) if abs(limit) != float("inf") else default
                    for limit, default in zip(limits, (parameters.quant_min, parameters.quant_max), strict=True)
                )
                return cls(user, parameters, least, most, parameters.dtype)
            between = _limits(user)
            if between is None:
                break
            # A clamp after another clamp: the bounds of the first one are clamped by the second one.
            low, high = (min(max(limit, between[0]), between[1]) for limit in limits)
            limits = (low, high)
            node = user
        return cls(layer, None, 0, 0, graphs.value(layer).dtype)


def _limits(node: Node) -> tuple[float, float] | None:
    """Returns the bounds to which a call clamps its argument; None for any other call."""
    if Relu.of(node):
        return 0.0, float("inf")
    hardtanh, clamp = Hardtanh.of(node), Clamp.of(node)
    low, high = (hardtanh.min_val, hardtanh.max_val) if hardtanh else (clamp.min, clamp.max) if clamp else (None, None)
    if (hardtanh is None and clamp is None) or isinstance(low, Node) or isinstance(high, Node):
        return None
    return -float("inf") if low is None else float(low), float("inf") if high is None else float(high)
