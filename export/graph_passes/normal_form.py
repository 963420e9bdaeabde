"""Gives every call that calls.py has a class for its arguments in normal form, which passes rely on."""

from __future__ import annotations

from torch.export import ExportedProgram

from export.graph_passes import calls, graphs


def normalize(program: ExportedProgram) -> None:
    """Has calls name their arguments as their views do: see call.py."""
    for node in program.graph.nodes:
        called = graphs.operator_of(node)
        view = calls.VIEWS.get(called.name()) if called is not None else None
        call = view.of(node) if view is not None else None
        if call is not None:
            call.write(node)
