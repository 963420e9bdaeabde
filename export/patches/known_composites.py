"""Patch: PyTorch collects the decomposable operators only once in a lowering.

**What**: caches the results of `torch._export.utils._collect_all_valid_cia_ops_for_namespace` and
`_materialize_cpp_cia_ops`.

**Why**: the second function runs for each namespace, and looks for the operators of all namespaces. Both run again for
each decomposition.

**Effect**: without the patch, an export of MobileNetV2 looks for the operators of all namespaces 80 times, which
takes 0.2 s of CPU time.

**Report**, to PyTorch: `_collect_all_valid_cia_ops` should call `_materialize_cpp_cia_ops` once, not for each
namespace.
"""

from __future__ import annotations

import contextlib
import functools

import torch._export.utils

from export.patches.patch import Patch

PATCH = Patch(
    "known_composites",
    known={
        "torch._export.utils:_collect_all_valid_cia_ops": {"2.13": "fb488bf08cd9"},
        "torch._export.utils:_collect_all_valid_cia_ops_for_namespace": {"2.13": "5b2d7b20d0c6"},
        "torch._export.utils:_materialize_cpp_cia_ops": {"2.13": "90ef6e50c347"},
    },
    without="the export is slower",
)


def collected_once() -> contextlib.AbstractContextManager[None]:
    """Collects the operators once during the block, in which no operator is registered."""
    if not PATCH.is_applied():
        return contextlib.nullcontext()
    functions = ("_collect_all_valid_cia_ops_for_namespace", "_materialize_cpp_cia_ops")
    caches = {name: functools.cache(getattr(torch._export.utils, name)) for name in functions}
    return PATCH.applied(torch._export.utils, **caches)
