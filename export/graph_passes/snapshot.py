"""Snapshots of a method's graph, with the signature and the constants."""

from __future__ import annotations

import copy
import dataclasses

from torch.export import ExportedProgram
from torch.export.graph_signature import ExportGraphSignature
from torch.fx import GraphModule


class Snapshot:
    """A copy of everything that a graph pass may change in a method. No pass changes the elements of tensors."""

    def __init__(self, program: ExportedProgram) -> None:
        self._program = program
        self._graph = copy.deepcopy(program.graph)
        # Branches and bodies of loops, which ExecuTorch replaces.
        children = program.graph_module.named_children()
        self._bodies = {name: copy.deepcopy(child) for name, child in children if isinstance(child, GraphModule)}
        self._signature = _copy(program.graph_signature)
        self._state_dict = dict(program.state_dict)
        self._constants = dict(program.constants)

    def restore(self) -> None:
        """Restores the method. The restored nodes are new objects with the same names. May be called several times."""
        program = self._program
        program.graph_module.graph = copy.deepcopy(self._graph)
        for name, body in self._bodies.items():
            setattr(program.graph_module, name, copy.deepcopy(body))
        program._graph_signature = _copy(self._signature)
        for now, before in ((program.state_dict, self._state_dict), (program.constants, self._constants)):
            now.clear()
            now.update(before)
        forget_pending_symbols(program)


def forget_pending_symbols(program: ExportedProgram) -> None:
    """Clears pending unbacked symbols, so that PyTorch can lower a graph again, or a copy of a lowered graph.

    A lowering leaves pending symbols of data-dependent sizes in the shape environment, which all copies share. The next
    operator with data-dependent sizes would raise PendingUnbackedSymbolNotFound.
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
