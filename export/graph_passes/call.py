"""Typed views of calls. The generated module calls.py has a class for each operator.

A view has one field for each argument, in the order of the schema. The fields have a normal form:

- An argument by position, by keyword or by default gives the same field.
- A list has a number for each dimension, also if the call has one number for all dimensions.
- A dimension counts from the first one, so it is never negative.
- An optional argument has the value that PyTorch takes in its place: the stride of a pool is the kernel size.

Lists are tuples. The argument `self` of a schema is the field `input`, as in PyTorch's own functions.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

import torch
from torch.fx import Node

from export.graph_passes import graphs

# The type of a tensor argument: a node in a graph, or a tensor in an operator's implementation.
T = TypeVar("T", Node, torch.Tensor)
_View = TypeVar("_View", bound="Call[Any]")


@dataclass(frozen=True)
class Call(Generic[T]):
    """A call of an operator. The classes of calls.py have the types that `of` and `each` return.

    Attributes:
        OPERATOR: the operator's full name, `aten::add.Tensor`.
    """

    OPERATOR: ClassVar[str]

    @classmethod
    def of(cls, node: object) -> Any:
        """Returns the view of a node; None unless the node calls the operator. The edge dialect's operator counts."""
        called = graphs.operator_of(node) if isinstance(node, Node) else None
        if not isinstance(node, Node) or called is None or called.name() != cls.OPERATOR:
            return None
        return cls.bind(node.args, node.kwargs)

    @classmethod
    def each(cls, nodes: Iterable[Node]) -> Iterator[tuple[Node, Any]]:
        """Yields each node that calls the operator, with the view of the call."""
        for node in nodes:
            if (call := cls.of(node)) is not None:
                yield node, call

    @classmethod
    def before(cls, node: Node) -> Node:
        """Returns the input of a chain of the operator's calls that ends at a node; the node itself for any other."""
        while (call := cls.of(node)) is not None:
            node = call.input
        return node

    @classmethod
    def bind(cls: type[_View], args: Sequence[Any], kwargs: Mapping[str, Any]) -> _View:
        """Returns the view of a call's arguments.

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
        """Returns a copy of the view with other arguments, by the names of the fields.

        Raises:
            TypeError: the operator has no such argument.
        """
        return dataclasses.replace(self, **changes)

    def changed_into(self, other: type[_View], **more: Any) -> _View:
        """Returns a call of another operator with the arguments of the same names, and with more arguments."""
        given = {one.name: getattr(self, one.name) for one in dataclasses.fields(other) if hasattr(self, one.name)}
        return other(**given | more)

    def insert(self, before: Node, value: Any, *, is_edge: bool = True) -> Node:
        """Inserts the call before a node, and copies that node's metadata, such as the stack trace.

        Args:
            before: the node.
            value: the fake tensor of the call's result.
            is_edge: whether the graph is in ExecuTorch's edge dialect. If false, the graph comes from torch.export.
        """
        args, kwargs = self._arguments()
        call = graphs.insert_call(before, self.edge_overload() if is_edge else self.overload(), args, value)
        call.kwargs = kwargs
        return call

    def compute(self) -> Any:
        """Runs the operator on the view's arguments, which must be tensors, not nodes. Returns the result."""
        args, kwargs = self._arguments()
        return self.overload()(*args, **kwargs)

    def write(self, node: Node) -> None:
        """Writes this call to a node, in the dialect of the node's present call."""
        node.target = self.overload() if isinstance(node.target, torch._ops.OpOverload) else self.edge_overload()
        args, kwargs = self._arguments()
        if node.args != args or node.kwargs != kwargs:
            node.args, node.kwargs = args, kwargs

    @classmethod
    def overload(cls) -> torch._ops.OpOverload:
        """Returns the operator's overload in PyTorch."""
        found: torch._ops.OpOverload = cls._member(torch.ops)
        return found

    @classmethod
    def edge_overload(cls) -> Any:
        """Returns the operator's overload in the edge dialect."""
        return cls._member(graphs.EDGE)

    @classmethod
    def _member(cls, operators: Any) -> Any:
        """Looks up the operator in a dialect's operators."""
        namespace, _, name = cls.OPERATOR.partition("::")
        name, _, overload = name.partition(".")
        return getattr(getattr(getattr(operators, namespace), name), overload or "default")

    def _arguments(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Returns positional and keyword arguments for a graph. Keyword arguments with default values are left out."""
        fields = dataclasses.fields(self)
        values = {one.name: getattr(self, one.name) for one in fields}
        kwargs = {
            one.metadata.get("name", one.name): _thawed(values[one.name])
            for one in fields
            if one.kw_only and values[one.name] != one.default
        }
        return tuple(_thawed(values[one.name]) for one in fields if not one.kw_only), kwargs


def first(views: Iterable[type[Call[Any]]], node: object) -> Any:
    """Returns the view of a node by the first class that fits; None if the node calls none of the operators."""
    return next((call for call in (view.of(node) for view in views) if call is not None), None)


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list | tuple) else value


def _thawed(value: Any) -> Any:
    return [_thawed(one) for one in value] if isinstance(value, tuple) else value


def _filled(value: Any, size: int | None) -> Any:
    """Returns `size` numbers for a single number; any other value unchanged."""
    if size is None or value is None:
        return value
    given = value if isinstance(value, tuple) else (value,)
    return given * size if len(given) == 1 else given


def _rank(tensor: Any) -> int | None:
    """Returns the number of dimensions of a tensor argument; None if unknown."""
    value = graphs.value(tensor) if isinstance(tensor, Node) else tensor
    return value.dim() if isinstance(value, torch.Tensor) else None


# Returns the fields of a view that change in normal form, with their new values.
_Rule = Callable[[Any], dict[str, Any]]


def _convolution(call: Any) -> dict[str, Any]:
    rank = _rank(call.weight)
    names = ("stride", "padding", "dilation", "output_padding")
    return {} if rank is None else {name: _filled(getattr(call, name), rank - 2) for name in names}


def _pool(call: Any) -> dict[str, Any]:
    return {} if call.stride else {"stride": call.kernel_size}


def _dims(*names: str, of: str = "input", more: int = 0) -> _Rule:
    """Returns a rule that makes dimension arguments non-negative.

    Args:
        *names: the dimension arguments.
        of: the argument with the tensor, or the tensors, of these dimensions.
        more: the number of dimensions that the result has more than that tensor.
    """

    def rule(call: Any) -> dict[str, Any]:
        tensors = getattr(call, of)
        ranks = [_rank(one) for one in (tensors if isinstance(tensors, tuple) else (tensors,))]
        known = [rank for rank in ranks if rank is not None]
        if len(known) != len(ranks) or not known:
            return {}
        # PyTorch concatenates an empty tensor of one dimension with tensors of any rank. For a tensor of no dimensions,
        # PyTorch accepts the dimensions 0 and -1.
        rank = max(*known, 1 - more) + more

        def positive(dims: Any) -> Any:
            return tuple(dim % rank for dim in dims) if isinstance(dims, tuple) else dims % rank

        return {name: positive(getattr(call, name)) for name in names if getattr(call, name) is not None}

    return rule


# Rules of the normal form that schemas do not give, by operator.
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
