"""Generates the classes of calls: for each operator, a Python class with the arguments' types and defaults."""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Sequence

from codegen.model import torch_schemas
from codegen.model.schema import Argument, FunctionSchema, ListType, OptionalType, Type
from export.graph_passes.generator import own_operators
from export.graph_passes.generator.own_operators import OwnOperator

# The Python types of PyTorch's schema types. A number that is only known at run time is a node.
_TYPES = {
    "Device": "torch.device",
    "Layout": "torch.layout",
    "MemoryFormat": "torch.memory_format",
    "Scalar": "float | T",
    "ScalarType": "torch.dtype",
    "SymInt": "int | T",
    "Tensor": "T",
    "bool": "bool",
    "float": "float",
    "int": "int",
    "str": "str",
}
# The dtypes that occur as defaults. Schemas have the dtypes' numbers.
_DTYPES = {"6": "torch.float32"}
# Attributes of the classes that are not arguments.
_TAKEN = frozenset(
    {
        "DIM_ORDERS",
        "OPERATOR",
        "OUT_SCHEMA",
        "RESULTS",
        "SCHEMA",
        "before",
        "bind",
        "changed_into",
        "compute",
        "each",
        "edge_overload",
        "insert",
        "of",
        "overload",
        "replace",
        "write",
    }
)
_HEADER = '''"""Typed views of calls of operators, made of their schemas by generator/: see call.py."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch.fx import Node

from export.graph_passes.call import Call, T
from export.graph_passes.operators.registration import OwnCall
'''


class SchemaError(Exception):
    """A schema without a class. The message has the schema and the reason."""


def module(own: Sequence[OwnOperator], others: Sequence[FunctionSchema]) -> str:
    """Returns the text of the module with the classes.

    Args:
        own: the operators that kernels/optimized declares.
        others: functional operators.
    Raises:
        SchemaError: a schema is not supported, or two operators have the same class name.
    """
    theirs = {class_name(schema) for schema in others}
    classes: dict[str, str] = {}
    operators: dict[str, str] = {}
    given: list[tuple[FunctionSchema, OwnOperator | None]] = [(one.schema, one) for one in own]
    for schema, declared in [*given, *((one, None) for one in others)]:
        name = class_name(schema)
        # An operator of ours may have the name of an operator of PyTorch, and do more.
        name = f"Own{name}" if declared and name in theirs else name
        if name in classes:
            raise SchemaError(f"{schema}: another operator has the class {name}, too")
        functional = _functional(schema) if declared else schema
        classes[name] = _own_class(name, functional, declared) if declared else _class(name, schema, "Call", ())
        operators[name] = str(functional.name)
    views = "".join(f'    "{operator}": {name},\n' for name, operator in operators.items())
    table = f"# The class of each operator.\nVIEWS: Mapping[str, type[Call[Any]]] = {{\n{views}}}\n"
    return "\n\n".join([_HEADER, *classes.values(), table])


def class_name(schema: FunctionSchema) -> str:
    """Returns the name of an operator's class: `MeanDim` for aten::mean.dim, `IndexPutInPlace` for aten::index_put_."""
    overload = "" if schema.out else schema.name.overload
    parts = [*schema.name.name.split("_"), *overload.split("_")]
    written = any(argument.is_written for argument in schema.positional)
    return "".join(part[:1].upper() + part[1:] for part in parts) + ("InPlace" if written else "")


def _functional(out: FunctionSchema) -> FunctionSchema:
    schema = torch_schemas.functional(out)
    if schema is None or len(schema.returns) != len(out.returns):
        raise SchemaError(f"{out}: an operator of ours has an out variant that gives its tensors")
    return schema


def _own_class(name: str, schema: FunctionSchema, own: OwnOperator) -> str:
    texts = {"SCHEMA": torch_schemas.unqualified(schema), "OUT_SCHEMA": torch_schemas.unqualified(own.schema)}
    constants = [f'{key}: ClassVar[str] = "{text}"' for key, text in texts.items()]
    orders = {_field_name(argument): _order(order) for argument, order in own.dim_orders.items()}
    entries = "".join(f'        "{argument}": "{order}",\n' for argument, order in orders.items())
    results = "".join(f'"{one.name}", ' for one in own.schema.out).rstrip()
    constants.append(f"RESULTS: ClassVar[tuple[str, ...]] = ({results})")
    constants.append(f"DIM_ORDERS: ClassVar[Mapping[str, str]] = {{\n{entries}    }}")
    return _class(name, schema, "OwnCall", constants)


def _order(order: str) -> str:
    """Returns a dim order with the name of a field in place of the name of an argument."""
    other = own_operators.like(order)
    return order if other is None else f"like {_field_name(other)}"


def _class(name: str, schema: FunctionSchema, base: str, constants: Sequence[str]) -> str:
    fields = [_field(schema, argument, is_keyword=False) for argument in schema.positional]
    fields += [_field(schema, argument, is_keyword=True) for argument in schema.keyword_only]
    names = [field.partition(":")[0] for field in fields]
    for one in names:
        if one in _TAKEN or names.count(one) > 1:
            raise SchemaError(f"{schema}: an argument cannot have the name {one}")
    has_default = [argument.default is not None for argument in schema.positional]
    if has_default != sorted(has_default):
        raise SchemaError(f"{schema}: an argument without a default follows one with a default")
    lines = [f'OPERATOR: ClassVar[str] = "{schema.name}"', *constants, "", *fields]
    body = "".join(f"    {line}\n" if line else "\n" for line in lines)
    return f'''@dataclass(frozen=True)
class {name}({base}[T]):
    """{schema}"""

{body}
    if TYPE_CHECKING:

        @classmethod
        def of(cls, node: object) -> {name}[Node] | None: ...
        @classmethod
        def each(cls, nodes: Iterable[Node]) -> Iterator[tuple[Node, {name}[Node]]]: ...
'''


def _field(schema: FunctionSchema, argument: Argument, *, is_keyword: bool) -> str:
    name = _field_name(argument.name)
    metadata = {"name": argument.name} if name != argument.name else {}
    size = _size(argument.type)
    of_field = []
    if argument.default is not None:
        of_field.append(f"default={_default(schema, argument)}")
    if is_keyword:
        of_field.append("kw_only=True")
    if metadata or size is not None:
        of_field.append(f"metadata={metadata | ({} if size is None else {'size': size})}".replace("'", '"'))
    is_plain = len(of_field) == 1 and argument.default is not None
    value = "" if not of_field else f" = {of_field[0].removeprefix('default=')}" if is_plain else None
    text = f" = field({', '.join(of_field)})" if value is None else value
    return f"{name}: {_type(schema, argument.type)}{text}"


def _field_name(argument: str) -> str:
    name = "input" if argument == "self" else argument
    return name + "_" * keyword.iskeyword(name)


def _type(schema: FunctionSchema, type_: Type) -> str:
    if isinstance(type_, OptionalType):
        return f"{_type(schema, type_.element)} | None"
    if isinstance(type_, ListType):
        return f"tuple[{_type(schema, type_.element)}, ...]"
    if type_.name not in _TYPES:
        raise SchemaError(f"{schema}: no Python type is known for {type_.name}")
    return _TYPES[type_.name]


def _size(type_: Type) -> int | None:
    """Returns the size of a list of fixed size, for which a call may have a single number; None for other types."""
    element = type_.element if isinstance(type_, OptionalType) else type_
    return element.size if isinstance(element, ListType) else None


def _default(schema: FunctionSchema, argument: Argument) -> str:
    """Returns a default as Python."""
    text, kind = argument.default or "", str(argument.type).rstrip("?")
    if kind == "ScalarType" and text in _DTYPES:
        return _DTYPES[text]
    if kind == "MemoryFormat" and re.fullmatch(r"[a-z_]+", text):
        return f"torch.{text}"
    try:
        value = ast.literal_eval(text)
    except (SyntaxError, ValueError):
        raise SchemaError(f"{schema}: the default {text} of {argument.name} is not understood") from None
    size = _size(argument.type)
    if size is not None and value is not None and not isinstance(value, list):
        value = [value]
    if isinstance(value, list):
        return repr(tuple(value * size if size is not None and len(value) == 1 else value))
    return repr(value).replace("'", '"')
