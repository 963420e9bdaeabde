"""A model of which a part is delegated to a backend of a user."""

import torch
from executorch.exir.backend.backend_details import BackendDetails, PreprocessResult
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.partitioner import DelegationSpec, Partitioner, PartitionResult
from executorch.exir.dialects._ops import ops


class Model(torch.nn.Module):
    """float32 [2, 3] -> float32 [2, 3]."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x) + x


class ReluBackend(BackendDetails):  # type: ignore[misc]
    """The ahead-of-time part of own_backend.cpp. It needs no data of the delegated part."""

    @staticmethod
    def preprocess(edge_program: torch.export.ExportedProgram, compile_specs: list[CompileSpec]) -> PreprocessResult:
        return PreprocessResult(b"")


class ReluPartitioner(Partitioner):  # type: ignore[misc]
    """Delegates all aten::relu."""

    def partition(self, exported_program: torch.export.ExportedProgram) -> PartitionResult:
        tags = {}
        for node in exported_program.graph.nodes:
            if node.target == ops.edge.aten.relu.default:
                node.meta["delegation_tag"] = node.name
                tags[node.name] = DelegationSpec(ReluBackend.__name__, [])
        return PartitionResult(exported_program, tags)


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    return Model(), (torch.randn(2, 3),)


def get_partitioners() -> list[Partitioner]:
    return [ReluPartitioner()]
