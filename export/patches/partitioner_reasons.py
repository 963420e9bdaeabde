"""Patch: the reasons why partitioners leave nodes are stored in the nodes.

**What**: replaces `WhyNoPartition.__call__` and `WhyNoPartitionReporter.report_reject` of
`executorch.exir.backend.utils`.

**Why**: partitioners only log the reasons, as text. The delegation report has the reason of each operator that no
backend takes.

**Effect**: without the patch, the report has no reasons of partitioners.

**Report**, to ExecuTorch: a partitioner's result should have the reasons by node, as `WhyNoPartitionReporter` has them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch
from executorch.exir.backend import utils

from export.patches.patch import Patch

PATCH = Patch(
    "partitioner_reasons",
    known={
        "executorch.exir.backend.utils:WhyNoPartition": {"1.4.1": "5778a98b00c5", "1.5.1": "5778a98b00c5"},
        "executorch.exir.backend.utils:WhyNoPartitionReporter.report_reject": {
            "1.4.1": "5bf3b550196e",
            "1.5.1": "5bf3b550196e",
        },
    },
    without="the delegation report lacks the reasons of partitioners",
)

# The key of a node's meta for the reason that a partitioner gave for the node.
REASON = "rules_executorch_why_not_delegated"


@contextlib.contextmanager
def stored() -> Iterator[None]:
    """Stores the reasons of partitioners that run during the block, in the nodes' `meta[REASON]`."""
    if not PATCH.is_applied():
        yield
        return

    def log(_: object, node: torch.fx.Node, reason: str) -> None:
        node.meta[REASON] = reason

    def report(_: object, node: torch.fx.Node, reason: str) -> None:
        node.meta.setdefault(REASON, reason)

    with (
        PATCH.applied(utils.WhyNoPartition, __call__=log),
        PATCH.applied(utils.WhyNoPartitionReporter, report_reject=report),
    ):
        yield
