"""Reads own_custom_ops.yaml: the operators of these rules, with the dim orders that the operators take and give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from codegen.inputs import yaml_reader
from codegen.model import schema
from codegen.model.schema import FunctionSchema

_KEY = "dim_orders"
_ORDERS = ("contiguous", "channels_last", "any")
_LIKE = "like "


class DeclarationError(Exception):
    """A declaration that is not complete. The message has the place, the operator and the reason."""


@dataclass(frozen=True)
class OwnOperator:
    """An operator of these rules.

    Attributes:
        schema: the schema of the out variant.
        dim_orders: the order of each tensor argument, and of each result, by the name of its out argument:
            `contiguous`, `channels_last`, `any`, or `like` and the name of another argument.
    """

    schema: FunctionSchema
    dim_orders: Mapping[str, str]


def read(path: str) -> list[OwnOperator]:
    """Reads the operators of a file, in the file's order. Kernels are not read.

    Raises:
        DeclarationError: an entry has no schema, or does not have the dim order of each tensor.
        InputError: the file is not YAML, or a schema is not valid.
    """
    root = yaml_reader.read(path)
    return [_operator(path, entry) for entry in (root.items if isinstance(root, yaml_reader.Sequence) else ())]


def like(order: str) -> str | None:
    """Returns the argument whose order another argument has; None for any other order."""
    return order.removeprefix(_LIKE) if order.startswith(_LIKE) else None


def _operator(path: str, entry: yaml_reader.Node) -> OwnOperator:
    func = entry.entries.get("func") if isinstance(entry, yaml_reader.Mapping) else None
    if not isinstance(entry, yaml_reader.Mapping) or not isinstance(func, yaml_reader.Scalar):
        raise DeclarationError(f"{path}: an entry has no schema as 'func'")
    function = schema.parse(func.text, func.locate)
    where = f"{func.location}: {function.name}"
    given = entry.entries.get(_KEY)
    if not isinstance(given, yaml_reader.Mapping):
        raise DeclarationError(
            f"{where} has no '{_KEY}', a mapping from tensors to {', '.join(_ORDERS)} or like <tensor>"
        )
    tensors = {one.name: str(one.type) for one in function.arguments if str(one.type) in {"Tensor", "Tensor?"}}
    orders = {name: one.text if isinstance(one, yaml_reader.Scalar) else "" for name, one in given.entries.items()}
    for name in orders:
        if name not in tensors:
            raise DeclarationError(f"{where}: '{_KEY}' has {name}, which is not a tensor of the schema")
    for name in tensors:
        if name not in orders:
            raise DeclarationError(f"{where}: '{_KEY}' does not have the tensor {name}")
    for name, order in orders.items():
        other = like(order)
        if other is None and order not in _ORDERS:
            raise DeclarationError(
                f"{where}: '{_KEY}' has {order!r} for {name}, not {', '.join(_ORDERS)} or like <tensor>"
            )
        # The order of the other tensor must be known where it is asked for: always, and before the result.
        is_result = other in {one.name for one in function.out}
        if other is not None and (tensors.get(other) != "Tensor" or is_result or like(orders[other]) is not None):
            raise DeclarationError(
                f"{where}: '{_KEY}' has {order!r} for {name}, but {other} is not a tensor that each call has, with an "
                "order of its own"
            )
    return OwnOperator(function, {name: orders[name] for name in tensors})
