"""Boxed kernels: kernels behind functions that the runtime can call."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from codegen.model import aten_kernels, cpp_names
from codegen.model.operators import Kernel, Operator


@dataclass(frozen=True, slots=True)
class BoxedKernel:
    """A kernel behind a function that the runtime can call, which unboxes the values of a call.

    Attributes:
        function: the function's name.
        operator: the operator that the kernel computes.
        kernel: the kernel.
    """

    function: str
    operator: Operator
    kernel: Kernel

    @property
    def takes_aten_tensors(self) -> bool:
        """Whether a YAML file names the kernel, and the kernel takes PyTorch's tensors."""
        return self.kernel.is_aten and self.kernel.function != aten_kernels.FUNCTION

    @property
    def keys(self) -> list[str]:
        """The kernel keys with which the kernel is registered."""
        return [
            key for kernel in self.operator.kernels if kernel.function == self.kernel.function for key in kernel.keys
        ]


def boxed_kernels(operators: Iterable[Operator]) -> list[BoxedKernel]:
    """Returns the boxed kernels of operators: `aten_add_out`, `aten_add_out_by_fast_add_out`."""
    boxed: dict[str, BoxedKernel] = {}
    for operator in operators:
        kernels = {kernel.function: kernel for kernel in operator.kernels}
        for kernel in kernels.values():
            name = str(operator.name)
            if len(kernels) > 1:
                name += "_by_" + kernel.function.replace("::native::", "::")
            name = cpp_names.free(re.sub(r"[\W_]+", "_", name), boxed)
            boxed[name] = BoxedKernel(name, operator, kernel)
    return list(boxed.values())
