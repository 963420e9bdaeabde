"""Patch: a number as in `x.mean() - 1.5` has the effect on the dtype, and the digits, that it has in PyTorch.

**What**: wraps `call_operator` of ExecuTorch's `ScalarToTensorPass`, which makes tensors of the numbers that an
operator takes in place of tensors.

**Why**: in PyTorch, a float does not change the dtype of a tensor of floats, nor an int that of a tensor of ints. The
tensor that the pass makes is float32 or int64, has no dimensions, and changes the dtype of a tensor that has no
dimensions either. The patch converts the result to its dtype in the trace. The tensors of numbers that are multiplied
with float64 are float64: in float32, 0.1 has seven digits.

**Effect**: without the patch, the check of an export refuses models that return results such as `x.mean() - 1.5` in
float16, bfloat16 or int32. Models in float64 compute with seven digits of each number.

**Report**, to ExecuTorch: `ScalarToTensorPass` should compute the dtype of the tensor from the other arguments.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import torch
from executorch.exir.pass_base import ExportPass, ProxyValue, map_args
from executorch.exir.passes.scalar_to_tensor_pass import ScalarToTensorPass
from torch.utils._python_dispatch import _disable_current_modes

from export.patches.patch import Patch

_SOURCE = "897e198e7bf5"
PATCH = Patch(
    "scalar_dtypes",
    known={
        "executorch.exir.passes.scalar_to_tensor_pass:ScalarToTensorPass.call_operator": {
            "1.4.1": _SOURCE,
            "1.5.1": _SOURCE,
        }
    },
    without="models with results such as x.mean() - 1.5 in bfloat16 cannot be exported, and models in float64 compute"
    " with seven digits of each number",
)
_DOUBLES = (torch.float64, torch.complex128)


def kept() -> contextlib.AbstractContextManager[None]:
    """Keeps the dtypes of results, and the digits of numbers, in lowerings during the block."""
    return PATCH.wrapped(ScalarToTensorPass, "call_operator", _call_operator)


def _call_operator(original: Callable[..., Any], self: ExportPass, operator: Any, *call: Any) -> Any:
    args, kwargs, meta = call
    if any(_dtype(one) in _DOUBLES for one in (*args, *kwargs.values())):
        args, kwargs = map_args(operator, _with_all_digits, args, kwargs)
    result = original(self, operator, args, kwargs, meta)
    dtype = getattr(meta.data.get("val"), "dtype", None)
    if dtype is None or _dtype(result) in (None, dtype):
        return result
    return ExportPass.call_operator(self, torch.ops.aten._to_copy.default, (result,), {"dtype": dtype}, meta)


def _dtype(value: Any) -> torch.dtype | None:
    return value.to_tensor().dtype if isinstance(value, ProxyValue) and value.is_tensor() else None


def _with_all_digits(value: Any, argument: Any) -> Any:
    if type(value) is not float or not isinstance(argument.type, torch.TensorType):
        return value
    with _disable_current_modes():
        return torch.tensor(value, dtype=torch.float64)
