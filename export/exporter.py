"""Exports a model file to a program (.pte) and records samples (.ptd)."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from diagnostics.errors import Finding
from export.emulator import eager
from export.emulator.eager import EagerValues
from export.graph_passes import passes
from export.lower import lowering, patched, program
from export.lower.program import Options, Program
from export.patches import compiled_parts, patch
from export.process import phases
from export.user import equal_elements, model_file, samples


@dataclass(frozen=True, kw_only=True)
class Exported(Program):
    """The outputs of an export.

    Attributes:
        ptd: the samples, as the bytes of a .ptd file.
        patches: warnings about patches of ExecuTorch and PyTorch.
        orders: warnings about orders of equal elements.
    """

    ptd: bytes
    patches: Sequence[Finding]
    orders: Sequence[Finding]

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """What did not end the export, such as failures of passes, unknown insides and narrowed sizes."""
        failures = (failure for of in self.graph_passes.values() for one in of for failure in one.failures)
        of_checks = (warning for one in self.checked.values() for warning in one.warnings)
        return (*self.patches, *self.orders, *self.narrowed, *failures, *of_checks)


def export(
    model: Path,
    entry_point: str = "get_model",
    import_paths: Sequence[Path] = (),
    *,
    backends: Sequence[str] = (),
    quantize: str = "",
    graph_passes: Sequence[str] = (),
    strict_passes: bool = False,
    alloc_graph_input: bool = True,
    external_weights: bool = False,
    with_check: bool = True,
    with_etrecord: bool = False,
    with_eager_values: bool = False,
) -> Exported:
    """Exports a model file.

    Args:
        model: the Python file.
        entry_point: the name of the function in it that returns the model.
        import_paths: folders of the user's own modules, for error messages. The caller has put them on sys.path.
        backends: names of recipes, in the order in which the partitioners run.
        quantize: the name of the recipe that quantizes the model first; empty for none.
        graph_passes: names of the passes that prepare the graphs for kernels, and of groups of passes.
        strict_passes: whether an exception in a graph pass ends the export. If not, the call that the pass was
            rewriting stays unchanged, and `warnings` of the result has the failure.
        alloc_graph_input: whether memory is planned for inputs, into which the runtime copies them.
        external_weights: whether the constants become a file of their own.
        with_check: whether to run the program on the samples before it is returned.
        with_etrecord: whether to make an ETRecord, too.
        with_eager_values: whether to find PyTorch's values of the nodes behind the instructions, too.
    Raises:
        InputError: the model file is invalid, PyTorch, ExecuTorch or a backend refused the model, or the program is
            wrong.
    """
    selected = passes.select(graph_passes)
    torch.set_num_threads(1)  # With one thread, a reduction has the same result on every machine.
    with phases.phase("model"):
        loaded = model_file.load(model, entry_point, import_paths, rule="executorch_program")
        lowerings = lowering.read(loaded, backends, quantize)
        config = lowering.edge_compile_config(loaded)
        planning_pass = lowering.memory_planning_pass(loaded, alloc_graph_input=alloc_graph_input)
    # Samples are recorded before the export, which may change the module.
    with phases.phase("samples"), compiled_parts.eager():
        with equal_elements.kept() as stacks:
            recorded = samples.record_all(loaded.methods)
        orders = equal_elements.find(loaded.methods, recorded, stacks)
    with (
        patch.noted() as unknown,
        compiled_parts.eager(),
        torch.no_grad(),  # PyTorch refuses to record the gradients of copies of complex parameters.
        patched.lowering(),
        equal_elements.kept(),
        eager.followed() if with_eager_values else contextlib.nullcontext(),
    ):
        options = Options(
            config=config,
            strict_passes=strict_passes,
            planning_pass=planning_pass,
            external_weights=external_weights,
            with_check=with_check,
            with_etrecord=with_etrecord,
            eager=EagerValues() if with_eager_values else None,
        )
        built = program.build(loaded.methods, recorded, lowerings, selected, options)
    of_program = {
        name: [
            replace(sample.with_written(built.written[name]), error_growth=built.error_growth[name])
            for sample in runs.samples
        ]
        for name, runs in recorded.items()
    }
    with phases.phase("samples"):
        ptd = samples.serialize(of_program)
    return Exported(**vars(built), ptd=ptd, patches=patch.warnings(unknown), orders=orders)
