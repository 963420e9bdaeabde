"""What passes over programs that torchao quantized share: reading calls of its affine operators."""

from __future__ import annotations

import operator
from dataclasses import dataclass

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import graphs
from export.graph_passes.calls import (
    AddTensor,
    ChooseQparamsAffine,
    DequantizeAffine,
    MulTensor,
    PermuteCopy,
    QuantizeAffine,
    ToDimOrderCopy,
    ViewCopy,
)

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
    def of(cls, program: ExportedProgram, node: object) -> Weight | None:
        """What a call dequantizes; None for any other node, and for rows with zero points."""
        call = DequantizeAffine.of(node)
        if call is None or not isinstance(node, Node):
            return None
        tensor, scale = graphs.constant(program, call.input), graphs.constant(program, call.scale)
        if tensor is None or tensor.dim() != 2 or tensor.dtype != torch.int8:
            return None
        if scale is None or not {scale.dtype, graphs.value(node).dtype} <= FLOATS:
            return None
        rows, columns = call.block_size
        zero_point = graphs.constant(program, call.zero_point)
        if call.zero_point is not None and (zero_point is None or torch.count_nonzero(zero_point)):
            return None
        if rows != 1 or isinstance(columns, Node):
            return None
        groups = tensor.shape[1] // columns
        if tensor.shape[1] != groups * columns or scale.numel() != tensor.shape[0] * groups:
            return None
        least, most = call.quant_min, call.quant_max
        has_four_bits = isinstance(least, int | float) and isinstance(most, int | float) and least >= -8 and most <= 7
        return cls(tensor, scale.reshape(tensor.shape[0], groups).float(), 4 if has_four_bits else 8)


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
    def of(cls, node: object) -> Rows | None:
        """What a call quantizes; None for any other node, and for other ways of quantization."""
        quantize = QuantizeAffine.of(node)
        if quantize is None or not isinstance(quantize.scale, Node) or not isinstance(quantize.zero_point, Node):
            return None
        source, scale, zero_point = quantize.input, quantize.scale, quantize.zero_point
        chosen, index = _result_of(scale)
        choose = ChooseQparamsAffine.of(chosen)
        if choose is None or choose.input is not source or index != 0 or _result_of(zero_point) != (chosen, 1):
            return None
        x = graphs.value(source)
        rows = (*[1] * (x.dim() - 1), x.shape[-1])
        is_of_rows = all(
            call.block_size == rows and (call.quant_min, call.quant_max) == (-128, 127) for call in (choose, quantize)
        )
        if (
            not is_of_rows
            or choose.target_dtype != torch.int8
            or quantize.output_dtype != torch.int8
            or choose.mapping_type not in ("SYMMETRIC", "ASYMMETRIC")
            or x.dtype not in FLOATS
            or graphs.value(scale).dtype not in {x.dtype, torch.float32}
            or not graphs.is_contiguous(x)
        ):
            return None
        least = torch.finfo(x.dtype).smallest_normal if choose.eps is None else choose.eps
        return cls(source, scale, zero_point, choose.mapping_type == "SYMMETRIC", least)


def _result_of(node: Node) -> tuple[object, object]:
    """The call that a node is a result of, and which; None for both where it is none."""
    return (node.args[0], node.args[1]) if node.target is operator.getitem else (None, None)


def constant(program: ExportedProgram, node: object) -> torch.Tensor | None:
    """The elements of a constant, also where calls give it another shape or dtype; None for any other node."""
    cast, view, permute = ToDimOrderCopy.of(node), ViewCopy.of(node), PermuteCopy.of(node)
    call = cast or view or permute
    if call is None:
        return graphs.constant(program, node)
    tensor = constant(program, call.input)
    if tensor is None:
        return None
    if permute is not None:
        return tensor.permute(permute.dims)
    value = graphs.value(node)
    return tensor.reshape(value.shape) if view is not None else tensor.to(value.dtype)


def without_casts(node: Node) -> Node:
    """A tensor before calls gave it another dtype."""
    while (cast := ToDimOrderCopy.of(node)) is not None:
        node = cast.input
    return node


def without_views(node: Node) -> Node:
    """A tensor before calls gave it another shape."""
    while (view := ViewCopy.of(node)) is not None:
        node = view.input
    return node


def only_user(node: Node) -> Node | None:
    """The call that alone reads a node; None where there are several, or none."""
    return next(iter(node.users)) if len(node.users) == 1 else None


def scaled_columns(program: ExportedProgram, product: Node) -> tuple[Node, torch.Tensor] | None:
    """The call that multiplies each column of a product with a number of its own, and these numbers as floats.

    The product may be rounded before.
    """
    while (cast := _only_cast(product)) is not None:
        product = cast
    user = only_user(product)
    scaled = MulTensor.of(user)
    if user is None or scaled is None or graphs.value(user).dtype not in FLOATS:
        return None
    columns = graphs.value(product).shape[-1]
    for operand in (scaled.input, scaled.other):
        scale = constant(program, operand) if operand is not product else None
        is_row = scale is not None and scale.dim() > 0 and scale.numel() == scale.shape[-1] == columns
        if scale is not None and is_row and scale.dtype in FLOATS:
            return user, scale.flatten().float()
    return None


def _only_cast(node: Node) -> Node | None:
    """The call that alone reads a node, if it gives it another floating-point dtype."""
    user = only_user(node)
    return user if user and ToDimOrderCopy.of(user) and graphs.value(user).dtype in FLOATS else None


def rounded(result: Node, dtype: torch.dtype) -> tuple[Node, Node | None] | None:
    """The call that alone makes a result one of `dtype`, and what is added to each row before."""
    columns, node, bias = graphs.value(result).shape[-1], result, None
    while (cast := _only_cast(node)) is None:
        user = only_user(node)
        if user is None or graphs.value(user).shape[-1] != columns:
            return None
        if ViewCopy.of(user) is None:
            bias = _bias(user, node) if bias is None else None
            if bias is None:
                return None
        node = user
    return (cast, bias) if graphs.value(cast).dtype == dtype else None


def take_bias(result: Node) -> Node | None:
    """A constant that is added to each row of a result, and to nothing else: the addition is dropped."""
    columns, node = graphs.value(result).shape[-1], result
    while (view := only_user(node)) and ViewCopy.of(view) and graphs.value(view).shape[-1] == columns:
        node = view
    add = only_user(node)
    bias = _bias(add, node) if add is not None else None
    if add is None or bias is None or bias.op != "placeholder":
        return None
    graphs.replace(add, node)
    return bias


def _bias(node: Node, rows: Node) -> Node | None:
    """What a sum adds to each of some rows; None where it adds anything but a constant of their dtype."""
    add = AddTensor.of(node)
    if add is None or add.alpha != 1 or add.input is add.other:
        return None
    bias = add.other if add.input is rows else add.input
    if not isinstance(bias, Node) or without_casts(bias).op != "placeholder":
        return None
    value, expected = graphs.value(bias), graphs.value(rows)
    is_row = tuple(value.shape) == tuple(expected.shape[-1:]) and value.dtype == expected.dtype
    return bias if is_row else None
