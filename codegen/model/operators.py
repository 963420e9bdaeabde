"""Operators and kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from codegen.model import kernel_keys, schema
from codegen.model.schema_types import Dialect
from diagnostics.errors import Location


@dataclass(frozen=True, slots=True)
class Kernel:
    """A function that computes an operator.

    Attributes:
        function: the qualified C++ name, `custom::native::add_out`.
        keys: the kernel keys, see codegen/model/kernel_keys.py.
        location: the place of the function's name in the YAML.
        is_aten: whether PyTorch's dispatcher calls the function, with `at::Tensor`.
    """

    function: str
    keys: tuple[str, ...]
    location: Location
    is_aten: bool = False

    @property
    def yaml_name(self) -> str:
        """The name in a YAML, which leaves out `native`."""
        return self.function.replace("::native::", "::")

    @property
    def dialect(self) -> Dialect:
        return Dialect.ATEN if self.is_aten else Dialect.EXECUTORCH


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator with the kernels that compute it.

    Attributes:
        schema: the operator's schema.
        kernels: the kernels, in the YAML's order. No two kernels have a key in common.
        location: the place of the operator's name in the YAML.
        hidden: the kernel for all calls of a YAML that gave way to the operator's YAML; None if there is none.
    """

    schema: schema.FunctionSchema
    kernels: tuple[Kernel, ...]
    location: Location
    hidden: Kernel | None = None

    def __hash__(self) -> int:
        # Results for operators are cached. A hash of all fields would take as long as computing some of the results.
        return hash(self.schema)

    @property
    def name(self) -> str:
        return str(self.schema.name)

    @property
    def default(self) -> Kernel | None:
        """The kernel for all calls without a kernel of their own; None if there is none."""
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
