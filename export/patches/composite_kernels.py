"""Patch: the kernels of composite operators are overridden at once.

**What**: replaces `torch.export.exported_program._override_composite_implicit_decomp`, which overrides the kernels of
some 500 composite operators for a decomposition, each with 22 dispatch keys. The patch replaces the table of an
operator at once, where PyTorch checks and sets each kernel.

**Why**: PyTorch does so for each decomposition, and an export decomposes several times.

**Effect**: an override of 513 operators takes 6 ms of CPU time, not 60. An export of MobileNetV2 has one override with
`one_decomposition`, and more without.

**Report**, to PyTorch: `_override_composite_implicit_decomp` should update `py_kernels` once for each operator.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch._export.utils
import torch._higher_order_ops.utils
from torch._C import DispatchKey
from torch._ops import OpOverload
from torch._subclasses import FakeTensorMode, fake_impls
from torch.export import exported_program

from export.patches.patch import Patch

PATCH = Patch(
    "composite_kernels",
    known={
        "torch.export.exported_program:_override_composite_implicit_decomp": {"2.13": "b077d46ba870"},
        "torch._export.utils:_get_decomp_for_cia": {"2.13": "c88378d385af"},
        "torch._higher_order_ops.utils:autograd_not_implemented": {"2.13": "84d33684ab27"},
        "torch._ops:OperatorBase.py_impl": {"2.13": "7a32030166eb"},
        "torch._subclasses.fake_impls:register_op_impl": {"2.13": "ffe5816e8db7"},
        "torch._subclasses.fake_impls:_is_op_registered_to_fake_rule": {"2.13": "b42b78458191"},
        "torch._subclasses.fake_impls:_deregister_op_impl": {"2.13": "b25dfd97c983"},
    },
    without="the export is slower",
)


def overridden_at_once() -> contextlib.AbstractContextManager[None]:
    """Overrides kernels at once during the block."""
    return PATCH.applied(exported_program, _override_composite_implicit_decomp=_overridden)


@contextlib.contextmanager
def _overridden(decompositions: Mapping[OpOverload, Callable[..., Any]]) -> Iterator[None]:
    """Does what PyTorch's `_override_composite_implicit_decomp` does.

    In the block, tracing calls the decomposition of each operator. Computations with constants and with fake tensors
    call the operator's own kernel.
    """
    tables = {operator: operator.py_kernels for operator in decompositions}
    for operator, decomposition in decompositions.items():
        kernel = torch._export.utils._get_decomp_for_cia(operator)
        refusal = torch._higher_order_ops.utils.autograd_not_implemented(operator, deferred_error=True)
        operator.py_kernels = {
            **dict.fromkeys(exported_program._AUTOGRAD_ALIAS_BACKEND_KEYS_TO_OVERRIDE, refusal),
            **dict.fromkeys(exported_program._BACKEND_KEYS_TO_OVERRIDE, kernel),
            **operator.py_kernels,
            DispatchKey.CompositeImplicitAutograd: decomposition,
        }
        operator._dispatch_cache.clear()
        fake_impls.op_implementations_dict.setdefault(operator, functools.partial(_run_fake, kernel))
    try:
        yield
    finally:
        for operator, table in tables.items():
            operator.py_kernels = table
            operator._dispatch_cache.clear()
            # PyTorch does not restore a rule from before the block.
            fake_impls.op_implementations_dict.pop(operator, None)


def _run_fake(kernel: Callable[..., Any], mode: FakeTensorMode, _: OpOverload, /, *args: Any, **kwargs: Any) -> Any:
    """Runs a kernel with fake tensors. The parameters after the first are those of a rule of FakeTensorMode."""
    with mode:
        return kernel(*args, **kwargs)
