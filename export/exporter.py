"""From a model file to a program with samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from diagnostics.errors import Finding
from export import lowering, model_file, phases, program, repeated_work, samples
from export.delegation import Delegation
from export.graph_passes import passes
from export.graph_passes.report import PassReport


@dataclass(frozen=True)
class Exported:
    """What comes out of a model file.

    Attributes:
        pte: the program, the bytes of a .pte file.
        ptd: its samples, those of a .ptd file.
        delegations: for each method, what of it went to which backend.
        graph_passes: for each method, what the graph passes did to it.
        origins: where its instructions come from, as JSON.
        etrecord: what ExecuTorch's Inspector knows of the program, if that is asked for.
    """

    pte: bytes
    ptd: bytes
    delegations: Mapping[str, Delegation]
    graph_passes: Mapping[str, Sequence[PassReport]]
    origins: bytes
    etrecord: bytes | None

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """What the export went on with."""
        return tuple(failure for of in self.graph_passes.values() for one in of for failure in one.failures)


def export(
    model: Path,
    entry_point: str = "get_model",
    import_paths: Sequence[Path] = (),
    *,
    backends: Sequence[str] = (),
    quantize: str = "",
    graph_passes: Sequence[str] = (),
    strict_passes: bool = False,
    with_etrecord: bool = False,
) -> Exported:
    """Exports a model file.

    Args:
        model: the Python file.
        entry_point: the name of the function in it that returns the model.
        import_paths: folders of the user's own modules, for errors; they must be on sys.path already.
        backends: names of recipes, in the order in which the backends take from the graph.
        quantize: the name of the recipe that quantizes the model first; empty for none.
        graph_passes: names of the passes that prepare the graphs for kernels, and of groups of passes.
        strict_passes: whether a graph pass that raises ends the export. If not, the call that the pass had come to
            stays as it was, and `warnings` of the result says so.
        with_etrecord: whether to make an ETRecord, too.
    Raises:
        InputError: the model file is not as it should be, or PyTorch, ExecuTorch or a backend refused the model.
    """
    selected = passes.select(graph_passes)
    torch.set_num_threads(1)  # The sums of a reduction come out the same on every machine then.
    with phases.phase("model"):
        loaded = model_file.load(model, entry_point, import_paths, rule="executorch_program")
        lowerings = lowering.read(loaded, backends, quantize)
        config = lowering.edge_compile_config(loaded)
    # Samples are recorded before the export, which may change the module.
    with phases.phase("samples"):
        recorded = {method.name: samples.record(method) for method in loaded.methods}
    with repeated_work.shared_sources():
        built = program.build(
            loaded.methods,
            recorded,
            lowerings,
            config,
            selected,
            strict_passes=strict_passes,
            with_etrecord=with_etrecord,
        )
    of_program = {
        name: [sample.with_written(built.written[name]) for sample in runs] for name, runs in recorded.items()
    }
    with phases.phase("samples"):
        ptd = samples.serialize(of_program)
    return Exported(
        built.pte,
        ptd,
        built.delegations,
        built.graph_passes,
        built.origins,
        built.etrecord,
    )
