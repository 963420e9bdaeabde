"""The sizes of the weights and programs of examples/models."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path

import torch
from torch.export import ExportedProgram

_ALL_PASSES = "_all_passes"


def of_weights(model: torch.nn.Module | ExportedProgram) -> int:
    """Returns the bytes of a model's parameters and buffers. Tied weights count once."""
    if isinstance(model, ExportedProgram):
        tensors = [*model.state_dict.values(), *model.constants.values()]
    else:
        tensors = [*model.parameters(), *model.buffers()]
    storages = [tensor.untyped_storage() for tensor in tensors]
    return sum({storage.data_ptr(): storage.nbytes() for storage in storages}.values())


def of_programs(programs: Sequence[Path]) -> dict[str, dict[str, int]]:
    """Returns the bytes of each model's weights and programs, by the model's name."""
    sizes: dict[str, dict[str, int]] = {}
    for program in programs:
        name = program.stem.removesuffix(_ALL_PASSES)
        kind = "all_passes" if program.stem.endswith(_ALL_PASSES) else "default"
        sizes.setdefault(name, {})[kind] = program.stat().st_size
    for name, of_model in sizes.items():
        model = importlib.import_module(f"examples.models.{name}").get_model()
        of_model["weights"] = of_weights(model[0] if isinstance(model, tuple) else model)
    return sizes
