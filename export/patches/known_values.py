"""Patch: a trace knows the values of small buffers and of small tensors in attributes.

**What**: wraps `_fakify_params_buffers` of `torch.export._trace`, which makes the fake tensors of a module's parameters
and buffers, and `validate_and_convert_non_fake_tensors` of `FakeTensorMode`, which makes those of other tensors. Raises
the limit of `torch._subclasses.fake_tensor` for the size of known tensors.

**Why**: Python's `if self.is_initialized:` and `for t in self.times:` need the values of tensors. The values are known
at the export if no run of the program writes to the tensors. PyTorch follows the values of small tensors that forward()
makes, such as `torch.tensor(1)`, but not those of other tensors.

**Effect**: without the patch, such models are refused, as data-dependent.

**Report**, to PyTorch: torch.export should know the values of tensors that the graph does not change.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator
from typing import Any

import torch
from torch._subclasses import fake_tensor
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.export import _trace

from export.patches.patch import Patch

PATCH = Patch(
    "known_values",
    known={
        "torch._export.utils:_fakify_params_buffers": {"2.13": "7716faa976b6"},
        "torch._subclasses.fake_tensor:FakeTensorMode.validate_and_convert_non_fake_tensors": {"2.13": "9d786e327823"},
        "torch._subclasses.fake_tensor:FakeTensorMode.may_turn_const": {"2.13": "a8a3e99ce6d0"},
    },
    without="models whose Python code depends on values of tensors cannot be exported",
)
# The elements of the largest tensor whose values a trace knows.
_MOST_ELEMENTS = 4096


def noted() -> contextlib.AbstractContextManager[None]:
    """Notes the patch if its sources are unknown. An export that needs the patch would fail before the note."""
    PATCH.is_applied()
    return contextlib.nullcontext()


@contextlib.contextmanager
def known(*, but: Collection[str]) -> Iterator[set[str]]:
    """Makes traces of torch.export know the values of small tensors during the block.

    Args:
        but: the names of the buffers whose values remain unknown.
    Yields:
        The names of the buffers with known values, which traces add to.
    """
    names: set[str] = set()

    def make_known(make: Callable[..., Any], mode: FakeTensorMode, module: torch.nn.Module) -> dict[str, Any]:
        tensors: dict[str, Any] = make(mode, module)
        for name, buffer in module.named_buffers(remove_duplicate=False):
            if name not in but and _know(mode, tensors.get(name), buffer):
                names.add(name)
        return tensors

    def convert_known(  # noqa: PLR0917  # The parameters of PyTorch's function.
        convert: Callable[..., Any], mode: FakeTensorMode, func: Any, converter: Any, given: Any, spec: Any
    ) -> Any:
        converted, fakes = convert(mode, func, converter, given, spec)
        for before, after in zip(given, converted, strict=True):
            if type(before) is torch.Tensor and before is not after:
                _know(mode, after, before)
        return converted, fakes

    with (
        PATCH.wrapped(_trace, "_fakify_params_buffers", make_known),
        PATCH.wrapped(FakeTensorMode, "validate_and_convert_non_fake_tensors", convert_known),
        PATCH.applied(fake_tensor, CONSTANT_NUMEL_LIMIT=_MOST_ELEMENTS),
    ):
        yield names


def _know(mode: FakeTensorMode, fake: Any, tensor: torch.Tensor) -> bool:
    """Gives a fake tensor the values of a tensor, if there are few. Returns whether the values are known."""
    if not isinstance(fake, FakeTensor) or tensor.numel() > _MOST_ELEMENTS:
        return False
    if fake.constant is None:
        fake.constant = tensor.detach().clone()
        mode.fake_tensor_converter.add_constant_storage_mapping(fake)
    return True
