"""Reads calls of torchao's affine operators, for the passes over programs that torchao quantized."""

from __future__ import annotations

import operator
from collections.abc import Collection
from dataclasses import dataclass

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import calls, graphs

# The dtypes of a layer's inputs and results. The scales of our operators are always Float.
FLOATS = frozenset({torch.float32, torch.float16, torch.bfloat16})


@dataclass(frozen=True)
class Weight:
    """The quantized weight of a linear layer: integers, multiplied by the scale of their group.

    Attributes:
        integers: [output features, input features], Char.
        scale: [output features, groups of a row], Float. All groups have the same size.
        bits: 4 if the quantization range lies in -8 to 7; otherwise 8.
    """

    integers: torch.Tensor
    scale: torch.Tensor
    bits: int

    @property
    def group_size(self) -> int:
        return self.integers.shape[1] // self.scale.shape[1]

    @classmethod
    def of(cls, program: ExportedProgram, node: object) -> Weight | None:
        """Returns the weight that a call dequantizes; None for any other node, and for weights with zero points."""
        call = calls.DequantizeAffine.of(node)
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
    """A tensor whose rows the program quantizes to Chars at run time.

    Attributes:
        input: the tensor.
        scale: the scale of each row.
        zero_point: the zero point of each row.
        is_symmetric: whether all zero points are 0.
        eps: the smallest scale.
    """

    input: Node
    scale: Node
    zero_point: Node
    is_symmetric: bool
    eps: float

    @classmethod
    def of(cls, node: object) -> Rows | None:
        """Returns the tensor that a call quantizes; None for any other node, and for other quantizations."""
        quantize = calls.QuantizeAffine.of(node)
        if quantize is None or not isinstance(quantize.scale, Node) or not isinstance(quantize.zero_point, Node):
            return None
        source, scale, zero_point = quantize.input, quantize.scale, quantize.zero_point
        chosen, index = _result_of(scale)
        choose = calls.ChooseQparamsAffine.of(chosen)
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
    """Returns the call and the index of a result that a getitem node takes; None for both for any other node."""
    return (node.args[0], node.args[1]) if node.target is operator.getitem else (None, None)


def constant(program: ExportedProgram, node: object) -> torch.Tensor | None:
    """Returns a constant's elements, also after views, permutations and casts; None for any other node."""
    cast, view, permute = calls.ToDimOrderCopy.of(node), calls.ViewCopy.of(node), calls.PermuteCopy.of(node)
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


def scaled_columns(program: ExportedProgram, product: Node) -> tuple[Node, torch.Tensor] | None:
    """Returns the multiplication of a product's columns by constant scales, and the scales as float32.

    The program may cast the product before the multiplication. None if there is no such multiplication.
    """
    while (cast := only_cast(product)) is not None:
        product = cast
    user = graphs.only_user(product)
    scaled = calls.MulTensor.of(user)
    if user is None or scaled is None or graphs.value(user).dtype not in FLOATS:
        return None
    columns = graphs.value(product).shape[-1]
    for operand in (scaled.input, scaled.other):
        scale = constant(program, operand) if operand is not product else None
        is_row = scale is not None and scale.dim() > 0 and scale.numel() == scale.shape[-1] == columns
        if scale is not None and is_row and scale.dtype in FLOATS:
            return user, scale.flatten().float()
    return None


def only_cast(node: Node, dtypes: Collection[torch.dtype] = FLOATS) -> Node | None:
    """Returns the only user of a node, if this user casts the node to one of some dtypes; otherwise None."""
    user = graphs.only_user(node)
    return user if user and calls.ToDimOrderCopy.of(user) and graphs.value(user).dtype in dtypes else None


def rounded(result: Node, dtype: torch.dtype) -> tuple[Node, Node | None] | None:
    """Returns the cast of a result to `dtype`, and the bias that is added to each row before the cast, if any.

    None if the result has other users, or if there is no such cast.
    """
    columns, node, bias = graphs.value(result).shape[-1], result, None
    while (cast := only_cast(node)) is None:
        user = graphs.only_user(node)
        if user is None or graphs.value(user).shape[-1] != columns:
            return None
        if calls.ViewCopy.of(user) is None:
            bias = _bias(user, node) if bias is None else None
            if bias is None:
                return None
        node = user
    return (cast, bias) if graphs.value(cast).dtype == dtype else None


def take_bias(result: Node) -> Node | None:
    """Removes the addition of a constant bias to each row of a result. Returns the bias; None if there is none."""
    columns, node = graphs.value(result).shape[-1], result
    while (view := graphs.only_user(node)) and calls.ViewCopy.of(view) and graphs.value(view).shape[-1] == columns:
        node = view
    add = graphs.only_user(node)
    bias = _bias(add, node) if add is not None else None
    if add is None or bias is None or bias.op != "placeholder":
        return None
    graphs.replace(add, node)
    return bias


def _bias(node: Node, rows: Node) -> Node | None:
    """Returns the bias that an addition adds to each row; None unless the bias is a constant of the rows' dtype."""
    add = calls.AddTensor.of(node)
    if add is None or add.alpha != 1 or add.input is add.other:
        return None
    bias = add.other if add.input is rows else add.input
    if not isinstance(bias, Node) or calls.ToDimOrderCopy.before(bias).op != "placeholder":
        return None
    value, expected = graphs.value(bias), graphs.value(rows)
    is_row = tuple(value.shape) == tuple(expected.shape[-1:]) and value.dtype == expected.dtype
    return bias if is_row else None
