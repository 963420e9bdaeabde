"""Patch: a trace has no regions with gradients.

**What**: replaces `replace_set_grad_with_hop_pass` of `torch._export.passes.replace_set_grad_with_hop_pass`. The
function moves the calls in `with torch.enable_grad():` to a graph of their own.

**Why**: no program computes gradients, so that the region has no meaning. ExecuTorch's lowering fails for writes to
buffers in such a graph.

**Effect**: without the patch, the export of such models fails with `IndexError: list index out of range`.

**Report**, to PyTorch: `run_decompositions` should take writes in the graph of `wrap_with_set_grad_enabled`.
"""

from __future__ import annotations

import contextlib
from typing import Any

import torch
from torch._export.passes import replace_set_grad_with_hop_pass

from export.patches.patch import Patch

PATCH = Patch(
    "gradient_regions",
    known={
        "torch._export.passes.replace_set_grad_with_hop_pass:replace_set_grad_with_hop_pass": {"2.13": "1fcb62a1c650"}
    },
    without="models that write to buffers in `with torch.enable_grad():` cannot be exported",
)


def dissolved() -> contextlib.AbstractContextManager[None]:
    """Leaves the calls of regions in the graph around them, in traces of torch.export during the block."""
    return PATCH.applied(replace_set_grad_with_hop_pass, replace_set_grad_with_hop_pass=_dissolve)


def _dissolve(module: torch.fx.GraphModule, signature: Any) -> tuple[torch.fx.GraphModule, Any]:
    for one in module.modules():
        if isinstance(one, torch.fx.GraphModule):
            for node in one.graph.find_nodes(op="call_function", target=torch._C._set_grad_enabled):
                one.graph.erase_node(node)
            one.recompile()
    return module, signature
