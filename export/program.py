"""Exports and lowers eager methods into an ExecuTorch program."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from unittest import mock

import torch
from executorch.exir import (
    EdgeCompileConfig,
    EdgeProgramManager,
    ExecutorchProgramManager,
    to_edge_transform_and_lower,
)
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, OutputKind
from torch.utils import _pytree as pytree

from diagnostics.errors import InputError
from export import (
    delegation,
    dense_tensors,
    etrecord,
    lowering_failure,
    mutable_operators,
    origins,
    phases,
    qualcomm,
    repeated_work,
)
from export.delegation import Delegation
from export.graph_passes import passes
from export.graph_passes.graph_pass import GraphPass, Stage
from export.graph_passes.report import PassReport
from export.graph_passes.snapshot import Snapshot
from export.lowering import Lowering
from export.model_file import Method
from export.samples import Sample
from export.tracing import trace


@dataclass(frozen=True)
class Program:
    """A program.

    Attributes:
        pte: the bytes of the .pte file.
        written: for each method, the positions of the inputs that the method writes to. The program returns their new
            values before the outputs of forward().
        delegations: the delegation report of each method.
        graph_passes: the reports of the graph passes, for each method.
        origins: the lines of Python behind the instructions, as JSON.
        etrecord: the ETRecord; None if not requested.
    """

    pte: bytes
    written: Mapping[str, Sequence[int]]
    delegations: Mapping[str, Delegation]
    graph_passes: Mapping[str, Sequence[PassReport]]
    origins: bytes
    etrecord: bytes | None


@dataclass(frozen=True)
class _Emitted:
    """A program as ExecuTorch returns it. The other attributes are those of `Program`."""

    executorch: ExecutorchProgramManager
    written: Mapping[str, Sequence[int]]
    delegations: Mapping[str, Delegation]
    graph_passes: Mapping[str, Sequence[PassReport]]
    origins: bytes


@dataclass(frozen=True)
class _Lowered:
    """Methods in the edge dialect.

    Attributes:
        graph_passes: the passes that ran before the lowering, and the passes with preserved operators.
        reports: the reports of the passes that ran, for each method.
        edge: the manager of the methods.
        programs: the graphs of the methods.
        snapshots: snapshots of the graphs, before the passes of the next stage.
    """

    graph_passes: Sequence[GraphPass]
    reports: Mapping[str, Sequence[PassReport]]
    edge: EdgeProgramManager
    programs: Mapping[str, ExportedProgram]
    snapshots: Sequence[Snapshot]


def build(
    methods: Sequence[Method],
    recorded: Mapping[str, Sequence[Sample]],
    lowerings: Mapping[str, Lowering],
    config: EdgeCompileConfig,
    graph_passes: Sequence[GraphPass] = (),
    *,
    strict_passes: bool = False,
    with_etrecord: bool = False,
) -> Program:
    """Exports and lowers methods into one program.

    Args:
        methods: the methods to export.
        recorded: the eager results of each method. The exported method must have the same number and nesting of
            outputs.
        lowerings: the lowering of each method.
        config: the config of the edge dialect.
        graph_passes: the graph passes, which prepare the graphs for kernels.
        strict_passes: whether an exception in a graph pass ends the export.
        with_etrecord: whether to make an ETRecord, too.
    Raises:
        InputError: PyTorch, ExecuTorch, a quantizer or a backend refused the model.
    """
    if with_etrecord:
        etrecord.check(methods[0])
    exported = {method.name: _export(method, recorded[method.name], lowerings[method.name]) for method in methods}
    edge_passes = {name: list(lowering.edge_passes) for name, lowering in lowerings.items() if lowering.edge_passes}
    partitioners = {name: list(lowering.partitioners) for name, lowering in lowerings.items()}
    for_qualcomm = qualcomm.compile_specs(lowerings)
    try:
        for name, specs in for_qualcomm.items():
            exported[name], first = qualcomm.prepare(exported[name], specs)
            edge_passes[name] = [*first, *edge_passes.get(name, ())]

        def to_edge(preserved: Sequence[torch._ops.OpOverload]) -> EdgeProgramManager:
            with (
                phases.phase("to_edge"),
                _timed_backends(),
                delegation.reasons(),
                qualcomm.lowering(for_qualcomm) as said,
            ):
                keeping = dataclasses.replace(config, preserve_ops=[*config.preserve_ops, *preserved])
                if not edge_passes and not any(partitioners.values()) and not config._check_ir_validity:
                    return repeated_work.to_edge(exported, keeping, generate_etrecord=with_etrecord)
                edge = to_edge_transform_and_lower(
                    exported,
                    transform_passes=edge_passes or None,
                    partitioner=partitioners,
                    compile_config=keeping,
                    generate_etrecord=with_etrecord,
                )
            qualcomm.check(edge, {method.name: method for method in methods}, for_qualcomm, said)
            return edge

        attempts = _Attempts(methods, exported, lowerings, to_edge, strict=strict_passes)
        emitted, failures = passes.emit(graph_passes, attempts, strict=strict_passes)
        reports = {
            method.name: [
                *emitted.graph_passes[method.name],
                *(
                    passes.blamed(attempts.latest.get((method.name, name), PassReport(name)), method, error)
                    for name, error in failures.items()
                ),
            ]
            for method in methods
        }
        return Program(
            bytes(emitted.executorch.buffer),
            emitted.written,
            emitted.delegations,
            reports,
            emitted.origins,
            etrecord.serialize(emitted.executorch, methods[0]) if with_etrecord else None,
        )
    except InputError:
        raise
    except BaseException as error:
        no_sdk = qualcomm.without_sdk(methods[0], for_qualcomm, error)
        names = [one.name for one in graph_passes]
        raise no_sdk or lowering_failure.of(methods[0], error, names) from error


class _Attempts:
    """Makes a program with some of the graph passes. Each attempt starts from the methods before all passes.

    Args:
        methods: the methods to export.
        exported: the graphs of the methods. Each attempt changes them.
        lowerings: the lowering of each method.
        to_edge: lowers the graphs, with some preserved operators.
        strict: whether an exception in a pass ends the export.

    Attributes:
        latest: the report of a pass on a method in the latest attempt with the pass, by the names of both.
    """

    def __init__(
        self,
        methods: Sequence[Method],
        exported: Mapping[str, ExportedProgram],
        lowerings: Mapping[str, Lowering],
        to_edge: Callable[[Sequence[torch._ops.OpOverload]], EdgeProgramManager],
        *,
        strict: bool,
    ) -> None:
        self._methods = methods
        self._exported = exported
        self._lowerings = lowerings
        self._to_edge = to_edge
        self._strict = strict
        self._snapshots: Sequence[Snapshot] = []
        self._lowered: _Lowered | None = None
        self.latest: dict[tuple[str, str], PassReport] = {}

    def __call__(self, graph_passes: Sequence[GraphPass]) -> _Emitted:
        """Makes a program with these passes."""
        lowered = self._lower([one for one in graph_passes if one.stage is Stage.EXPORTED or one.preserved])
        of_passes = self._run(Stage.LOWERED, lowered.programs, graph_passes)
        for program in lowered.programs.values():
            _keep_initial_state(program)
            _forget_classes(program)
        written = {name: _written_inputs(program) for name, program in lowered.programs.items()}
        delegations = {
            method.name: delegation.of_graph(
                method,
                lowered.programs[method.name].graph_module,
                is_partitioned=bool(self._lowerings[method.name].partitioners),
            )
            for method in self._methods
        }
        reports = {name: [*lowered.reports[name], *of_passes[name]] for name in of_passes}
        with phases.phase("to_executorch"), origins.recorded() as instructions:
            executorch = lowered.edge.to_executorch()
        return _Emitted(executorch, written, delegations, reports, origins.as_json(instructions))

    def _lower(self, graph_passes: Sequence[GraphPass]) -> _Lowered:
        """Lowers the methods to the edge dialect. With the same passes, reuses the lowering of the last attempt."""
        if self._lowered is not None and self._lowered.graph_passes == graph_passes:
            _restore(self._lowered.snapshots)
            return self._lowered
        _restore(self._snapshots)
        self._snapshots = self._snapshots or self._saved(self._exported)
        reports = self._run(Stage.EXPORTED, self._exported, graph_passes)
        edge = self._to_edge([operator for one in graph_passes for operator in one.preserved])
        programs = {method.name: edge.exported_program(method.name) for method in self._methods}
        self._lowered = _Lowered(graph_passes, reports, edge, programs, self._saved(programs))
        return self._lowered

    def _saved(self, programs: Mapping[str, ExportedProgram]) -> list[Snapshot]:
        """Returns snapshots of the graphs for further attempts; none if `strict`, which allows one attempt only."""
        return [] if self._strict else [Snapshot(program) for program in programs.values()]

    def _run(
        self, stage: Stage, programs: Mapping[str, ExportedProgram], graph_passes: Sequence[GraphPass]
    ) -> dict[str, Sequence[PassReport]]:
        reports: dict[str, Sequence[PassReport]] = {
            method.name: passes.run(
                graph_passes,
                stage,
                method,
                programs[method.name],
                is_partitioned=bool(self._lowerings[method.name].partitioners),
                strict=self._strict,
            )
            for method in self._methods
        }
        self.latest |= {(name, one.name): one for name, of_method in reports.items() for one in of_method}
        return reports


@contextlib.contextmanager
def _timed_backends() -> Iterator[None]:
    """Records the work of partitioners and backends as a phase."""
    to_backend = EdgeProgramManager.to_backend

    def timed(manager: EdgeProgramManager, *args: Any) -> EdgeProgramManager:
        with phases.phase("backends"):
            return to_backend(manager, *args)

    with mock.patch.object(EdgeProgramManager, "to_backend", timed):
        yield


def _restore(snapshots: Sequence[Snapshot]) -> None:
    for snapshot in snapshots:
        snapshot.restore()


def _export(method: Method, samples: Sequence[Sample], lowering: Lowering) -> ExportedProgram:
    with phases.phase("torch.export"):
        exported = trace(method, samples)
    mutable_operators.check(method, exported)
    if lowering.quantization is not None:
        with phases.phase("quantization"):
            from export.quantization import quantize  # The import registers operators for quantized programs only.

            exported = quantize(method, exported, samples, lowering.quantization)
    dense_tensors.lay_out(exported)
    for index, aten_pass in enumerate(lowering.aten_passes):
        exported = method.source.call(aten_pass, exported)
        if not isinstance(exported, ExportedProgram):
            at, what = method.source.location(aten_pass), f"the result of pass {index} of get_aten_passes()"
            raise method.source.nonsense(at, what, exported, "a torch.export.ExportedProgram")
    return exported


def _keep_initial_state(exported: ExportedProgram) -> None:
    """Marks the mutable buffers whose initial values the program must store.

    By default, ExecuTorch stores no values of a buffer that a method writes to. For buffers of zeros, such as most
    caches, this stays so: the runtime's memory starts with zeros, and the file need not contain a large cache.
    """
    signature = exported.graph_signature
    mutated = set(signature.buffers_to_mutate.values())
    for node in exported.graph.nodes:
        if node.op == "placeholder" and signature.inputs_to_buffers.get(node.target) in mutated:
            name = signature.inputs_to_buffers[node.target]
            initial: Any = exported.state_dict.get(name, exported.constants.get(name))
            if initial is not None and torch.count_nonzero(initial):
                node.meta["et_init_buffer"] = True


def _forget_classes(exported: ExportedProgram) -> None:
    """Makes a program's inputs and outputs nest in tuples, lists and dicts only.

    The runtime takes and gives flat lists. The program stores the nesting as text, in which each class needs a
    registered name. The classes that PyTorch itself registers, such as the results of max(), and most NamedTuples have
    no name.
    """

    def plain(spec: pytree.TreeSpec) -> pytree.TreeSpec:
        if spec.is_leaf():
            return spec
        children = [plain(child) for child in spec.children()]
        if spec.type in (list, dict):
            return pytree.TreeSpec(spec.type, spec.context, children)
        return pytree.treespec_tuple(children)

    signature = exported.module_call_graph[0].signature
    if signature is not None:
        signature.in_spec, signature.out_spec = plain(signature.in_spec), plain(signature.out_spec)


def _written_inputs(exported: ExportedProgram) -> list[int]:
    """Returns the positions of the inputs that a method writes to, in the order in which ExecuTorch returns them."""
    signature = exported.graph_signature
    inputs = [spec.arg.name for spec in signature.input_specs if spec.kind == InputKind.USER_INPUT]
    outputs = [spec.target for spec in signature.output_specs if spec.kind == OutputKind.USER_INPUT_MUTATION]
    return [inputs.index(name) for name in outputs]
