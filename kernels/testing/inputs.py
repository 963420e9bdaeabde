"""Inputs of tests of kernels: dtypes, shapes, dim orders, and tensors with reproducible values."""

import dataclasses
from collections.abc import Iterable, Sequence

import torch

Shape = tuple[int, ...]

FLOAT_DTYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
INT_DTYPES = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
ALL_DTYPES = (*FLOAT_DTYPES, *INT_DTYPES, torch.bool)
COMPLEX_DTYPES = (torch.complex64, torch.complex128, torch.complex32)
UNSIGNED_DTYPES = (torch.uint16, torch.uint32, torch.uint64)
MOVABLE_DTYPES = (*ALL_DTYPES, *COMPLEX_DTYPES, *UNSIGNED_DTYPES)  # the dtypes of operators that only move elements
UNSUPPORTED_DTYPES = (*COMPLEX_DTYPES, *UNSIGNED_DTYPES)  # unless the tests of an operator name them

SHAPES: tuple[Shape, ...] = (
    ((), (1,), (7,), (0,), (3, 5), (2, 0, 3), (2, 3, 4, 5), (1, 4, 1, 1), (2, 1, 3, 2, 2), (17, 33))
)  # fmt: skip
BROADCAST_SHAPES: tuple[tuple[Shape, Shape], ...] = (
    ((), ()),
    ((4,), ()),
    ((), (2, 3)),
    ((3, 5), (3, 5)),
    ((3, 5), (5,)),
    ((3, 1), (1, 5)),
    ((2, 1, 4), (3, 1)),
    ((0, 3), (1, 3)),
    ((0,), ()),
    ((2, 3, 4, 5), (3, 1, 1)),
    ((1,), (600,)),
)
NOT_BROADCAST_SHAPES: tuple[tuple[Shape, Shape], ...] = (((3,), (4,)), ((2, 3), (2,)), ((0,), (2,)))

# 0-dim tensors have a lower category in type promotion.
PROMOTION_SHAPES: tuple[tuple[Shape, Shape], ...] = (((2, 3), (3,)), ((4,), ()), ((), (4,)), ((), ()))


@dataclasses.dataclass(frozen=True)
class Inputs:
    """The tensors that a sweep passes to an operator.

    Attributes:
      dtypes: the dtypes of the sweep. The operator must refuse all other dtypes of UNSUPPORTED_DTYPES.
      low, high: the range of the values.
      special: whether the sweep also tests `special_values`.
    """

    dtypes: Iterable[torch.dtype] = ALL_DTYPES
    low: float = -9
    high: float = 9
    special: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "dtypes", tuple(self.dtypes))

    @property
    def out_dtypes(self) -> tuple[torch.dtype, ...]:
        """The dtypes of out tensors in the sweep."""
        return (*ALL_DTYPES, *(dtype for dtype in self.dtypes if dtype in UNSUPPORTED_DTYPES))

    @property
    def refused_dtypes(self) -> tuple[torch.dtype, ...]:
        """The dtypes that the operator must refuse."""
        return tuple(dtype for dtype in UNSUPPORTED_DTYPES if dtype not in self.dtypes)

    def tensor(
        self,
        shape: Sequence[int],
        dtype: torch.dtype,
        dim_order: Sequence[int] | None = None,
        *,
        at_least: float | None = None,
    ) -> torch.Tensor:
        """A tensor with values in the range, or in the part of the range from `at_least` on."""
        low = self.low if at_least is None else max(self.low, at_least)
        return make_tensor(shape, dtype, dim_order=dim_order, low=low, high=self.high)


def make_tensor(
    shape: Sequence[int],
    dtype: torch.dtype,
    *,
    dim_order: Sequence[int] | None = None,
    low: float = Inputs.low,
    high: float = Inputs.high,
) -> torch.Tensor:
    """A tensor with reproducible values.

    Floats are from [low, high), integers from the same range (unsigned ones from 0 on), and complex numbers have such
    floats as parts.
    """
    generator = torch.Generator().manual_seed(len(shape) * 1000 + sum(shape))
    if dtype == torch.bool:
        tensor = torch.randint(0, 2, tuple(shape), generator=generator).to(dtype)
    elif dtype.is_floating_point:
        tensor = (torch.rand(tuple(shape), generator=generator, dtype=torch.float64) * (high - low) + low).to(dtype)
    elif dtype.is_complex:
        parts = torch.rand((*shape, 2), generator=generator, dtype=torch.float64) * (high - low) + low
        tensor = torch.view_as_complex(parts).to(dtype)
    else:
        start = max(int(low), 0) if dtype in (torch.uint8, *UNSIGNED_DTYPES) else int(low)
        tensor = torch.randint(start, int(high) + 1, tuple(shape), generator=generator).to(dtype)
    return tensor if dim_order is None else with_dim_order(tensor, dim_order)


def special_values(dtype: torch.dtype) -> torch.Tensor:
    """Values that need special cases: signed zeros, infinities, NaN, denormals, extremes."""
    if dtype == torch.bool:
        return torch.tensor([False, True])
    if dtype.is_floating_point:
        info = torch.finfo(dtype)
        inf, nan = float("inf"), float("nan")
        values = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, -2.5, inf, -inf, nan, info.max, info.min, info.tiny, info.eps]
        values += [info.tiny / 2, -info.tiny * info.eps]
        return torch.tensor(values, dtype=dtype)
    if dtype.is_complex:
        # No infinities and NaNs, because the results of complex products depend on the order of the operations.
        parts = special_values(dtype.to_real())
        parts = parts[parts.isfinite()]
        return torch.complex(parts.double(), parts.flip(0).double()).to(dtype)
    bounds = torch.iinfo(dtype)
    return torch.tensor([0, 1, 2, 3, bounds.min, bounds.max, bounds.max - 1], dtype=dtype)


def dim_order_of(tensor: torch.Tensor) -> tuple[int, ...]:
    """The dimensions from the outermost in memory to the innermost."""
    strides = tensor.stride()
    return tuple(sorted(range(tensor.dim()), key=lambda dim: -strides[dim]))


def strides_of(sizes: Sequence[int], dim_order: Sequence[int]) -> list[int]:
    """The strides of a dense tensor in elements, as the runtime computes them."""
    strides = [0] * len(sizes)
    step = 1
    for dim in reversed(dim_order):
        strides[dim] = step
        step *= max(sizes[dim], 1)
    return strides


def with_dim_order(tensor: torch.Tensor, dim_order: Sequence[int]) -> torch.Tensor:
    """A copy of `tensor` whose memory has `dim_order`."""
    result = torch.empty_strided(tensor.shape, strides_of(tensor.shape, dim_order), dtype=tensor.dtype)
    return result.copy_(tensor)


def dim_orders(rank: int) -> list[tuple[int, ...]]:
    """The tested dim orders of `rank` dimensions: contiguous, channels-last if it exists, and reversed."""
    orders = [tuple(range(rank))]
    if rank >= 4:
        orders.append((0, *range(2, rank), 1))
    if rank >= 2:
        orders.append(tuple(reversed(range(rank))))
    return orders
