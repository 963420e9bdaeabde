"""Rewrites the calls of all operators in calls.py to the normal form of arguments, which passes rely on."""

from __future__ import annotations

from torch.export import ExportedProgram

from export.graph_passes import calls, graphs


def normalize(program: ExportedProgram) -> None:
    """Writes the arguments of each call in the normal form of call.py."""
    for node in program.graph.nodes:
        called = graphs.operator_of(node)
        view = calls.VIEWS.get(called.name()) if called is not None else None
        call = view.of(node) if view is not None else None
        if call is not None:
            call.write(node)
