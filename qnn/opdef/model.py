"""The content of the XML of an op package, as frozen dataclasses."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from diagnostics.errors import Location

# The known values in the XML. Other values give a warning, since newer SDKs may add values.
DATATYPES = frozenset(
    {"BACKEND_SPECIFIC", "QNN_DATATYPE_BOOL_8"}
    | {f"QNN_DATATYPE_FLOAT_{bits}" for bits in (16, 32, 64)}
    | {f"QNN_DATATYPE_{sign}INT_{bits}" for sign in ("", "U") for bits in (4, 8, 16, 32, 64)}
    | {f"QNN_DATATYPE_{sign}FIXED_POINT_{bits}" for sign in ("S", "U") for bits in (4, 8, 16, 32)}
    | {"QNN_DATATYPE_STRING"}
)
LAYOUTS = frozenset({"BACKEND_SPECIFIC", "NHCW", "NHWC", "NONTRIVIAL", "UNDEFINED"})
RANKS = frozenset({"SCALAR", "1D", "2D", "3D", "4D", "ND"})
BACKENDS = frozenset(
    {"AIC", "CPU", "DSP", "DSP_V65", "DSP_V66", "DSP_V68", "DSP_V69", "DSP_V73", "GPU", "HTA", "HTP", "HTP_MCP", "LPAI"}
)
CONSTRAINT_TYPES = frozenset({"Datatype", "Description", "Number", "Shape", "Value"})

BACKEND_SPECIFIC = "BACKEND_SPECIFIC"

# A default or an element of one: `[[1, 2], [3, 4]]` is a tuple of tuples.
Value = bool | int | float | str | tuple["Value", ...]


class Role(Enum):
    """The role of a tensor in its op."""

    INPUT = "input"
    OUTPUT = "output"
    PARAMETER = "parameter"


@dataclass(frozen=True, slots=True)
class Constraint:
    """A condition that a backend should check. `text` is documentation."""

    id: str
    type: str
    text: str


@dataclass(frozen=True, slots=True)
class Shape:
    """The shape of a tensor. `rank` is SCALAR, 1D to 4D, or ND. `layout` is empty if the XML has no layout."""

    rank: str
    layout: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tensor:
    """An input, an output or a parameter of an op.

    Attributes:
        name: the name.
        mandatory: whether each node of the op has the tensor.
        datatypes: the supported datatypes.
        shape: the shape.
        description: the documentation.
        constraints: the conditions on the tensor.
        default: the value of an optional input or parameter that a node lacks; None if the XML has no default.
        repeated: whether a node may have any number of tensors in this place.
        is_static: whether an input is constant data.
        enumeration: the names of a parameter's values 0, 1, 2, ...
        at: the place in the XML.
    """

    name: str
    mandatory: bool
    datatypes: tuple[str, ...]
    shape: Shape
    description: str = ""
    constraints: tuple[Constraint, ...] = ()
    default: Value | None = None
    repeated: bool = False
    is_static: bool = False
    enumeration: tuple[str, ...] = ()
    at: Location = field(compare=False)


@dataclass(frozen=True, slots=True)
class Reference:
    """A text that documents the origin of an op."""

    source: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OpDef:
    """One op.

    Attributes:
        name: the op type, by which a node names the op.
        inputs: the inputs, in order.
        outputs: the outputs, in order.
        parameters: the parameters, in order.
        backends: the backends of the op.
        description: the documentation.
        references: texts that document the origin.
        replaces_native: whether the op replaces the backend's own op of the same type.
        at: the place in the XML.
    """

    name: str
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    parameters: tuple[Tensor, ...]
    backends: tuple[str, ...]
    description: str = ""
    references: tuple[Reference, ...] = ()
    replaces_native: bool = False
    at: Location = field(compare=False)

    @property
    def tensors(self) -> tuple[tuple[Role, Tensor], ...]:
        """All tensors with their roles."""
        return (
            *((Role.INPUT, tensor) for tensor in self.inputs),
            *((Role.OUTPUT, tensor) for tensor in self.outputs),
            *((Role.PARAMETER, tensor) for tensor in self.parameters),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SupplementalTensor:
    """The additional description of a tensor for one backend. Empty fields have the values of the op."""

    name: str
    role: Role
    constraints: tuple[Constraint, ...] = ()
    datatypes: tuple[str, ...] = ()
    layout: str = ""
    shape_text: str = ""
    only_default: bool = False
    at: Location = field(compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class SupplementalOpDef:
    """The additional description of an op for one backend."""

    name: str
    tensors: tuple[SupplementalTensor, ...]
    at: Location = field(compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Supplement:
    """The ops of a package that one backend supports.

    Attributes:
        backend: the backend.
        supported_ops: the names of supported ops, in addition to ops that name the backend themselves.
        op_defs: the additional descriptions of ops.
        at: the place in the XML.
    """

    backend: str
    supported_ops: tuple[str, ...]
    op_defs: tuple[SupplementalOpDef, ...]
    at: Location = field(compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """An op package, from one or several XML files."""

    name: str
    domain: str
    version: str
    op_defs: tuple[OpDef, ...]
    supplements: tuple[Supplement, ...] = ()
    at: Location = field(compare=False)

    def op_def(self, name: str) -> OpDef | None:
        """Returns the op of a name; None if the package has no such op."""
        return next((op_def for op_def in self.op_defs if op_def.name == name), None)

    def backends(self, op_def: OpDef) -> tuple[str, ...]:
        """Returns the backends of an op, from the op itself and from supplements."""
        listed = (supplement.backend for supplement in self.supplements if op_def.name in supplement.supported_ops)
        return tuple(sorted({*op_def.backends, *listed}))

    def datatypes(self, op_def: OpDef, role: Role, tensor: Tensor, backend: str) -> tuple[str, ...]:
        """Returns the datatypes of a tensor on a backend."""
        for supplement in self.supplements:
            for supplemental in supplement.op_defs if supplement.backend == backend else ():
                for found in supplemental.tensors if supplemental.name == op_def.name else ():
                    if (found.name, found.role) == (tensor.name, role) and found.datatypes:
                        return found.datatypes
        return tensor.datatypes


def to_json(value: object) -> Any:
    """Converts a package to JSON values, with the whole content of the XML and without places in files."""
    if dataclasses.is_dataclass(value):
        return {
            item.name: to_json(getattr(value, item.name)) for item in dataclasses.fields(value) if item.name != "at"
        }
    if isinstance(value, Enum):
        return value.value
    return [to_json(item) for item in value] if isinstance(value, tuple) else value
