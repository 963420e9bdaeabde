"""What passes over quantized programs share: reading calls of quantized_decomposed."""

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
    def of(cls, call: QuantizePerTensor[Node] | DequantizePerTensor[Node] | None) -> Parameters | None:
        """Those of a call between floats and bytes; None for any other."""
        if call is None or call.dtype not in _DTYPES:
            return None
        floats = call.out_dtype if isinstance(call, DequantizePerTensor) else graphs.value(call.input).dtype
        if floats not in (None, torch.float32):
            return None
        return cls(call.scale, call.zero_point, call.quant_min, call.quant_max, call.dtype)

    def quantize(self, floats: T) -> QuantizePerTensor[T]:
        """The call that makes floats bytes."""
        return QuantizePerTensor(floats, self.scale, self.zero_point, self.quant_min, self.quant_max, self.dtype)

    def dequantize(self, of_bytes: T) -> DequantizePerTensor[T]:
        """The call that makes bytes floats."""
        return DequantizePerTensor(of_bytes, self.scale, self.zero_point, self.quant_min, self.quant_max, self.dtype)

    def quantized(self, value: float) -> int:
        """The byte of a value, as PyTorch rounds."""
        return int(self.quantize(torch.tensor([value])).compute().item())

    @property
    def byte_zero_point(self) -> int:
        """The zero point where Chars are read as Bytes, 128 larger."""
        return self.zero_point + (128 if self.dtype == torch.int8 else 0)


def dequantized(node: object) -> tuple[Node, Parameters] | None:
    """The bytes that a call dequantizes, and their parameters; None for any other node."""
    call = DequantizePerTensor.of(node)
    parameters = Parameters.of(call)
    return (call.input, parameters) if call and parameters else None


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
            # Functions that rise are exchangeable.
            low, high = (min(max(limit, between[0]), between[1]) for limit in limits)
            limits = (low, high)
            node = user
        return cls(layer, None, 0, 0, graphs.value(layer).dtype)


def _limits(node: Node) -> tuple[float, float] | None:
    """What a call clamps its argument to; None for any other call."""
    if Relu.of(node):
        return 0.0, float("inf")
    hardtanh, clamp = Hardtanh.of(node), Clamp.of(node)
    low, high = (hardtanh.min_val, hardtanh.max_val) if hardtanh else (clamp.min, clamp.max) if clamp else (None, None)
    if (hardtanh is None and clamp is None) or isinstance(low, Node) or isinstance(high, Node):
        return None
    return -float("inf") if low is None else float(low), float("inf") if high is None else float(high)
