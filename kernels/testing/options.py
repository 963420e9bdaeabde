"""How a test wants a kernel called, and its results compared."""

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import torch

from kernels.testing.guarded_memory import GuardedMemory
from kernels.testing.tolerances import EXACT, Rounding, Tolerance, tolerance

_T = TypeVar("_T")


@dataclasses.dataclass(frozen=True)
class Options:
    """How to call a kernel, and to compare its results.

    Attributes:
      out_dtype: dtype of the out tensors; default: the dtype of PyTorch's result.
      out_dim_order: of every out tensor; default: contiguous.
      static: give the kernel out tensors of exactly the shapes that are expected, which cannot be resized; default:
        tensors that are one larger in every dimension and that the kernel has to resize.
      aliased: the first input of the out tensor's dtype, shape and dim order has the out tensor's memory.
      guard: where the inputs' memory is copied, with no access behind.
      rounding: why floats may differ: the row of the table of tolerances.
      rtol, atol: tolerances in place of the table's.
      exact: floats equal, too.
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
        """How far floats may differ that were rounded to each of `dtypes`."""
        relative, absolute = EXACT if self.exact else tolerance(self.rounding, dtypes)
        return Tolerance(
            relative if self.rtol is None else self.rtol,
            absolute if self.atol is None else self.atol,
        )


def split(kind: type[_T], kwargs: dict[str, Any]) -> tuple[_T, dict[str, Any]]:
    """The fields of the dataclass `kind` among keyword arguments, as that dataclass, and the other arguments."""
    names = {field.name for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    given = {name: value for name, value in kwargs.items() if name in names}
    return kind(**given), {name: value for name, value in kwargs.items() if name not in names}
