"""What the XML of an op package says, as frozen dataclasses."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from diagnostics.errors import Location

# What the XML may say; anything else is a warning, since newer SDKs know more.
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
    """What a tensor is to its op."""

    INPUT = "input"
    OUTPUT = "output"
    PARAMETER = "parameter"


@dataclass(frozen=True, slots=True)
class Constraint:
    """A condition that a backend should check. `text` is for people."""

    id: str
    type: str
    text: str


@dataclass(frozen=True, slots=True)
class Shape:
    """The shape of a tensor. `rank` is SCALAR, 1D to 4D, or ND; `layout` is empty where the XML gives none."""

    rank: str
    layout: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tensor:
    """An input, an output or a parameter of an op.

    Attributes:
        name: its name.
        mandatory: whether each node of the op has it.
        datatypes: the datatypes that the op takes or gives.
        shape: its shape.
        description: for people.
        constraints: conditions on it.
        default: what an optional input or parameter is where a node lacks it; None if the XML gives nothing.
        repeated: whether any number of tensors may stand in this place.
        is_static: whether an input is constant data.
        enumeration: the names of a parameter's values 0, 1, 2, ...
        at: where the XML has it.
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
    """A text that an op is taken from."""

    source: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OpDef:
    """One op.

    Attributes:
        name: its type, by which a node names it.
        inputs: its inputs, in order.
        outputs: its outputs, in order.
        parameters: its parameters, in order.
        backends: the backends that it is written for.
        description: for people.
        references: for people.
        replaces_native: whether it takes the place of the backend's own op of the same type.
        at: where the XML has it.
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
        """Every tensor, with what it is."""
        return (
            *((Role.INPUT, tensor) for tensor in self.inputs),
            *((Role.OUTPUT, tensor) for tensor in self.outputs),
            *((Role.PARAMETER, tensor) for tensor in self.parameters),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SupplementalTensor:
    """What one backend says of a tensor besides: what is empty is as the op says."""

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
    """What one backend says of an op besides."""

    name: str
    tensors: tuple[SupplementalTensor, ...]
    at: Location = field(compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Supplement:
    """What one backend supports of a package.

    Attributes:
        backend: the backend.
        supported_ops: the names of the ops that the backend has besides those that name it themselves.
        op_defs: what the backend says of ops.
        at: where the XML has it.
    """

    backend: str
    supported_ops: tuple[str, ...]
    op_defs: tuple[SupplementalOpDef, ...]
    at: Location = field(compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """An op package, of one XML file or of several."""

    name: str
    domain: str
    version: str
    op_defs: tuple[OpDef, ...]
    supplements: tuple[Supplement, ...] = ()
    at: Location = field(compare=False)

    def op_def(self, name: str) -> OpDef | None:
        """The op of that name, if the package has it."""
        return next((op_def for op_def in self.op_defs if op_def.name == name), None)

    def backends(self, op_def: OpDef) -> tuple[str, ...]:
        """The backends that an op is written for, by either way of saying so."""
        listed = (supplement.backend for supplement in self.supplements if op_def.name in supplement.supported_ops)
        return tuple(sorted({*op_def.backends, *listed}))

    def datatypes(self, op_def: OpDef, role: Role, tensor: Tensor, backend: str) -> tuple[str, ...]:
        """The datatypes of a tensor on a backend."""
        for supplement in self.supplements:
            for supplemental in supplement.op_defs if supplement.backend == backend else ():
                for found in supplemental.tensors if supplemental.name == op_def.name else ():
                    if (found.name, found.role) == (tensor.name, role) and found.datatypes:
                        return found.datatypes
        return tensor.datatypes


def to_json(value: object) -> Any:
    """A package in the terms of JSON: all that the XML says, and no places in files."""
    if dataclasses.is_dataclass(value):
        return {
            item.name: to_json(getattr(value, item.name)) for item in dataclasses.fields(value) if item.name != "at"
        }
    if isinstance(value, Enum):
        return value.value
    return [to_json(item) for item in value] if isinstance(value, tuple) else value
