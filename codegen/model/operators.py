"""An operator and the kernels that compute it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from codegen.model import kernel_keys, schema
from codegen.model.schema_types import Dialect
from diagnostics.errors import Location

# The C++ namespace of what a library defines for each kernel that it registers, and that no two libraries may define.
# A linker prints the name.
REGISTERED_NAMESPACE = "kernel_registered_by_two_libraries"


@dataclass(frozen=True, slots=True)
class Kernel:
    """A function that computes an operator.

    Attributes:
        function: the qualified C++ name, `custom::native::add_out`.
        keys: which calls it is for, see codegen/model/kernel_keys.py.
        location: where the YAML names the function.
        is_aten: whether PyTorch's dispatcher calls it, with `at::Tensor`.
    """

    function: str
    keys: tuple[str, ...]
    location: Location
    is_aten: bool = False

    @property
    def dialect(self) -> Dialect:
        return Dialect.ATEN if self.is_aten else Dialect.EXECUTORCH


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator with the kernels that compute it.

    Attributes:
        schema: the operator's schema.
        kernels: the kernels, in the YAML's order. No two have a key in common.
        location: where the YAML names the operator.
    """

    schema: schema.FunctionSchema
    kernels: tuple[Kernel, ...]
    location: Location

    def __hash__(self) -> int:
        # What is made of operators is remembered, and hashing all of one takes as long as making some of it.
        return hash(self.schema)

    @property
    def name(self) -> str:
        return str(self.schema.name)

    @property
    def default(self) -> Kernel | None:
        """The kernel for every call that no other is for."""
        return next((kernel for kernel in self.kernels if kernel_keys.DEFAULT in kernel.keys), None)


class Declaration(NamedTuple):
    """One use of EXECUTORCH_OPERATOR.

    Attributes:
        schema: the operator's schema.
        kernel: the qualified C++ name of the kernel.
        file: the source file.
        line: the line of the source, from 1.
    """

    schema: str
    kernel: str
    file: str
    line: int
