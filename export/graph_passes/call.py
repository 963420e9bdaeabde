"""Typed views of calls. calls.py, which is made of schemas when the project is built, has a class for each operator.

A view has one field for each argument, in the order of the schema, in normal form, however the call spells them:

- by position, by keyword or by default is the same;
- a list has a number for each dimension, where PyTorch takes one number for all;
- dimensions count from the first one;
- what PyTorch leaves open is what PyTorch takes for it: the stride of a pool is its kernel's size.

Lists are tuples. An argument that schemas call `self` is `input`, as PyTorch's own functions call it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

import torch
from torch.fx import Node

from export.graph_passes import graphs

# What a call has for a tensor: the node of a graph that gives it, or, in an operator's implementation, the tensor.
T = TypeVar("T", Node, torch.Tensor)
_View = TypeVar("_View", bound="Call[Any]")


@dataclass(frozen=True)
class Call(Generic[T]):
    """A call of an operator. The classes of calls.py say what `of` and `each` give.

    Attributes:
        OPERATOR: the operator's full name, `aten::add.Tensor`.
    """

    OPERATOR: ClassVar[str]

    @classmethod
    def of(cls, node: object) -> Any:
        """The call of a node; None for anything but a call of the operator, in the edge dialect or not."""
        called = graphs.operator_of(node) if isinstance(node, Node) else None
        if not isinstance(node, Node) or called is None or called.name() != cls.OPERATOR:
            return None
        return cls.bind(node.args, node.kwargs)

    @classmethod
    def each(cls, nodes: Iterable[Node]) -> Iterator[tuple[Node, Any]]:
        """The operator's calls among some nodes, each with its node."""
        for node in nodes:
            call = cls.of(node)
            if call is not None:
                yield node, call

    @classmethod
    def bind(cls: type[_View], args: Sequence[Any], kwargs: Mapping[str, Any]) -> _View:
        """The view of a call's arguments.

        Raises:
            TypeError: an argument is missing, or the operator has no such argument.
        """
        fields = dataclasses.fields(cls)
        given = dict(zip((one.name for one in fields if not one.kw_only), args, strict=False))
        names = {one.metadata.get("name", one.name): one.name for one in fields}
        given |= {names.get(name, name): value for name, value in kwargs.items()}
        sizes = {one.name: one.metadata.get("size") for one in fields}
        view = cls(**{name: _filled(_frozen(value), sizes.get(name)) for name, value in given.items()})
        rule = _RULES.get(cls.OPERATOR)
        return view if rule is None else view.replace(**rule(view))

    def replace(self: _View, **changes: Any) -> _View:
        """The same call with other arguments, by the names of the fields.

        Raises:
            TypeError: the operator has no such argument.
        """
        return dataclasses.replace(self, **changes)

    def insert(self, before: Node, value: Any, *, is_edge: bool = True) -> Node:
        """Puts the call in front of a node, with what is known of that node's origin.

        Args:
            before: the node.
            value: what the call gives, without elements.
            is_edge: whether the graph is of ExecuTorch's edge dialect, and not as torch.export gives it.
        """
        args, kwargs = self._arguments()
        call = graphs.insert_call(before, self.edge_overload() if is_edge else self.overload(), args, value)
        call.kwargs = kwargs
        return call

    def compute(self) -> Any:
        """What the operator gives, where the call has tensors."""
        args, kwargs = self._arguments()
        return self.overload()(*args, **kwargs)

    def write(self, node: Node) -> None:
        """Makes a node this call, in the dialect of the node's own call."""
        node.target = self.overload() if isinstance(node.target, torch._ops.OpOverload) else self.edge_overload()
        args, kwargs = self._arguments()
        if node.args != args or node.kwargs != kwargs:
            node.args, node.kwargs = args, kwargs

    @classmethod
    def overload(cls) -> torch._ops.OpOverload:
        """The operator in PyTorch."""
        found: torch._ops.OpOverload = cls._member(torch.ops)
        return found

    @classmethod
    def edge_overload(cls) -> Any:
        """The operator as graphs of the edge dialect call it."""
        return cls._member(graphs.EDGE)

    @classmethod
    def _member(cls, operators: Any) -> Any:
        """The operator among those of a dialect."""
        namespace, _, name = cls.OPERATOR.partition("::")
        name, _, overload = name.partition(".")
        return getattr(getattr(getattr(operators, namespace), name), overload or "default")

    def _arguments(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments as a graph has them: by keyword only what is no default."""
        fields = dataclasses.fields(self)
        values = {one.name: getattr(self, one.name) for one in fields}
        kwargs = {
            one.metadata.get("name", one.name): _thawed(values[one.name])
            for one in fields
            if one.kw_only and values[one.name] != one.default
        }
        return tuple(_thawed(values[one.name]) for one in fields if not one.kw_only), kwargs


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list | tuple) else value


def _thawed(value: Any) -> Any:
    return [_thawed(one) for one in value] if isinstance(value, tuple) else value


def _filled(value: Any, size: int | None) -> Any:
    """A list of `size` numbers, where one stands for all; any other value as it is."""
    if size is None or value is None:
        return value
    given = value if isinstance(value, tuple) else (value,)
    return given * size if len(given) == 1 else given


def _rank(tensor: Any) -> int | None:
    """The dimensions of what an argument gives; None where that is not known."""
    value = graphs.value(tensor) if isinstance(tensor, Node) else tensor
    return value.dim() if isinstance(value, torch.Tensor) else None


# What arguments of a view become in normal form.
_Rule = Callable[[Any], dict[str, Any]]


def _convolution(call: Any) -> dict[str, Any]:
    rank = _rank(call.weight)
    names = ("stride", "padding", "dilation", "output_padding")
    return {} if rank is None else {name: _filled(getattr(call, name), rank - 2) for name in names}


def _pool(call: Any) -> dict[str, Any]:
    return {} if call.stride else {"stride": call.kernel_size}


def _dims(*names: str, of: str = "input", more: int = 0) -> _Rule:
    """Has arguments that are dimensions count from the first one.

    Args:
        *names: the arguments.
        of: the tensor, or the tensors, whose dimensions they are.
        more: how many dimensions more than that tensor there are.
    """

    def rule(call: Any) -> dict[str, Any]:
        tensors = getattr(call, of)
        ranks = [_rank(one) for one in (tensors if isinstance(tensors, tuple) else (tensors,))]
        known = [rank for rank in ranks if rank is not None]
        if len(known) != len(ranks) or not known:
            return {}
        # PyTorch concatenates empty tensors of one dimension with any, and a number has a dimension 0 and -1.
        rank = max(*known, 1 - more) + more

        def positive(dims: Any) -> Any:
            return tuple(dim % rank for dim in dims) if isinstance(dims, tuple) else dims % rank

        return {name: positive(getattr(call, name)) for name in names if getattr(call, name) is not None}

    return rule


# What a schema does not say, by the operator.
_RULES: Mapping[str, _Rule] = {
    "aten::avg_pool2d": _pool,
    "aten::cat": _dims("dim", of="tensors"),
    "aten::convolution": _convolution,
    "aten::mean.dim": _dims("dim"),
    "aten::permute": _dims("dims"),
    "aten::permute_copy": _dims("dims"),
    "aten::select_copy.int": _dims("dim"),
    "aten::slice.Tensor": _dims("dim"),
    "aten::slice_copy.Tensor": _dims("dim"),
    "aten::squeeze_copy.dim": _dims("dim"),
    "aten::squeeze_copy.dims": _dims("dim"),
    "aten::transpose.int": _dims("dim0", "dim1"),
    "aten::unsqueeze": _dims("dim", more=1),
    "aten::unsqueeze_copy": _dims("dim", more=1),
}
