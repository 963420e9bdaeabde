"""Elementwise operators, copies and reductions as loops in C++."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from codegen.compiled.fixed_call import FixedCall, GeneralCallError, Operand, axis, float_literal, require
from codegen.model.scalar_types import SCALAR_TYPES

_INTEGERS = ("uint8", "int8", "int16", "int32", "int64")

# Elementwise functions of a float `x`.
_UNARY = {
    "aten::abs.out": "std::abs(x)",
    "aten::ceil.out": "std::ceil(x)",
    "aten::cos.out": "std::cos(x)",
    "aten::exp.out": "std::exp(x)",
    "aten::floor.out": "std::floor(x)",
    "aten::log.out": "std::log(x)",
    "aten::neg.out": "-x",
    "aten::reciprocal.out": "1 / x",
    "aten::relu.out": "x < 0 ? 0 : x",
    "aten::rsqrt.out": "1 / std::sqrt(x)",
    "aten::sigmoid.out": "1 / (1 + std::exp(-x))",
    "aten::sin.out": "std::sin(x)",
    "aten::sqrt.out": "std::sqrt(x)",
    "aten::tanh.out": "std::tanh(x)",
}
# Activations, by the names of kernels/math/activation.h, besides `none` and `clamp`: functions of a float `x` and of
# the parameters `a` and `b`.
_ACTIVATIONS = {
    "celu": "x < 0 ? {a} * std::expm1(x / {a}) : x",
    "elu": "{b} * (x < 0 ? {a} * std::expm1(x) : x)",
    "gelu": "x * 0.5f * (1 + std::erf(x * 0.70710678f))",
    "gelu_tanh": "x * 0.5f * (1 + std::tanh(0.79788456f * (x + 0.044715f * x * x * x)))",
    "hardshrink": "std::abs(x) <= {a} ? 0 : x",
    "hardsigmoid": "(x < -3 ? 0 : x > 3 ? 6 : x + 3) / 6",
    "hardswish": "x * (x < -3 ? 0 : x > 3 ? 6 : x + 3) / 6",
    "leaky_relu": "x < 0 ? x * {a} : x",
    "logsigmoid": "(x < 0 ? x : 0) - std::log1p(std::exp(-std::abs(x)))",
    "mish": "x * std::tanh(std::log1p(std::exp(x)))",
    "sigmoid": "1 / (1 + std::exp(-x))",
    "silu": "x / (1 + std::exp(-x))",
    "softplus": "x * {a} > {b} ? x : std::log1p(std::exp(x * {a})) / {a}",
    "softshrink": "x > {a} ? x - {a} : x + {a} < 0 ? x + {a} : x * 0",
    "softsign": "x / (1 + std::abs(x))",
    "swish": "x / (1 + std::exp(-x * {a}))",
    "tanh": "std::tanh(x)",
    "tanhshrink": "x - std::tanh(x)",
    "threshold": "x <= {a} ? {b} : x",
}
# Elementwise functions of two floats.
_BINARY = {
    "aten::add.Scalar_out": "x + y",
    "aten::add.out": "x + y",
    "aten::div.Scalar_out": "x / y",
    "aten::div.out": "x / y",
    "aten::maximum.out": "x > y || x != x ? x : y",
    "aten::minimum.out": "x < y || x != x ? x : y",
    "aten::mul.Scalar_out": "x * y",
    "aten::mul.out": "x * y",
    "aten::sub.Scalar_out": "x - y",
    "aten::sub.out": "x - y",
}
# Copies of all elements at the same indices.
_COPIES = ("aten::clone.out", "dim_order_ops::_clone_dim_order.out", "dim_order_ops::_to_dim_order_copy.out")
# Copies of all elements in the order of contiguous memory.
_RESHAPES = (
    "aten::_unsafe_view.out",
    "aten::squeeze_copy.dim_out",
    "aten::squeeze_copy.dims_out",
    "aten::squeeze_copy.out",
    "aten::unsqueeze_copy.out",
    "aten::view_copy.out",
)


class Walk(NamedTuple):
    """The elements of a tensor that loops visit.

    Attributes:
        operand: the tensor.
        strides: the strides of the loops' dimensions.
        start: the offset of the first element.
    """

    operand: Operand
    strides: tuple[int, ...]
    start: int = 0


def loops(
    sizes: Sequence[int],
    walks: Sequence[Walk],
    body: Callable[[Sequence[str]], str],
    *,
    indent: int = 4,
    variables: str = "ijklmnop",
) -> str:
    """Returns loops over all indices.

    Args:
        sizes: the sizes of the dimensions. The order of the loops is that of the last walk's memory.
        walks: what the body reads and writes.
        body: returns the statements from the expressions of the walks' elements, such as `tensor0[i * 4 + j]`.
        indent: the number of spaces before the first line.
        variables: the names of the loops' variables.
    """
    # A damaged program may have arguments that lead out of its tensors. The general kernel refuses them.
    for walk in walks:
        require(len(walk.strides) == len(sizes))
        steps = [(size - 1) * stride for size, stride in zip(sizes, walk.strides, strict=True)]
        least, most = (walk.start + sum(bound(step, 0) for step in steps) for bound in (min, max))
        require(least >= 0 and most < walk.operand.numel)
    last = walks[-1].strides
    order = sorted((d for d, size in enumerate(sizes) if size != 1), key=lambda d: -last[d])
    merged: list[tuple[int, list[int]]] = []
    for d in order:
        steps = [walk.strides[d] for walk in walks]
        if merged and all(outer == step * sizes[d] for outer, step in zip(merged[-1][1], steps, strict=True)):
            merged[-1] = (merged[-1][0] * sizes[d], steps)
        else:
            merged.append((sizes[d], steps))
    require(len(merged) <= len(variables))
    text = ""
    for depth, (size, _) in enumerate(merged):
        variable = variables[depth]
        text += f"{' ' * (indent + 2 * depth)}for (int32_t {variable} = 0; {variable} < {size}; ++{variable}) {{\n"
    elements = []
    for number, walk in enumerate(walks):
        terms = [
            variables[depth] if steps[number] == 1 else f"{variables[depth]} * {steps[number]}"
            for depth, (_, steps) in enumerate(merged)
            if steps[number]
        ]
        terms += [str(walk.start)] if walk.start or not terms else []
        elements.append(f"{walk.operand.name}[{' + '.join(terms)}]")
    inner = indent + 2 * len(merged)
    text += "".join(f"{' ' * inner}{line}\n" for line in body(elements).splitlines())
    for depth in reversed(range(len(merged))):
        text += f"{' ' * (indent + 2 * depth)}}}\n"
    return text


def _walk(operand: Operand, sizes: Sequence[int]) -> Walk:
    """Returns the walk of a tensor that is expanded to `sizes`."""
    missing = len(sizes) - len(operand.sizes)
    require(missing >= 0)
    padded = [1] * missing + list(operand.sizes)
    require(all(own in (1, size) for own, size in zip(padded, sizes, strict=True)))
    strides = [0] * missing + list(operand.strides)
    return Walk(operand, tuple(0 if own == 1 else s for own, s in zip(padded, strides, strict=True)))


def _elementwise(sources: Sequence[Operand], out: Operand, body: Callable[..., str]) -> str:
    """Returns loops over all elements of `out`.

    Args:
        sources: the tensors to read, which are expanded to the sizes of `out`.
        out: the tensor to write.
        body: returns the statements from the expressions of the elements, in the same order.
    """
    walks = [*(_walk(source, out.sizes) for source in sources), Walk(out, out.strides)]
    return loops(out.sizes, walks, lambda elements: body(*elements))


def apply(out: Operand, function: str) -> str:
    """Returns statements that apply a function of `x` to all elements of a tensor."""
    return _elementwise([], out, lambda element: f"const float x = {element};\n{element} = {function};")


def activation(call: FixedCall) -> str:
    """Returns the activation that a call names, as a function of `x`."""
    name = call.text("activation")
    require(name in _ACTIVATIONS)
    a, b = (float_literal(call.number(parameter)) for parameter in ("minimum", "maximum"))
    return _ACTIVATIONS[name].format(a=a, b=b)


def _unary(call: FixedCall, function: str, source_name: str = "self") -> str:
    source, out = call.floats(source_name), call.floats("out")
    require(source.sizes == out.sizes)
    return _elementwise([source], out, lambda x, result: f"const float x = {x};\n{result} = {function};")


def _clamp(minimum: float | None, maximum: float | None) -> str:
    function = "x"
    if minimum is not None and minimum != -math.inf:
        function = f"x < {float_literal(minimum)} ? {float_literal(minimum)} : x"
    if maximum is not None and maximum != math.inf:
        inner = f"({function})" if function != "x" else function
        # The bounds are in order, so that an element above the upper bound is not below the lower one.
        function = f"x > {float_literal(maximum)} ? {float_literal(maximum)} : {inner}"
    require(minimum is None or maximum is None or minimum <= maximum)
    return function


def _binary(call: FixedCall, function: str) -> str:
    first, out = call.floats("self"), call.floats("out")
    alpha = call.number("alpha") if call.has("alpha") else 1
    scaled = "" if alpha == 1 else f" * {float_literal(alpha)}"

    def body(x: str, y: str, result: str) -> str:
        return f"const float x = {x};\nconst float y = {y}{scaled};\n{result} = {function};"

    if ".Scalar_out" in call.name:
        number = float_literal(call.number("other"))
        return _elementwise([first], out, lambda x, result: body(x, number, result))
    return _elementwise([first, call.floats("other")], out, body)


# Copies.


def _copy(source: Walk, out: Walk, sizes: Sequence[int]) -> str:
    before, after = source.operand.dtype, out.operand.dtype
    is_conversion = before != after
    require(not is_conversion or (before in (*_INTEGERS, "bool") and after in ("float32", "int64", "int32")))
    require(not is_conversion or not (before == "int64" and after == "int32"))

    def body(elements: Sequence[str]) -> str:
        value = f"static_cast<{out.operand.cpp}>({elements[0]})" if is_conversion else elements[0]
        return f"{elements[1]} = {value};"

    return loops(sizes, [source, out], body)


def _copy_elements(call: FixedCall) -> str:
    source, out = call.tensor("self"), call.tensor("out")
    require(source.sizes == out.sizes)
    return _copy(_walk(source, out.sizes), Walk(out, out.strides), out.sizes)


def _reshape(call: FixedCall) -> str:
    source, out = call.tensor("self"), call.tensor("out")
    require(source.is_contiguous and out.is_contiguous and source.numel == out.numel)
    return _copy(Walk(source, (1,)), Walk(out, (1,)), [out.numel])


def _permute(call: FixedCall) -> str:
    source, out = call.tensor("self"), call.tensor("out")
    rank = len(source.sizes)
    order = [axis(d, rank) for d in call.integers("dims")]
    return _copy(Walk(source, tuple(source.strides[d] for d in order)), Walk(out, out.strides), out.sizes)


def _transpose(call: FixedCall) -> str:
    source, out = call.tensor("self"), call.tensor("out")
    strides = list(source.strides)
    first, second = axis(call.integer("dim0"), len(strides)), axis(call.integer("dim1"), len(strides))
    strides[first], strides[second] = strides[second], strides[first]
    return _copy(Walk(source, tuple(strides)), Walk(out, out.strides), out.sizes)


def _expand(call: FixedCall) -> str:
    source, out = call.tensor("self"), call.tensor("out")
    return _copy(_walk(source, out.sizes), Walk(out, out.strides), out.sizes)


def _slice(call: FixedCall) -> str:
    source, out = call.tensor("self"), call.tensor("out")
    d, step = axis(call.integer("dim"), len(source.sizes)), call.integer("step")
    start = int(call.optional_number("start") or 0)
    start = min(max(start + source.sizes[d] if start < 0 else start, 0), source.sizes[d])
    strides = [stride * step if i == d else stride for i, stride in enumerate(source.strides)]
    return _copy(Walk(source, tuple(strides), start * source.strides[d]), Walk(out, out.strides), out.sizes)


def _select(call: FixedCall) -> str:
    source, out = call.tensor("self"), call.tensor("out")
    d = axis(call.integer("dim"), len(source.sizes))
    at = axis(call.integer("index"), source.sizes[d])
    strides = tuple(stride for i, stride in enumerate(source.strides) if i != d)
    return _copy(Walk(source, strides, at * source.strides[d]), Walk(out, out.strides), out.sizes)


def _cat(call: FixedCall) -> str:
    # PyTorch skips tensors of shape (0,).
    parts, out = call.tensors("tensors"), call.tensor("out")
    d = axis(call.integer("dim"), len(out.sizes))
    require(all(len(part.sizes) == len(out.sizes) for part in parts))
    text, at = "", 0
    for part in parts:
        text += _copy(Walk(part, part.strides), Walk(out, out.strides, at * out.strides[d]), part.sizes)
        at += part.sizes[d]
    return text


def _pad(call: FixedCall) -> str:
    source, out = call.tensor("self"), call.tensor("out")
    pads = call.integers("pad")
    require(min(pads, default=0) >= 0 and source.dtype == out.dtype and out.dtype in ("float32", *_INTEGERS))
    value = call.number("value")
    literal = float_literal(value) if out.dtype == "float32" else str(int(value))
    start = sum(pads[i] * out.strides[-1 - i // 2] for i in range(0, len(pads), 2))
    filled = _elementwise([], out, lambda element: f"{element} = {literal};")
    return filled + _copy(Walk(source, source.strides), Walk(out, out.strides, start), source.sizes)


# Reductions.


def _reduce(call: FixedCall, dims: Sequence[int], first: str, step: str, last: str) -> str:
    """Returns the loops of a reduction.

    Args:
        call: the call.
        dims: the dimensions to reduce; all if there are none.
        first: the value before the first element.
        step: the value `result` after an element `x`.
        last: the result after the last of `count` elements.
    """
    source, out = call.floats("self" if call.has("self") else "input"), call.floats("out")
    rank = len(source.sizes)
    reduced = {axis(d, rank) for d in dims} or set(range(rank))
    kept = [d for d in range(rank) if d not in reduced]
    strides = out.strides if len(out.sizes) == rank else None
    of_kept = [strides[d] for d in kept] if strides else list(out.strides)
    require(len(of_kept) == len(kept))
    count = math.prod(source.sizes[d] for d in reduced)

    def body(elements: Sequence[str]) -> str:
        start = elements[0].partition("[")[2].removesuffix("]")
        text = f"const float* const line = {source.name} + {start};\nfloat result = {first};\n"
        line = Operand("line", source.dtype, source.cpp, source.sizes, source.strides)
        walk = Walk(line, tuple(source.strides[d] for d in sorted(reduced)))
        inner = loops(
            [source.sizes[d] for d in sorted(reduced)],
            [walk],
            lambda of_line: f"const float x = {of_line[0]};\nresult = {step};",
            indent=0,
            variables="abcdefgh",
        )
        return text + inner + f"{elements[1]} = {last.format(count=count)};"

    walks = [Walk(source, tuple(source.strides[d] for d in kept)), Walk(out, tuple(of_kept))]
    return loops([source.sizes[d] for d in kept], walks, body)


def _without_dtype(call: FixedCall) -> None:
    require(call.optional_number("dtype") in (None, SCALAR_TYPES["Float"]))


def statements(call: FixedCall) -> str:
    """Returns the loops of a call.

    Raises:
        GeneralCallError: the operator has no loops here, or the call needs the general kernel.
    """
    name = call.name
    if name in _UNARY:
        return _unary(call, _UNARY[name])
    if name in _BINARY:
        return _binary(call, _BINARY[name])
    if name in _COPIES:
        return _copy_elements(call)
    if name in _RESHAPES:
        return _reshape(call)
    if name not in _OTHERS:
        raise GeneralCallError
    return _OTHERS[name](call)


def _gelu(call: FixedCall) -> str:
    return _unary(call, _ACTIVATIONS["gelu_tanh" if call.text("approximate") == "tanh" else "gelu"])


def _mean(call: FixedCall) -> str:
    _without_dtype(call)
    return _reduce(call, call.integers("dim"), "0", "result + x", "result / {count}")


def _sum(call: FixedCall) -> str:
    _without_dtype(call)
    return _reduce(call, call.integers("dim"), "0", "result + x", "result")


def _amax(call: FixedCall) -> str:
    step = "x > result || x != x ? x : result"
    return _reduce(call, call.integers("dim"), float_literal(-math.inf), step, "result")


def _leaky_relu(call: FixedCall) -> str:
    return _unary(call, _ACTIVATIONS["leaky_relu"].format(a=float_literal(call.number("negative_slope"))))


def _elu(call: FixedCall) -> str:
    require(call.number("input_scale") == 1)
    return _unary(
        call,
        _ACTIVATIONS["elu"].format(a=float_literal(call.number("alpha")), b=float_literal(call.number("scale"))),
    )


def _activation(call: FixedCall) -> str:
    if call.text("activation") == "clamp":
        return _unary(call, _clamp(call.number("minimum"), call.number("maximum")), "input")
    return _unary(call, activation(call), "input")


def _image_mean(call: FixedCall) -> str:
    require(len(call.floats("input").sizes) == 4)
    return _reduce(call, (2, 3), "0", "result + x", "result / {count}")


def _quantize(call: FixedCall) -> str:
    source, out = call.floats("input"), call.tensor("out")
    require(out.dtype in ("int8", "uint8") and source.sizes == out.sizes)
    scale = call.number("scale")
    require(scale != 0)
    inverse = float_literal(1 / scale)
    offset = float_literal(call.number("zero_point"))
    least, most = float_literal(call.number("quant_min")), float_literal(call.number("quant_max"))
    return _elementwise(
        [source],
        out,
        lambda x, result: (
            f"const float x = std::nearbyint({x} * {inverse}) + {offset};\n"
            f"{result} = static_cast<{out.cpp}>(x > {least} ? (x < {most} ? x : {most}) : {least});"
        ),
    )


def _dequantize(call: FixedCall) -> str:
    source, out = call.tensor("input"), call.floats("out")
    require(source.dtype in ("int8", "uint8") and source.sizes == out.sizes)
    scale, zero_point = float_literal(call.number("scale")), call.integer("zero_point")
    require(abs(zero_point) <= 255)
    return _elementwise(
        [source], out, lambda x, result: f"{result} = static_cast<float>({x} - ({zero_point})) * {scale};"
    )


def _quantized_add(call: FixedCall) -> str:
    first, second, out = call.tensor("a"), call.tensor("b"), call.tensor("out")
    require(all(operand.dtype in ("int8", "uint8") for operand in (first, second, out)))
    factors = [float_literal(call.number(name)) for name in ("a_scale", "b_scale", "offset", "quant_min", "quant_max")]

    def body(a: str, b: str, result: str) -> str:
        return (
            f"const float x = {a} * {factors[0]} + {b} * {factors[1]} + {factors[2]};\n"
            f"const float y = x > {factors[3]} ? x : {factors[3]};\n"
            f"{result} = static_cast<{out.cpp}>(std::nearbyint(y < {factors[4]} ? y : {factors[4]}));"
        )

    return _elementwise([first, second], out, body)


def _lookup(call: FixedCall) -> str:
    source, table, out = call.tensor("input"), call.tensor("table"), call.tensor("out")
    require(source.sizes == out.sizes and table.numel == 256 and table.dtype == out.dtype)
    require(source.dtype in ("int8", "uint8"))
    return _elementwise([source], out, lambda x, result: f"{result} = {table.name}[static_cast<uint8_t>({x})];")


_OTHERS: Mapping[str, Callable[[FixedCall], str]] = {
    "aten::amax.out": _amax,
    "aten::cat.out": _cat,
    "aten::clamp.out": lambda call: _unary(call, _clamp(call.optional_number("min"), call.optional_number("max"))),
    "aten::constant_pad_nd.out": _pad,
    "aten::elu.out": _elu,
    "aten::expand_copy.out": _expand,
    "aten::gelu.out": _gelu,
    "aten::hardtanh.out": lambda call: _unary(call, _clamp(call.number("min_val"), call.number("max_val"))),
    "aten::leaky_relu.out": _leaky_relu,
    "aten::mean.out": _mean,
    "aten::permute_copy.out": _permute,
    "aten::select_copy.int_out": _select,
    "aten::slice_copy.Tensor_out": _slice,
    "aten::sum.IntList_out": _sum,
    "aten::transpose_copy.int_out": _transpose,
    "quantized_decomposed::dequantize_per_tensor.out": _dequantize,
    "quantized_decomposed::quantize_per_tensor.out": _quantize,
    "rules_executorch::activation.out": _activation,
    "rules_executorch::image_mean.out": _image_mean,
    "rules_executorch::quantized_add.out": _quantized_add,
    "rules_executorch::quantized_lookup.out": _lookup,
}
