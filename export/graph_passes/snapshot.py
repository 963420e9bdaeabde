"""A method's graph as it was at some time, with all that belongs to the graph."""

from __future__ import annotations

import copy
import dataclasses

from torch.export import ExportedProgram
from torch.export.graph_signature import ExportGraphSignature


class Snapshot:
    """What a graph pass may change of a method, but for the elements of tensors, which no pass changes."""

    def __init__(self, program: ExportedProgram) -> None:
        self._program = program
        self._graph = copy.deepcopy(program.graph)
        self._signature = _copy(program.graph_signature)
        self._state_dict = dict(program.state_dict)
        self._constants = dict(program.constants)

    def restore(self) -> None:
        """Gives the method back what it had, as often as needed. Its nodes are others then, of the same names."""
        program = self._program
        program.graph_module.graph = copy.deepcopy(self._graph)
        program._graph_signature = _copy(self._signature)
        for now, before in ((program.state_dict, self._state_dict), (program.constants, self._constants)):
            now.clear()
            now.update(before)
        forget_pending_symbols(program)


def forget_pending_symbols(program: ExportedProgram) -> None:
    """Has PyTorch lower a graph again, or a copy of one that was lowered.

    A lowering leaves symbols of sizes that depend on data behind, in what all copies share, and PyTorch takes these for
    a fault of the next operator that gives such sizes (PendingUnbackedSymbolNotFound).
    """
    for value in (node.meta.get("val") for node in program.graph.nodes):
        mode = getattr(value, "fake_mode", None)
        if mode is not None and mode.shape_env is not None:
            mode.shape_env.pending_fresh_unbacked_symbols.clear()


def _copy(signature: ExportGraphSignature) -> ExportGraphSignature:
    return ExportGraphSignature(
        [dataclasses.replace(spec, arg=copy.copy(spec.arg)) for spec in signature.input_specs],
        [dataclasses.replace(spec, arg=copy.copy(spec.arg)) for spec in signature.output_specs],
    )
