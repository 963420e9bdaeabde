"""Errors of operators without a fake kernel. A fake kernel gives the shapes of results without computing elements."""

from __future__ import annotations

import re

from torch._subclasses.fake_tensor import UnsupportedOperatorException

from diagnostics.errors import Finding, Location
from export.user.messages import causes, text_of

_NAMED = (
    re.compile(r"no fake impl registered for <CustomOpDef\(([\w:.]+)\)>"),
    re.compile(r"unsupported operator: ([\w.]+)"),
)


def operator_without_fake_kernel(error: BaseException) -> str | None:
    """Returns the operator, such as `my_ops::mul3`, whose missing fake kernel raised an exception; None otherwise."""
    for one in causes(error, with_contexts=True):
        if isinstance(one, UnsupportedOperatorException):
            return str(one.func.name())
        for pattern in _NAMED:
            if match := pattern.search(text_of(one)):
                namespace, _, name = match[1].replace("::", ".").partition(".")
                return f"{namespace}::{name.removesuffix('.default')}"
    return None


def finding(where: Location | str, what: str, operator: str, details: tuple[str, ...]) -> Finding:
    """Returns the finding for an operator without a fake kernel.

    Args:
        where: the place of the call.
        what: the step that needs the kernel, e.g. `torch.export of forward()`.
        operator: the operator's name.
        details: more lines to show.
    """
    namespace, _, name = operator.partition("::")
    fix = (
        f'register one in Python, @torch.library.register_fake("{operator}") on a function that takes the operator\'s'
        " arguments and returns an empty result, e.g. torch.empty_like(x); or one in C++,"
        f' TORCH_LIBRARY_IMPL({namespace}, Meta, m) {{ m.impl("{name}", ...); }}.'
    )
    if namespace == "aten":
        fix = (
            "call other functions of PyTorch, which has no such kernel for this one of its own. In place of nested"
            " tensors, take padded tensors and a mask."
        )
    return Finding(
        where,
        f"{what} needs a fake kernel of {operator}, which has none",
        "torch.compile and torch.export run an operator on tensors without data to know the shapes of its results, and"
        " only kernels for real data are registered.",
        fix,
        details,
        id="no-fake-kernel",
    )
