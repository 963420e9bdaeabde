"""Patch: a function learns which node replaces which in a graph.

**What**: wraps `Node.replace_all_uses_with` of torch.fx, and calls a function with the two nodes.

**Why**: the comparison of a program with eager PyTorch, node by node, needs the node of the graph of torch.export whose
value a node has. PyTorch's records of source nodes (`from_node`) name the nodes from which a pass made a node, and not
the node that the pass replaced.

**Effect**: without the patch, most instructions that graph passes have made are not compared.

**Report**, to PyTorch: `GraphModule._set_replace_hook` tells of replacements in one graph only, and not those of a pass
that makes a new graph module.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from torch.fx import Node

from export.patches.patch import Patch

PATCH = Patch(
    "followed_replacements",
    known={"torch.fx.node:Node.replace_all_uses_with": {"2.13": "9d3c4bdc779d"}},
    without="most instructions that graph passes have made are not compared with eager PyTorch",
)


def told(follow: Callable[[Node, Node], None]) -> contextlib.AbstractContextManager[None]:
    """Calls a function with each replaced node and the node in its place during the block."""

    def replace_all(original: Callable[..., Any], node: Node, replace_with: Node, *args: Any, **kwargs: Any) -> Any:
        replaced = original(node, replace_with, *args, **kwargs)
        follow(node, replace_with)
        return replaced

    return PATCH.wrapped(Node, "replace_all_uses_with", replace_all)
