"""A stand-in for the manager of ExecuTorch's Qualcomm backend, which needs an SDK. Accepts nodes as a package would."""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from unittest import mock

from executorch.backends.qualcomm.utils import qnn_manager_lifecycle

# The package of the backend's own ops.
_NATIVE = "qti.aisw"


class _Status(enum.Enum):
    SUCCESS = 0


@dataclass(frozen=True)
class Node:
    """A node for which the backend was queried, with the names of the parameters."""

    package: str
    op_type: str
    inputs: int
    outputs: int
    params: tuple[str, ...]


class StandInManager:
    """Supports the nodes that its op package accepts, and all nodes of the backend's own package."""

    def __init__(self, supported: Mapping[str, bool]) -> None:
        """
        Args:
            supported: for each op type of a package, whether the validation succeeds.
        """
        self.asked: list[Node] = []
        self.compiled: list[Node] = []
        self._supported = supported

    def IsNodeSupportedByBackend(self, op_wrappers: list[Any]) -> bool:  # noqa: N802
        nodes = [_node(wrapper) for wrapper in op_wrappers]
        self.asked += nodes
        return all(node.package == _NATIVE or self._supported.get(node.op_type, False) for node in nodes)

    def Compile(self, graph_names: list[str], graphs: list[list[Any]]) -> bytes:  # noqa: N802
        del graph_names
        self.compiled += [_node(wrapper) for graph in graphs for wrapper in graph]
        return b"no context binary: made by a stand-in"

    def InitBackend(self) -> _Status:  # noqa: N802
        return _Status.SUCCESS

    def InitContext(self, graph_names: list[str]) -> _Status:  # noqa: N802
        self._graph_names = graph_names
        return _Status.SUCCESS

    def GetGraphNames(self) -> list[str]:  # noqa: N802
        return self._graph_names

    def IsTensorDump(self) -> bool:  # noqa: N802
        return False

    def DestroyContext(self) -> None:  # noqa: N802
        pass

    def Destroy(self) -> None:  # noqa: N802
        pass


def _node(wrapper: Any) -> Node:
    config = wrapper.GetOpConfig()
    return Node(
        config["packageName"],
        config["typeName"],
        config["numOfInputs"],
        config["numOfOutputs"],
        tuple(param.name for param in config["params"]),
    )


@contextlib.contextmanager
def installed(manager: StandInManager) -> Iterator[StandInManager]:
    """Makes ExecuTorch's backend use the manager during the block."""
    with mock.patch.object(qnn_manager_lifecycle.PyQnnManager, "QnnManager", lambda option: manager):
        yield manager
