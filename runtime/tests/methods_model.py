"""A program with two methods. The results of `decode` differ from PyTorch's."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.export import ExportedProgram


class Add(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + 1


def get_model() -> dict[str, tuple[torch.nn.Module, tuple[torch.Tensor]]]:
    return {name: (Add(), (torch.ones(2),)) for name in ("forward", "decode")}


def get_sample_inputs() -> dict[str, list[tuple[torch.Tensor]]]:
    return {"decode": [(torch.zeros(2),), (torch.ones(2),)]}


def _multiply(program: ExportedProgram) -> ExportedProgram:
    for node in program.graph.find_nodes(op="call_function", target=torch.ops.aten.add.Tensor):
        node.target = torch.ops.aten.mul.Tensor
    return program


def get_aten_passes() -> dict[str, list[Callable[[ExportedProgram], ExportedProgram]]]:
    return {"decode": [_multiply]}
