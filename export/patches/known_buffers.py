"""Patch: a trace knows the values of small buffers.

**What**: wraps `_fakify_params_buffers` of `torch.export._trace`, which makes the fake tensors of a module's parameters
and buffers, and raises the limit of `torch._subclasses.fake_tensor` for the size of known tensors.

**Why**: Python's `if self.is_initialized:` and `float(self.times[1])` need the values of buffers. The values are known
at the export if no run of the program writes to the buffers. PyTorch follows the values of small tensors, such as
`torch.tensor(1)` in forward(), but not those of buffers.

**Effect**: without the patch, such models are refused, as data-dependent.

**Report**, to PyTorch: torch.export should know the values of buffers that the graph does not change.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Collection, Iterator
from typing import Any

import torch
from torch._subclasses import fake_tensor
from torch._subclasses.fake_tensor import FakeTensor
from torch.export import _trace

from export.patches.patch import Patch

PATCH = Patch(
    "known_buffers",
    known={
        "torch._export.utils:_fakify_params_buffers": {"2.13": "7716faa976b6"},
        "torch._subclasses.fake_tensor:FakeTensorMode.may_turn_const": {"2.13": "a8a3e99ce6d0"},
    },
    without="models whose Python code depends on the values of buffers cannot be exported",
)
# The elements of the largest tensor whose values a trace knows.
_MOST_ELEMENTS = 4096


def noted() -> contextlib.AbstractContextManager[None]:
    """Notes the patch if its sources are unknown. An export that needs the patch would fail before the note."""
    PATCH.is_applied()
    return contextlib.nullcontext()


@contextlib.contextmanager
def known(*, but: Collection[str]) -> Iterator[set[str]]:
    """Makes traces of torch.export know the values of small buffers during the block.

    Args:
        but: the names of the buffers whose values remain unknown.
    Yields:
        The names of the buffers with known values, which traces add to.
    """
    names: set[str] = set()
    original: Any = _trace._fakify_params_buffers  # type: ignore[attr-defined]

    @functools.wraps(original)
    def make(mode: Any, module: torch.nn.Module) -> dict[str, Any]:
        tensors: dict[str, Any] = original(mode, module)
        for name, buffer in module.named_buffers(remove_duplicate=False):
            fake = tensors.get(name)
            if name not in but and isinstance(fake, FakeTensor) and buffer.numel() <= _MOST_ELEMENTS:
                fake.constant = buffer.detach().clone()
                mode.fake_tensor_converter.add_constant_storage_mapping(fake)
                names.add(name)
        return tensors

    with (
        PATCH.applied(_trace, _fakify_params_buffers=make),
        PATCH.applied(fake_tensor, CONSTANT_NUMEL_LIMIT=_MOST_ELEMENTS),
    ):
        yield names
