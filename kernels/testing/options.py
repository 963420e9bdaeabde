"""Options for the call of a kernel and for the comparison of its results."""

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import torch

from kernels.testing.guarded_memory import GuardedMemory
from kernels.testing.tolerances import EXACT, Rounding, Tolerance, tolerance

_T = TypeVar("_T")


@dataclasses.dataclass(frozen=True)
class Options:
    """Options for the call of a kernel and for the comparison of its results.

    Attributes:
      out_dtype: dtype of the out tensors; default: the dtype of PyTorch's result.
      out_dim_order: dim order of the out tensors with as many dimensions; default: contiguous.
      static: whether out tensors have the expected shapes and cannot be resized. By default, each dimension is larger
        by one, and the kernel must resize the tensors.
      aliased: whether the first input with the out tensor's dtype, shape and dim order shares the out tensor's memory.
      guard: memory for copies of the inputs, before a page without access.
      rounding: the reason for differences of floats: a row of the table of tolerances.
      rtol, atol: tolerances instead of those of the table.
      exact: whether floats must be equal, too.
    """

    out_dtype: torch.dtype | None = None
    out_dim_order: Sequence[int] | None = None
    static: bool = False
    aliased: bool = False
    guard: GuardedMemory | None = None
    rounding: Rounding = Rounding.RESULT
    rtol: float | None = None
    atol: float | None = None
    exact: bool = False

    def tolerance(self, dtypes: Iterable[torch.dtype]) -> Tolerance:
        """The tolerance for floats that were rounded to each of `dtypes`."""
        relative, absolute = EXACT if self.exact else tolerance(self.rounding, dtypes)
        return Tolerance(
            relative if self.rtol is None else self.rtol,
            absolute if self.atol is None else self.atol,
        )


def split(kind: type[_T], kwargs: dict[str, Any]) -> tuple[_T, dict[str, Any]]:
    """Splits keyword arguments into the dataclass `kind`, with the arguments that are its fields, and the others."""
    names = {field.name for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    given = {name: value for name, value in kwargs.items() if name in names}
    return kind(**given), {name: value for name, value in kwargs.items() if name not in names}
