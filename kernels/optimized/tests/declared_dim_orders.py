"""Checks that a kernel takes the dim orders that own_custom_ops.yaml declares, and no others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch

from kernels.optimized.tests.own_schemas import DIM_ORDERS
from kernels.testing import op_tester

# By the number of dimensions: images, and volumes.
_CHANNELS_LAST = {4: (0, 2, 3, 1), 5: (0, 2, 3, 4, 1)}


def check(tester: op_tester.OpTester, *args: Any, **options: Any) -> None:
    """Tests a call with each of its tensors in all tested dim orders, one tensor after the other.

    Dimensions of size 1 are in several places of each dim order, which must make no difference. The other tensors have
    the declared orders.

    Args:
        tester: the tester of the operator.
        *args: the operator's arguments.
        **options: the operator's keyword arguments, and options of the comparison.
    Raises:
        AssertionError: the kernel refuses a declared order or takes another one, its error does not name the tensor, or
            a result differs from PyTorch's.
    """
    declared = DIM_ORDERS[tester.name]
    (expected,) = tester.expect(*args, **options)
    names = [argument.name for argument in tester.eager.schema.arguments]
    tensors = {name: one for name, one in zip(names, args, strict=False) if isinstance(one, torch.Tensor)}
    tensors["out"] = expected
    for name, tensor in tensors.items():
        for turned in _turned(tensor):
            call = {**_as_declared(tensors, declared, {name: turned}), name: turned}
            given = [call.get(other, value) for other, value in zip(names, args, strict=False)]
            how = {"out_dim_order": op_tester.dim_order_of(call["out"]), "static": True, **options}
            if _fits(turned, declared[name], call):
                tester.judge_results([expected], *given, **how)
            else:
                _check_refused(tester, name, given, expected, how)


def _check_refused(
    tester: op_tester.OpTester, name: str, args: list[Any], expected: torch.Tensor, how: Mapping[str, Any]
) -> None:
    tester.check_rejected(*args, outs=[expected], **how)
    message = f"{tester.name.partition('::')[2]}: expected {name} in "
    try:
        tester.run(*args, outs=[expected], **how)
    except op_tester.KernelError as error:
        if message not in error.log:
            raise AssertionError(f"the error does not say {message!r}: {error}") from None


def _as_declared(
    tensors: Mapping[str, torch.Tensor], declared: Mapping[str, str], chosen: Mapping[str, torch.Tensor]
) -> dict[str, torch.Tensor]:
    """The tensors in their declared orders. `chosen` has the tensors whose order is given."""
    result: dict[str, torch.Tensor] = {}
    for name, tensor in tensors.items():
        order = declared[name]
        like = order.removeprefix("like ")
        if order == "channels_last":
            result[name] = op_tester.with_dim_order(tensor, _CHANNELS_LAST[tensor.dim()])
        elif like in tensors:
            result[name] = op_tester.with_dim_order(tensor, op_tester.dim_order_of(chosen.get(like, result[like])))
        else:
            result[name] = tensor.contiguous()
    return result


def _turned(tensor: torch.Tensor) -> Iterator[torch.Tensor]:
    """The elements in all tested dim orders, with the dimensions of size 1 in their place, first, and near the end."""
    for order in op_tester.dim_orders(tensor.dim()):
        turned = op_tester.with_dim_order(tensor, order)
        yield turned
        if 1 in tensor.shape:
            for stride in (2 * tensor.numel(), 2, 0):
                strides = [
                    stride if size == 1 else one for size, one in zip(turned.shape, turned.stride(), strict=True)
                ]
                yield turned.as_strided(turned.shape, strides)


def _fits(tensor: torch.Tensor, declared: str, call: Mapping[str, torch.Tensor]) -> bool:
    if declared == "any":
        return True
    if declared == "contiguous":
        return _without_ones(tensor, range(tensor.dim())) == _without_ones(tensor)
    if declared == "channels_last":
        return _without_ones(tensor, _CHANNELS_LAST[tensor.dim()]) == _without_ones(tensor)
    return _without_ones(call[declared.removeprefix("like ")]) == _without_ones(tensor)


def _without_ones(tensor: torch.Tensor, order: Any = None) -> list[int]:
    """A dim order without the dimensions of size 1; default: the tensor's own."""
    return [dim for dim in (op_tester.dim_order_of(tensor) if order is None else order) if tensor.shape[dim] != 1]
