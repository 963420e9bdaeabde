"""Variations of calls, drawn by Hypothesis: other dtypes, shapes, dim orders, values, arguments and out tensors."""

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import torch
from hypothesis import strategies as st

from kernels.testing import inputs
from kernels.testing.sweep.calls import Call

_INTS = (
    0,
    1,
    -1,
    2,
    -2,
    3,
    4,
    5,
    7,
    -8,
    16,
    17,
    255,
    2**31 - 1,
    -(2**31),
    2**31,
    2**32 + 1,
    2**62,
    2**63 - 1,
    -(2**63),
)
_FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 1e-45, 65504.0, 1e30, -1e300, math.inf, -math.inf, math.nan)
_LARGEST_RANK = 8


@st.composite
def variations(draw: st.DrawFn, calls: Sequence[Call]) -> Call:
    """One of `calls` with one to three changes."""
    call = draw(st.sampled_from(calls))
    for _ in range(draw(st.integers(1, 3))):
        call = draw(st.sampled_from(_CHANGES))(draw, call)
    return call


def _change_tensor(draw: st.DrawFn, call: Call) -> Call:
    tensors = call.tensors
    if not tensors:
        return call
    chosen = draw(st.integers(0, len(tensors) - 1))
    change = draw(st.sampled_from(_TENSOR_CHANGES))
    changed = iter([change(draw, tensor) if i == chosen else tensor for i, tensor in enumerate(tensors)])
    return call.with_tensors(lambda _: next(changed))


def _change_all_tensors(draw: st.DrawFn, call: Call) -> Call:
    dtype = draw(st.sampled_from(inputs.MOVABLE_DTYPES))
    return call.with_tensors(lambda tensor: tensor if tensor.dtype == torch.int64 else tensor.to(dtype))


def _change_layouts(draw: st.DrawFn, call: Call) -> Call:
    """Changes the dim order: the same for all tensors of a rank and for the out tensors."""
    ranks = [tensor.dim() for tensor in call.tensors]
    if not ranks:
        return call
    order = draw(st.sampled_from(inputs.dim_orders(max(ranks))))
    call = call.with_tensors(lambda t: inputs.with_dim_order(t, order) if t.dim() == len(order) else t)
    return dataclasses.replace(call, out_dim_order=order)


def _change_argument(draw: st.DrawFn, call: Call) -> Call:
    """Changes a number, a list of numbers or a flag."""
    chosen_from: list[int | str] = [i for i, value in enumerate(call.args) if _is_plain(value)]
    chosen_from += [key for key, value in call.kwargs.items() if _is_plain(value)]
    if not chosen_from:
        return call
    chosen = draw(st.sampled_from(chosen_from))
    if isinstance(chosen, int):
        args = [*call.args]
        args[chosen] = _change_value(draw, args[chosen])
        return dataclasses.replace(call, args=tuple(args))
    return dataclasses.replace(call, kwargs={**call.kwargs, chosen: _change_value(draw, call.kwargs[chosen])})


def _change_out(draw: st.DrawFn, call: Call) -> Call:
    kind = draw(st.sampled_from(["static", "sizes", "aliased", "dim order"]))
    rank = max([tensor.dim() for tensor in call.tensors], default=1)
    if kind == "static":
        return dataclasses.replace(call, static=True)
    if kind == "aliased":
        return dataclasses.replace(call, static=True, aliased=True)
    if kind == "dim order":
        return dataclasses.replace(call, out_dim_order=draw(st.sampled_from(inputs.dim_orders(rank))))
    sizes = draw(st.lists(st.integers(0, 4), max_size=5))
    return dataclasses.replace(call, out_sizes=tuple(sizes), static=draw(st.booleans()))


def _is_plain(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return all(_is_plain(item) for item in value)
    return isinstance(value, (bool, int, float, str))


def _change_value(draw: st.DrawFn, value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return _change_list(draw, [*value])
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return draw(st.sampled_from(_INTS))
    if isinstance(value, float):
        return draw(st.sampled_from(_FLOATS))
    return draw(st.sampled_from(["", "none", "tanh", "floor", "trunc", "x" * 100]))


def _change_list(draw: st.DrawFn, values: list[Any]) -> list[Any]:
    kind = draw(st.sampled_from(["change", "remove", "add", "repeat", "reverse"]))
    if not values or kind == "add":
        return [*values, draw(st.sampled_from(_INTS))]
    position = draw(st.integers(0, len(values) - 1))
    if kind == "change":
        return [*values[:position], _change_value(draw, values[position]), *values[position + 1 :]]
    if kind == "remove":
        return [*values[:position], *values[position + 1 :]]
    return [*values, values[position]] if kind == "repeat" else values[::-1]


def _other_dtype(draw: st.DrawFn, tensor: torch.Tensor) -> torch.Tensor:
    return tensor.to(draw(st.sampled_from(inputs.MOVABLE_DTYPES)))


def _other_layout(draw: st.DrawFn, tensor: torch.Tensor) -> torch.Tensor:
    order = draw(st.permutations(range(tensor.dim())) | st.sampled_from(inputs.dim_orders(tensor.dim())))
    return inputs.with_dim_order(tensor, order)


def _special_values(draw: st.DrawFn, tensor: torch.Tensor) -> torch.Tensor:
    """Replaces some elements by infinities, NaN, denormals or the extremes of the dtype."""
    if not tensor.numel() or tensor.numel() > 1000:
        return tensor
    values = inputs.special_values(tensor.dtype)
    changed = tensor.clone()
    flat = changed.flatten()
    for _ in range(draw(st.integers(1, 3))):
        flat[draw(st.integers(0, flat.numel() - 1))] = values[draw(st.integers(0, values.numel() - 1))]
    return inputs.with_dim_order(flat.reshape(tensor.shape), inputs.dim_order_of(tensor))


def _other_shape(draw: st.DrawFn, tensor: torch.Tensor) -> torch.Tensor:
    """Changes the number of dimensions or a size."""
    kind = draw(st.sampled_from(["leading", "trailing", "first", "size", "scalar"]))
    if kind == "leading" or not tensor.dim():
        count = draw(st.integers(1, max(1, _LARGEST_RANK - tensor.dim())))
        return tensor.reshape((1,) * count + tuple(tensor.shape)).contiguous()
    if kind == "trailing":
        return tensor[..., None].contiguous()
    if kind == "scalar":
        return tensor.flatten()[0].clone() if tensor.numel() else tensor.new_zeros(())
    dim = draw(st.integers(0, tensor.dim() - 1))
    if kind == "first":
        return tensor.select(dim, 0).contiguous() if tensor.shape[dim] else tensor
    size = draw(st.integers(0, 4))
    shape = [size if i == dim else s for i, s in enumerate(tensor.shape)]
    if not tensor.numel():
        return tensor.new_ones(shape)
    return tensor.flatten().repeat(math.prod(shape) // tensor.numel() + 1)[: math.prod(shape)].reshape(shape).clone()


_TENSOR_CHANGES = (_other_dtype, _other_layout, _special_values, _special_values, _other_shape)
_CHANGES = (
    _change_tensor, _change_tensor, _change_tensor, _change_all_tensors, _change_layouts, _change_argument,
    _change_argument, _change_out,
)  # fmt: skip
