"""What passes over programs that torchao quantized share: reading calls of its affine operators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import graphs

DEQUANTIZE = "torchao::dequantize_affine"
# What layers read and write; the operators' scales are Float.
FLOATS = frozenset({torch.float32, torch.float16, torch.bfloat16})


@dataclass(frozen=True)
class Weight:
    """The weight of a linear layer: rows of integers, times the scales of their groups.

    Attributes:
        integers: Chars.
        scale: of each row, those of its groups, which are all as large.
        bits: 4 where all integers are from -8 to 7.
    """

    integers: torch.Tensor
    scale: torch.Tensor
    bits: int

    @property
    def group_size(self) -> int:
        return self.integers.shape[1] // self.scale.shape[1]

    @classmethod
    def of(cls, program: ExportedProgram, dequantize: Any) -> Weight | None:
        """What a call dequantizes; None for any other node, and for rows with zero points."""
        if not isinstance(dequantize, Node) or graphs.name_of(dequantize) != DEQUANTIZE:
            return None
        names = ("input", "block_size", "scale", "zero_point", "quant_min", "quant_max")
        tensor, block_size, scale, zero_point, least, most = (_argument(program, dequantize, name) for name in names)
        if not isinstance(tensor, torch.Tensor) or tensor.dim() != 2 or tensor.dtype != torch.int8:
            return None
        if not isinstance(scale, torch.Tensor) or not {scale.dtype, graphs.value(dequantize).dtype} <= FLOATS:
            return None
        if block_size[0] != 1 or (isinstance(zero_point, torch.Tensor) and torch.count_nonzero(zero_point)):
            return None
        groups = tensor.shape[1] // block_size[1]
        if tensor.shape[1] != groups * block_size[1] or scale.numel() != tensor.shape[0] * groups:
            return None
        has_four_bits = least is not None and most is not None and least >= -8 and most <= 7
        return cls(tensor, scale.reshape(tensor.shape[0], groups).float(), 4 if has_four_bits else 8)


def _argument(program: ExportedProgram, call: Node, name: str) -> Any:
    """An argument; of a constant, its elements."""
    value = graphs.argument(call, name)
    return graphs.constant(program, value) if isinstance(value, Node) else value


@dataclass(frozen=True)
class Rows:
    """A tensor whose rows are quantized to Chars while the program runs.

    Attributes:
        input: the tensor.
        scale: the scale of each row.
        zero_point: the zero point of each row.
        is_symmetric: whether all zero points are 0.
        eps: the least scale.
    """

    input: Node
    scale: Node
    zero_point: Node
    is_symmetric: bool
    eps: float

    @classmethod
    def of(cls, quantize: Any) -> Rows | None:
        """What a call quantizes; None for any other node, and for other ways of quantization."""
        if not isinstance(quantize, Node) or graphs.name_of(quantize) != "torchao::quantize_affine":
            return None
        names = ("input", "scale", "zero_point")
        source, scale, zero_point = (graphs.argument(quantize, name) for name in names)
        choose = scale.args[0] if isinstance(scale, Node) and scale.args else None
        if not isinstance(choose, Node) or graphs.name_of(choose) != "torchao::choose_qparams_affine":
            return None
        x = graphs.value(source)
        is_of_rows = all(
            list(graphs.argument(call, "block_size")) == [1] * (x.dim() - 1) + [x.shape[-1]]
            and (graphs.argument(call, "quant_min"), graphs.argument(call, "quant_max")) == (-128, 127)
            for call in (choose, quantize)
        )
        dtypes = (graphs.argument(choose, "target_dtype"), graphs.argument(quantize, "output_dtype"))
        mapping = graphs.argument(choose, "mapping_type")
        if (
            not is_of_rows
            or dtypes != (torch.int8, torch.int8)
            or mapping not in ("SYMMETRIC", "ASYMMETRIC")
            or x.dtype not in FLOATS
            or graphs.value(scale).dtype not in {x.dtype, torch.float32}
            or not graphs.is_contiguous(x)
            or not isinstance(zero_point, Node)
            or [graphs.argument(choose, "input"), *scale.args, *zero_point.args] != [source, choose, 0, choose, 1]
        ):
            return None
        eps = graphs.argument(choose, "eps")
        least = torch.finfo(x.dtype).smallest_normal if eps is None else eps
        return cls(source, scale, zero_point, mapping == "SYMMETRIC", least)


_ATEN = graphs.EDGE.aten
_CAST = "dim_order_ops::_to_dim_order_copy"


def constant(program: ExportedProgram, node: Any) -> torch.Tensor | None:
    """The elements of a constant, also where calls give it another shape or dtype; None for any other node."""
    if isinstance(node, Node) and graphs.name_of(node) == _CAST:
        tensor = constant(program, node.args[0])
        return tensor if tensor is None else tensor.to(graphs.value(node).dtype)
    if isinstance(node, Node) and node.target in (_ATEN.view_copy.default, _ATEN.permute_copy.default):
        tensor = constant(program, node.args[0])
        if tensor is None:
            return None
        sizes: Any = node.args[1]
        return tensor.reshape(sizes) if node.target is _ATEN.view_copy.default else tensor.permute(sizes)
    return graphs.constant(program, node)


def without_casts(node: Any) -> Any:
    """A tensor before calls gave it another dtype."""
    while isinstance(node, Node) and graphs.name_of(node) == _CAST:
        node = node.args[0]
    return node


def without_views(node: Any) -> Any:
    """A tensor before calls gave it another shape."""
    while isinstance(node, Node) and node.target is _ATEN.view_copy.default:
        node = node.args[0]
    return node


def only_user(node: Node, target: Any) -> graphs.Call | None:
    """The call that alone reads a node, if it calls `target`."""
    users = list(node.users)
    return users[0] if len(users) == 1 and users[0].target is target else None


def scaled_columns(program: ExportedProgram, product: Node) -> tuple[Node, torch.Tensor] | None:
    """The call that multiplies each column of a product with a number of its own, and these numbers as floats.

    The product may be rounded before.
    """
    while (cast := _only_cast(product)) is not None:
        product = cast
    call = only_user(product, _ATEN.mul.Tensor)
    if call is None or graphs.value(call).dtype not in FLOATS:
        return None
    columns = graphs.value(product).shape[-1]
    for operand in call.args:
        scale = constant(program, operand) if operand is not product else None
        is_row = scale is not None and scale.dim() > 0 and scale.numel() == scale.shape[-1] == columns
        if scale is not None and is_row and scale.dtype in FLOATS:
            return call, scale.flatten().float()
    return None


def _only_cast(node: Node) -> Node | None:
    """The call that alone reads a node, if it gives it another floating-point dtype."""
    users = list(node.users)
    is_cast = len(users) == 1 and graphs.name_of(users[0]) == _CAST and graphs.value(users[0]).dtype in FLOATS
    return users[0] if is_cast else None


def rounded(result: Node, dtype: torch.dtype) -> tuple[Node, Node | None] | None:
    """The call that alone makes a result one of `dtype`, and what is added to each row before."""
    columns, node, bias = graphs.value(result).shape[-1], result, None
    while (cast := _only_cast(node)) is None:
        user = only_user(node, _ATEN.view_copy.default)
        if user is None and bias is None and (user := only_user(node, _ATEN.add.Tensor)) is not None:
            bias = _bias(user, node)
            if bias is None:
                return None
        if user is None or graphs.value(user).shape[-1] != columns:
            return None
        node = user
    return (cast, bias) if graphs.value(cast).dtype == dtype else None


def take_bias(result: Node) -> Node | None:
    """A constant that is added to each row of a result, and to nothing else: the addition is dropped."""
    columns, node = graphs.value(result).shape[-1], result
    while (view := only_user(node, _ATEN.view_copy.default)) is not None and graphs.value(view).shape[-1] == columns:
        node = view
    add = only_user(node, _ATEN.add.Tensor)
    bias = _bias(add, node) if add is not None else None
    if add is None or bias is None or bias.op != "placeholder":
        return None
    graphs.replace(add, node)
    return bias


def _bias(add: graphs.Call, rows: Node) -> Node | None:
    """What a sum adds to each of some rows; None where it adds anything but a constant of their dtype."""
    if add.kwargs or len(set(add.args)) != 2:
        return None
    bias = next(operand for operand in add.args if operand is not rows)
    if not isinstance(bias, Node) or without_casts(bias).op != "placeholder":
        return None
    value, expected = graphs.value(bias), graphs.value(rows)
    is_row = tuple(value.shape) == tuple(expected.shape[-1:]) and value.dtype == expected.dtype
    return bias if is_row else None
