"""Patch: an assignment to a buffer of any module becomes a copy into the buffer.

**What**: replaces `register_buffer_assignment_hook` of `torch.export._trace`, which notes assignments to buffers.
`torch.export` then appends the copies to the graph.

**Why**: PyTorch notes assignments to the buffers of the outermost module only, and the graph loses `self.state = y` in
all others. The copies of PyTorch run one after another: a swap of two buffers gives both the same value. A buffer that
follows one without a value (`register_buffer(name, None)`) gets the copy of another one. An assignment of an input or
of another buffer fails.

**Effect**: without the patch, such programs do not keep their state, and their check fails.

**Report**, to PyTorch: `register_buffer_assignment_hook` should note assignments to buffers of submodules.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Mapping
from typing import Any

import torch
from torch.export import _trace
from torch.fx import Node
from torch.fx.experimental import proxy_tensor

from export.patches.patch import Patch

PATCH = Patch(
    "buffer_assignments",
    known={
        "torch._functorch._aot_autograd.utils:register_buffer_assignment_hook": {"2.13": "408e483c66a2"},
        "torch.export._trace:_export_to_aten_ir_make_fx": {"2.13": "d28867764410"},
    },
    without="programs lose assignments to buffers of submodules",
)


def copied() -> contextlib.AbstractContextManager[None]:
    """Makes assignments to buffers copies at the end of forward(), in traces of torch.export during the block."""
    return PATCH.applied(_trace, register_buffer_assignment_hook=_Hooks)


class _Hooks:
    """Hooks of the outermost module, which append the copies to the graph of the trace.

    Args:
        root: the outermost module.
        _: the assignments for which PyTorch appends copies; none.
    """

    def __init__(self, root: torch.nn.Module, _: Mapping[str, str]) -> None:
        self._before: list[tuple[torch.nn.Module, str, torch.Tensor]] = []
        self._handles = (
            root.register_forward_pre_hook(self._note, prepend=True),
            root.register_forward_hook(self._copy),
        )

    def remove(self) -> None:
        for handle in self._handles:
            handle.remove()

    def _note(self, root: torch.nn.Module, _: Any) -> None:
        self._before = [
            (module, name, buffer)
            for module in root.modules()
            for name, buffer in module._buffers.items()
            if buffer is not None
        ]

    def _copy(self, *_: Any) -> None:
        changed: list[tuple[torch.Tensor, torch.Tensor]] = []
        for module, name, before in self._before:
            value = getattr(module, name, None)  # An assigned parameter is no buffer.
            if isinstance(value, torch.Tensor) and value is not before:
                changed.append((value, before))
        written = {before.untyped_storage()._cdata for _, before in changed}
        # All clones are before the copies.
        copies = [
            (_node(value.clone() if _is_cloned(value, written) else value), _node(before)) for value, before in changed
        ]
        for node, buffer in copies:
            assert node and buffer
            node.graph.call_function(torch.ops.aten.copy_.default, (buffer, node)).meta = node.meta


def _is_cloned(value: torch.Tensor, written: Collection[int]) -> bool:
    """Returns whether a copy needs a clone of a value.

    The value may have the memory of a buffer that another copy writes to. An input or a constant is not the result of a
    call, whose meta the copy gets.
    """
    node = _node(value)
    return node is None or node.op != "call_function" or value.untyped_storage()._cdata in written


def _node(tensor: torch.Tensor) -> Node | None:
    """Returns the node of a tensor in a trace; None for a constant."""
    mode = proxy_tensor.get_proxy_mode()
    assert mode
    slot: Any = proxy_tensor.get_proxy_slot(tensor, mode.tracer, None)
    return slot.proxy.node if slot else None
