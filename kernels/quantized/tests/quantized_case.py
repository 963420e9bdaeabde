"""The common part of the tests of quantized_decomposed operators."""

from collections.abc import Callable
from typing import Any

import torch

from kernels.testing import op_tester, quantized_references

# The smallest and the largest value of each dtype of quantized values.
BOUNDS = {
    dtype: (torch.iinfo(dtype).min, torch.iinfo(dtype).max) for dtype in (*op_tester.INT_DTYPES[1:], torch.uint16)
}
NO_QUANTIZED_DTYPES = (torch.int64, torch.bool, *op_tester.FLOAT_DTYPES)


class QuantizedCase(op_tester.OpTest):
    """Tests against PyTorch's operators. They have no out variants, so that the schemas are from quantized.yaml."""

    def quantized_op(self, name: str, reference: Callable[..., Any]) -> op_tester.OpTester:
        return self.op(name, schema=quantized_references.schema(name), reference=reference)


def make_quantized(
    shape: tuple[int, ...], dtype: torch.dtype, dim_order: tuple[int, ...] | None = None
) -> torch.Tensor:
    """A tensor of random integers from the whole range of the dtype."""
    least, largest = BOUNDS[dtype]
    generator = torch.Generator().manual_seed(sum(shape))
    tensor = torch.randint(least, largest + 1, shape, generator=generator).to(dtype)
    return tensor if dim_order is None else op_tester.with_dim_order(tensor, dim_order)


def make_scales(count: int, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    return torch.linspace(0.013, 1.7, count, dtype=dtype)


def make_zero_points(count: int, dtype: torch.dtype = torch.int64) -> torch.Tensor:
    return (torch.arange(count) * 37 % 101).to(dtype)
