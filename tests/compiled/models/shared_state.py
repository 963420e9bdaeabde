"""Two methods that share a buffer, as the cache of a language model, exported by ExecuTorch's own functions."""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from executorch.exir import EdgeCompileConfig, ExecutorchBackendConfig, to_edge
from executorch.exir.passes import MemoryPlanningPass
from executorch.exir.passes.init_mutable_pass import InitializedMutableBufferPass
from torch import nn

PROMPT, LENGTH, WIDTH = 3, 8, 4


class Cache(nn.Module):
    """Attends to the rows of earlier calls. The cache begins with ones, so that the program has its content."""

    cache: torch.Tensor
    calls: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("cache", torch.ones(LENGTH, WIDTH))
        self.register_buffer("calls", torch.zeros(1, dtype=torch.int64))

    def prefill(self, x: torch.Tensor) -> torch.Tensor:
        self.cache[:PROMPT] = x
        self.calls.add_(1)
        return x.softmax(-1)

    def decode(self, x: torch.Tensor, position: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        self.cache.index_put_((position,), x)
        self.calls.add_(1)
        return (x @ self.cache.T).softmax(-1) @ self.cache, self.calls + 0

    def read(self, x: torch.Tensor) -> torch.Tensor:
        return self.cache.sum() + x


class _Method(nn.Module):
    def __init__(self, cache: Cache, name: str) -> None:
        super().__init__()
        self.cache, self._name = cache, name

    def forward(self, *inputs: torch.Tensor) -> object:
        return getattr(self.cache, self._name)(*inputs)


def _export(path: Path) -> None:
    cache = Cache()
    inputs = {
        "prefill": (torch.zeros(PROMPT, WIDTH),),
        "decode": (torch.zeros(1, WIDTH), torch.zeros(1, dtype=torch.int64)),
        "read": (torch.zeros(1),),
    }
    exported = {name: torch.export.export(_Method(cache, name), each) for name, each in inputs.items()}
    edge = to_edge(exported, compile_config=EdgeCompileConfig(_check_ir_validity=False))
    config = ExecutorchBackendConfig(
        passes=[InitializedMutableBufferPass(["cache_cache"])],
        memory_planning_pass=MemoryPlanningPass(share_mutable_buffers=True),
        emit_mutable_buffer_names=True,
    )
    path.write_bytes(edge.to_executorch(config).buffer)


if __name__ == "__main__":
    _export(Path(sys.argv[1]))
