"""Turns eager methods into an ExecuTorch program."""

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
        pte: the bytes of the file.
        written: for each method, the positions of the inputs that it writes to, whose new values the program gives
            before its outputs proper.
        delegations: for each method, what of it went to which backend.
        graph_passes: for each method, what the graph passes did to it.
        origins: where its instructions come from, as JSON.
        etrecord: its ETRecord, if that is asked for.
    """

    pte: bytes
    written: Mapping[str, Sequence[int]]
    delegations: Mapping[str, Delegation]
    graph_passes: Mapping[str, Sequence[PassReport]]
    origins: bytes
    etrecord: bytes | None


@dataclass(frozen=True)
class _Emitted:
    """A program as ExecuTorch gives it; the other attributes are those of `Program`."""

    executorch: ExecutorchProgramManager
    written: Mapping[str, Sequence[int]]
    delegations: Mapping[str, Delegation]
    graph_passes: Mapping[str, Sequence[PassReport]]
    origins: bytes


@dataclass(frozen=True)
class _Lowered:
    """Methods in the edge dialect.

    Attributes:
        graph_passes: which ones ran before, and which ones have operators kept whole.
        reports: for each method, what these did to it.
        edge: the methods as ExecuTorch has them.
        programs: their graphs.
        snapshots: the graphs as they are before other passes.
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
        methods: what to export.
        recorded: the eager results of each, which the exported method must agree with in number and nesting.
        lowerings: how each is lowered.
        config: how they turn into the edge dialect.
        graph_passes: what prepares the graphs for kernels.
        strict_passes: whether a graph pass that raises ends the export.
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
    """Makes a program with some of the graph passes, each time of the methods as they are before all passes.

    Args:
        methods: what to export.
        exported: their graphs, which change with each attempt.
        lowerings: how each is lowered.
        to_edge: lowers the graphs, with some operators kept whole.
        strict: whether a pass that raises ends the export.

    Attributes:
        latest: what a pass did to a method in the latest attempt that had the pass, by the names of both.
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
        """A program with these passes."""
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
        """The methods in the edge dialect; those of the attempt before, if they had the same passes until then."""
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
        """The graphs for further attempts; none where the first one is the last."""
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
    """Has the work of partitioners and backends be a phase of its own."""
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
            from export.quantization import quantize  # Registers operators that other programs have no need of.

            exported = quantize(method, exported, samples, lowering.quantization)
    dense_tensors.lay_out(exported)
    for index, aten_pass in enumerate(lowering.aten_passes):
        exported = method.source.call(aten_pass, exported)
        if not isinstance(exported, ExportedProgram):
            at, what = method.source.location(aten_pass), f"what pass {index} of get_aten_passes() returns"
            raise method.source.nonsense(at, what, exported, "a torch.export.ExportedProgram")
    return exported


def _keep_initial_state(exported: ExportedProgram) -> None:
    """Marks the mutable buffers whose initial values the program must hold.

    ExecuTorch by default keeps no values for a buffer that a method writes to. Buffers of zeros, as caches mostly are,
    stay so: the runtime's memory starts out as zeros, and a large cache need not be in the file.
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
    """Has a program's inputs and outputs nest in tuples, lists and dicts only.

    The runtime takes and gives flat lists. The program keeps how they were nested as a text, in which classes need
    names: those that PyTorch itself registers, such as the results of max(), have none, nor have most NamedTuples.
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
    """The positions of the inputs that a method writes to, in the order in which ExecuTorch puts them out."""
    signature = exported.graph_signature
    inputs = [spec.arg.name for spec in signature.input_specs if spec.kind == InputKind.USER_INPUT]
    outputs = [spec.target for spec in signature.output_specs if spec.kind == OutputKind.USER_INPUT_MUTATION]
    return [inputs.index(name) for name in outputs]
