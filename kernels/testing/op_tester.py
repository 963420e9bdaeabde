"""The API for tests of kernels. Tests call kernels as a program does, and compare the results with PyTorch's.

    class OpNegTest(op_tester.OpTest):
        def test_neg(self) -> None:
            self.check_unary(self.op("aten::neg.out"))

`OpTester` tests single calls. `OpTest` adds sweeps over dtypes, shapes, dim orders and out dtypes.
"""

import faulthandler

from kernels.testing.inputs import (
    ALL_DTYPES,
    BROADCAST_SHAPES,
    COMPLEX_DTYPES,
    FLOAT_DTYPES,
    INT_DTYPES,
    MOVABLE_DTYPES,
    NOT_BROADCAST_SHAPES,
    SHAPES,
    UNSIGNED_DTYPES,
    UNSUPPORTED_DTYPES,
    dim_order_of,
    dim_orders,
    make_tensor,
    special_values,
    strides_of,
    with_dim_order,
)
from kernels.testing.judge import OpTester
from kernels.testing.op_call import KernelError
from kernels.testing.sweeps import OpTest
from kernels.testing.tolerances import Rounding

__all__ = [
    "ALL_DTYPES",
    "BROADCAST_SHAPES",
    "COMPLEX_DTYPES",
    "FLOAT_DTYPES",
    "INT_DTYPES",
    "MOVABLE_DTYPES",
    "NOT_BROADCAST_SHAPES",
    "SHAPES",
    "UNSIGNED_DTYPES",
    "UNSUPPORTED_DTYPES",
    "KernelError",
    "OpTest",
    "OpTester",
    "Rounding",
    "dim_order_of",
    "dim_orders",
    "make_tensor",
    "special_values",
    "strides_of",
    "with_dim_order",
]

faulthandler.enable()  # If a kernel crashes, the traceback shows the test that called it.
