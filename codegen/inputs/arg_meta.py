"""Converts `arg_meta` and aliases of a kernel for certain dtypes and dim orders to kernel keys.

    - op: add.out
      type_alias: {T0: [Float, Half]}
      dim_order_alias: {D0: [[0, 1, 2, 3], [0, 2, 3, 1]]}
      kernels:
        - arg_meta: {self: [T0, D0], other: [T0, D0], out: [T0, D0]}
          kernel_name: fast::add_out
        - arg_meta: null
          kernel_name: portable::add_out

In one kernel, an alias has the same alternative in all arguments. Different aliases vary independently, so the kernel
above has four keys. A dtype, a dim order (`[0, 1]`) or a list of them may stand in place of an alias, and varies for
its argument only. If `arg_meta` leaves out an optional tensor, the kernel is for calls in which this tensor is None.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sized
from dataclasses import dataclass
from typing import TypeVar

from codegen.inputs import yaml_reader
from codegen.model import kernel_keys, schema
from codegen.model.kernel_keys import TensorKind
from diagnostics import suggest
from diagnostics.errors import Finding, InputError, Location

# The runtime builds a call's key in a buffer of 659 bytes, with a terminating zero.
_MAX_KEY = 658

_DimOrder = tuple[int, ...]
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Aliases:
    """The alternatives of an entry's aliases: dtypes, as numbers, and dim orders."""

    dtypes: Mapping[str, tuple[int, ...]]
    dim_orders: Mapping[str, tuple[_DimOrder, ...]]


def aliases(type_alias: yaml_reader.Node | None, dim_order_alias: yaml_reader.Node | None) -> Aliases:
    """Reads `type_alias` and `dim_order_alias` of an entry.

    Raises:
        InputError: the aliases have mistakes. The error has all findings.
    """
    findings: list[Finding] = []
    dtypes: dict[str, tuple[int, ...]] = {}
    dim_orders: dict[str, tuple[_DimOrder, ...]] = {}
    for name, node in _entries(type_alias, "type_alias", "{T0: [Float, Half]}"):
        try:
            dtypes[name] = _dtypes(node)
        except InputError as error:
            findings += error.findings
        if kernel_keys.find_dtype(name) is not None:
            findings.append(
                Finding(
                    id="bad-alias",
                    where=node.location,
                    found=f"the alias '{name}' has the name of a dtype",
                    cause="the alias and its dtypes were exchanged",
                    fix="give the alias another name, such as T0",
                )
            )
    for name, node in _entries(dim_order_alias, "dim_order_alias", "{D0: [0, 1, 2, 3]}"):
        try:
            dim_orders[name] = _dim_orders(node)
        except InputError as error:
            findings += error.findings
    if findings:
        raise InputError(findings)
    return Aliases(dtypes, dim_orders)


def keys(
    function: schema.FunctionSchema, arg_meta: yaml_reader.Node, known: Aliases, max_kernels: int
) -> tuple[str, ...]:
    """Returns the kernel keys of a kernel, in the runtime's notation.

    Args:
        function: the schema of the kernel's operator.
        arg_meta: the dtype and dim order of each tensor argument.
        known: the aliases of the entry.
        max_kernels: the capacity of the runtime's registry.

    Raises:
        InputError: `arg_meta` has mistakes. The error has all findings.
    """
    given = dict(_entries(arg_meta, "arg_meta", "{self: [T0, D0]}"))
    findings = _unknown_arguments(function, arg_meta, given)
    # The alternatives of each alias, or of an argument without an alias. Each tensor refers to its choices by name.
    dtype_choices: dict[str, tuple[int, ...]] = {}
    order_choices: dict[str, tuple[_DimOrder, ...]] = {}
    tensors: dict[str, tuple[str, str]] = {}
    for argument in function.arguments:
        if str(argument.type) not in ("Tensor", "Tensor?"):
            continue
        node = given.get(argument.name)
        if node is None:
            if str(argument.type) == "Tensor":
                findings.append(_missing_argument(function, argument, arg_meta.location))
            continue
        try:
            dtype_node, order_node = _pair(node, argument)
            dtype_choice, dtypes = _choice(dtype_node, argument, known.dtypes)
            order_choice, orders = _choice(order_node, argument, known.dim_orders)
            dtype_choices[dtype_choice] = dtypes or _dtypes(dtype_node)
            order_choices[order_choice] = orders or _dim_orders(order_node)
            tensors[argument.name] = (dtype_choice, order_choice)
        except InputError as error:
            findings += error.findings
    values = [name for argument in function.arguments if (name := argument.name) in tensors]
    try:
        returned = _returned_slot(function, arg_meta.location)
        values += [returned] if returned in tensors else []
    except InputError as error:
        findings += error.findings
    if findings:
        raise InputError(findings)
    _check_combinations(function, arg_meta.location, [*dtype_choices.values(), *order_choices.values()], max_kernels)
    return tuple(_render(function, arg_meta.location, [tensors[name] for name in values], dtype_choices, order_choices))


def _check_combinations(
    function: schema.FunctionSchema, location: Location, choices: Iterable[Sized], max_kernels: int
) -> None:
    """Raises an error if a kernel has more combinations of alternatives than the capacity of the runtime's registry."""
    count = 1
    for alternatives in choices:
        count *= len(alternatives)
        if count > max_kernels:
            raise InputError.of(
                id="too-many-combinations",
                where=location,
                found=f"a kernel of {function.name} stands for more than {max_kernels} combinations of dtypes and "
                "dim orders",
                cause="each combination of the alternatives is a kernel of its own in the runtime's registry",
                fix="use one alias for arguments that always agree, or a kernel with 'arg_meta: null'",
            )


def _render(
    function: schema.FunctionSchema,
    location: Location,
    tensors: list[tuple[str, str]],
    dtype_choices: Mapping[str, tuple[int, ...]],
    order_choices: Mapping[str, tuple[_DimOrder, ...]],
) -> list[str]:
    rendered = []
    for dtypes in itertools.product(*dtype_choices.values()):
        dtype_of = dict(zip(dtype_choices, dtypes, strict=True))
        for orders in itertools.product(*order_choices.values()):
            order_of = dict(zip(order_choices, orders, strict=True))
            rendered.append(
                kernel_keys.render(tuple(TensorKind(dtype_of[dtype], order_of[order]) for dtype, order in tensors))
            )
    longest = max(map(len, rendered))
    if longest > _MAX_KEY:
        raise InputError.of(
            id="long-kernel-key",
            where=location,
            found=f"a kernel key of {function.name} has {longest} characters, and ExecuTorch's runtime makes keys "
            f"of at most {_MAX_KEY}",
            cause="the operator has too many tensors with too many dimensions",
            fix="bind one kernel with 'arg_meta: null', and tell dtypes and dim orders apart inside it",
        )
    return rendered


def _returned_slot(function: schema.FunctionSchema, location: Location) -> str | None:
    """Returns the argument whose key part repeats for the call's result; None if no tensor does.

    A program repeats a single out argument as the result. Several out arguments give a list, which keys leave out.
    """
    if function.out:
        return function.out[0].name if len(function.out) == 1 else None
    if [str(returned.type) for returned in function.returns] != ["Tensor"]:
        return None
    returned = function.returns[0]
    for argument in function.arguments:
        if returned.alias is not None and argument.alias == returned.alias:
            return argument.name
    raise InputError.of(
        id="bad-arg-meta",
        where=location,
        found=f"a kernel for certain dtypes or dim orders, but {function.name} returns a new tensor",
        cause="'arg_meta' can tell of arguments only, and the runtime's kernel key has the returned tensor too",
        fix="add an out argument, '*, Tensor(a!) out) -> Tensor(a!)', or bind one kernel with 'arg_meta: null'",
    )


def _pair(node: yaml_reader.Node, argument: schema.Argument) -> tuple[yaml_reader.Node, yaml_reader.Node]:
    if isinstance(node, yaml_reader.Sequence) and len(node.items) == 2:
        return node.items[0], node.items[1]
    found = f"a list of {len(node.items)}" if isinstance(node, yaml_reader.Sequence) else yaml_reader.kind(node)
    raise InputError.of(
        id="bad-arg-meta",
        where=node.location,
        found=f"'{argument.name}' of 'arg_meta' is {found}, not a dtype and a dim order",
        cause="one of the two was left out",
        fix=f"write '{argument.name}: [T0, D0]' with aliases, or '{argument.name}: [Float, [0, 1]]'",
    )


def _choice(
    node: yaml_reader.Node, argument: schema.Argument, known: Mapping[str, tuple[_T, ...]]
) -> tuple[str, tuple[_T, ...]]:
    """Returns the name of a choice, which is an alias or the argument itself, and the alias's alternatives."""
    if isinstance(node, yaml_reader.Scalar) and node.text in known:
        return f"alias {node.text}", known[node.text]
    if isinstance(node, yaml_reader.Scalar) and kernel_keys.find_dtype(node.text) is None:
        near = suggest.nearest(node.text, known) or kernel_keys.nearest_dtypes(node.text)
        raise InputError.of(
            id="bad-alias",
            where=node.location,
            found=f"undefined alias '{node.text}' for '{argument.name}'{suggest.did_you_mean(near)}",
            cause="a typo, or the alias is defined in another entry: each entry has its own",
            fix="define it in the entry's type_alias or dim_order_alias, or write its value in its place",
        )
    return f"argument {argument.name}", ()


def _dtypes(node: yaml_reader.Node) -> tuple[int, ...]:
    names = node.items if isinstance(node, yaml_reader.Sequence) else (node,)
    if not names:
        raise _not_dtypes(node, "an empty list")
    dtypes = []
    for name in names:
        dtype = kernel_keys.find_dtype(name.text) if isinstance(name, yaml_reader.Scalar) else None
        if dtype is None:
            near = kernel_keys.nearest_dtypes(name.text) if isinstance(name, yaml_reader.Scalar) else ()
            raise _not_dtypes(name, yaml_reader.kind(name) + suggest.did_you_mean(near))
        dtypes.append(dtype)
    return tuple(dict.fromkeys(dtypes))


def _dim_orders(node: yaml_reader.Node) -> tuple[_DimOrder, ...]:
    """Reads one dim order, `[0, 1]`, or several, `[[0, 1], [1, 0]]`."""
    if not isinstance(node, yaml_reader.Sequence):
        raise _not_a_dim_order(node, yaml_reader.kind(node))
    nested = [item for item in node.items if isinstance(item, yaml_reader.Sequence)]
    if nested and len(nested) == len(node.items):
        return tuple(dict.fromkeys(_dim_order(item) for item in nested))
    return (_dim_order(node),)


def _dim_order(node: yaml_reader.Sequence) -> _DimOrder:
    texts = [item.text if isinstance(item, yaml_reader.Scalar) else yaml_reader.kind(item) for item in node.items]
    if sorted(texts) != sorted(map(str, range(len(texts)))):
        raise _not_a_dim_order(node, f"[{', '.join(texts)}]")
    return tuple(map(int, texts))


def _entries(node: yaml_reader.Node | None, what: str, example: str) -> list[tuple[str, yaml_reader.Node]]:
    if node is None:
        return []
    if not isinstance(node, yaml_reader.Mapping):
        raise InputError.of(
            id="wrong-yaml-type",
            where=node.location,
            found=f"'{what}' is {yaml_reader.kind(node)}, not a mapping",
            cause="wrong indentation, or the name before ':' is missing",
            fix=f"write it as in '{what}: {example}'",
        )
    return list(node.entries.items())


def _unknown_arguments(
    function: schema.FunctionSchema, arg_meta: yaml_reader.Node, given: Mapping[str, yaml_reader.Node]
) -> list[Finding]:
    tensors = {argument.name for argument in function.arguments if str(argument.type) in ("Tensor", "Tensor?")}
    others = {argument.name: str(argument.type) for argument in function.arguments}
    locations = arg_meta.key_locations if isinstance(arg_meta, yaml_reader.Mapping) else {}
    return [
        Finding(
            id="bad-arg-meta",
            where=locations[name],
            found=f"'{name}' of 'arg_meta' is {f'a {others[name]}' if name in others else 'no argument'} of "
            f"{function.name}{suggest.did_you_mean(() if name in others else suggest.nearest(name, tensors))}",
            cause="kernel keys tell of tensors only, not of lists or numbers"
            if name in others
            else "a typo, or an argument of another operator or of another torch version",
            fix=f"name the tensors of {function}",
        )
        for name in given
        if name not in tensors
    ]


def _missing_argument(function: schema.FunctionSchema, argument: schema.Argument, location: Location) -> Finding:
    return Finding(
        id="bad-arg-meta",
        where=location,
        found=f"'arg_meta' leaves out the tensor '{argument.name}' of {function.name}",
        cause="the runtime looks kernels up by the dtypes and dim orders of all tensors of a call",
        fix=f"add '{argument.name}: [T0, D0]'",
    )


def _not_dtypes(node: yaml_reader.Node, found: str) -> InputError:
    return InputError.of(
        id="unknown-dtype",
        where=node.location,
        found=f"expected a dtype or a list of dtypes, found {found}",
        cause="a typo, or PyTorch's other name for a dtype: Float is float32, Long is int64",
        fix="use the names of ExecuTorch's ScalarType, such as Float, Half, BFloat16, Long or Bool",
    )


def _not_a_dim_order(node: yaml_reader.Node, found: str) -> InputError:
    return InputError.of(
        id="bad-dim-order",
        where=node.location,
        found=f"expected a dim order or a list of dim orders, found {found}",
        cause="a dim order names each dimension once, from the outermost in memory to the innermost",
        fix="write [0, 1, 2, 3] for a contiguous tensor of four dimensions, [0, 2, 3, 1] for a channels-last one, "
        "[] for one without dimensions",
    )
