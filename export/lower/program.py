"""Exports and lowers eager methods into an ExecuTorch program."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from executorch.exir import (
    EdgeCompileConfig,
    EdgeProgramManager,
    ExecutorchBackendConfig,
    ExecutorchProgramManager,
    to_edge_transform_and_lower,
)
from executorch.exir.passes import MemoryPlanningPass
from torch.export import ExportedProgram
from torch.utils import _pytree as pytree

from diagnostics.errors import Finding, InputError
from export.emulator import check
from export.emulator.check import Checked, Subject
from export.emulator.eager import EagerValues
from export.emulator.locate import Original
from export.graph_passes import graphs, passes
from export.graph_passes.graph_pass import GraphPass, Stage
from export.graph_passes.operators import winograd_convolution
from export.graph_passes.report import PassReport
from export.graph_passes.rewrites import recurrent
from export.graph_passes.snapshot import Snapshot
from export.graph_passes.wrong_program import WrongProgramError
from export.lower import (
    input_sizes,
    lowering_failure,
    mutable_operators,
    qualcomm,
    repeated_work,
    size_record,
    weights,
    whole_numbers,
)
from export.lower.decompositions import DECOMPOSITIONS
from export.lower.lowering import Lowering
from export.lower.tracing import trace
from export.memory import assigned_buffers, dense_state, layouts, separate_values, shared_buffers, writes
from export.patches import (
    idle_passes,
    more_decompositions,
    partitioner_reasons,
    recorded_emission,
    recurrent_shapes,
    timed_backends,
)
from export.patches.recorded_emission import Emission
from export.process import phases
from export.report import delegation, etrecord, origins
from export.report.delegation import Delegation
from export.user.model_file import Method
from export.user.samples import Recorded, Sample


@dataclass(frozen=True, kw_only=True)
class Options:
    """What is asked of a program.

    Attributes:
        config: the config of the edge dialect.
        strict_passes: whether an exception in a graph pass ends the export.
        planning_pass: plans the memory. Default: ExecuTorch's pass with its defaults.
        external_weights: whether the constants become a file of their own.
        with_check: whether to run the program on the samples before it is returned.
        with_etrecord: whether to make an ETRecord, too.
        eager: finds PyTorch's values of the nodes behind the instructions, within `eager.followed()`.
    """

    config: EdgeCompileConfig
    strict_passes: bool = False
    planning_pass: MemoryPlanningPass | None = None
    external_weights: bool = False
    with_check: bool = True
    with_etrecord: bool = False
    eager: EagerValues | None = None


@dataclass(frozen=True)
class Program:
    """A program.

    Attributes:
        pte: the bytes of the .pte file.
        written: for each method, the positions of the inputs that the method writes to. The program returns their new
            values before the outputs of forward().
        delegations: the delegation report of each method.
        graph_passes: the reports of the graph passes, for each method.
        checked: the check of each method; empty if not requested.
        error_growth: for each method, the factor by which its rounding errors exceed those of PyTorch.
        origins: the lines of Python behind the instructions, as JSON.
        etrecord: the ETRecord; None if not requested.
        eager: PyTorch's values of the nodes behind the instructions as a .ptd file, and JSON; None if not requested.
        weights: the bytes of the file with the constants; None if the program has its constants.
        narrowed: warnings about sizes of inputs.
    """

    pte: bytes
    written: Mapping[str, Sequence[int]]
    delegations: Mapping[str, Delegation]
    graph_passes: Mapping[str, Sequence[PassReport]]
    checked: Mapping[str, Checked]
    error_growth: Mapping[str, float]
    origins: bytes
    etrecord: bytes | None
    eager: tuple[bytes, bytes] | None
    weights: bytes | None
    narrowed: Sequence[Finding] = ()


@dataclass(frozen=True)
class _Lowered:
    """Methods in the edge dialect.

    Attributes:
        graph_passes: the passes that ran before the lowering, and the passes with preserved operators.
        reports: the reports of the passes that ran, for each method.
        edge: the manager of the methods.
        programs: the graphs of the methods.
        originals: the graphs of the methods before the passes of the next stage, for the check of the program.
        snapshots: snapshots of the graphs, before the passes of the next stage.
    """

    graph_passes: Sequence[GraphPass]
    reports: Mapping[str, Sequence[PassReport]]
    edge: EdgeProgramManager
    programs: Mapping[str, ExportedProgram]
    originals: Mapping[str, Original]
    snapshots: Sequence[Snapshot]


def build(
    methods: Sequence[Method],
    recorded: Mapping[str, Recorded],
    lowerings: Mapping[str, Lowering],
    graph_passes: Sequence[GraphPass],
    options: Options,
) -> Program:
    """Exports and lowers methods into one program.

    Args:
        methods: the methods to export.
        recorded: the eager results of each method. The exported method must have the same number and nesting of
            outputs.
        lowerings: the lowering of each method.
        graph_passes: the graph passes, which prepare the graphs for kernels.
        options: what is asked of the program.
    Raises:
        InputError: PyTorch, ExecuTorch, a quantizer or a backend refused the model, or the program without any graph
            pass does not have the results of the model.
    """
    if options.with_etrecord:
        etrecord.check(methods[0])
    exported = {
        method.name: _export_with(
            graph_passes, method, recorded[method.name].samples, lowerings[method.name], options.eager
        )
        for method in methods
    }
    shared_buffers.check_methods(methods, exported)
    narrowed = [finding for method in methods for finding in input_sizes.narrowed(method, exported[method.name])]
    # The lowering may fix sizes.
    fixed_views = [finding for method in methods for finding in input_sizes.fixed_views(method, exported[method.name])]
    checked = methods if options.with_check else ()
    subjects = [_subject(method, recorded, exported, lowerings[method.name]) for method in checked]
    for_qualcomm = qualcomm.compile_specs(lowerings)
    try:
        prepared = dict(lowerings)
        for name, specs in for_qualcomm.items():
            exported[name], first = qualcomm.prepare(exported[name], specs)
            prepared[name] = replace(lowerings[name], edge_passes=(*first, *lowerings[name].edge_passes))
        attempts = _Attempts(methods, exported, prepared, options, for_qualcomm, subjects)
        program, failures = passes.emit(graph_passes, attempts, strict=options.strict_passes)
        reports = {
            method.name: [
                *program.graph_passes[method.name],
                *(
                    passes.blamed(attempts.latest.get((method.name, name), PassReport(name)), method, error)
                    for name, error in failures.items()
                ),
            ]
            for method in methods
        }
        return replace(program, graph_passes=reports, narrowed=[*narrowed, *fixed_views])
    except InputError:
        raise
    except WrongProgramError as error:
        raise InputError(error.finding) from error
    except BaseException as error:
        no_sdk = qualcomm.without_sdk(methods[0], for_qualcomm, error)
        names = [one.name for one in graph_passes]
        raise no_sdk or lowering_failure.of(methods, exported, error, names, fixed_views) from error


def _subject(
    method: Method, recorded: Mapping[str, Recorded], exported: Mapping[str, ExportedProgram], lowering: Lowering
) -> Subject:
    quantized = None
    if lowering.quantization is not None:
        # The module keeps its state when attempts change the exported program.
        shared = {id(tensor): tensor for tensor in exported[method.name].state_dict.values()}
        quantized = copy.deepcopy(exported[method.name], shared).module()
    has_own_passes = bool(lowering.aten_passes or lowering.edge_passes)
    return Subject(method, recorded[method.name], quantized, has_own_passes=has_own_passes)


@dataclass
class _Attempts:
    """Makes a program with some of the graph passes. Each attempt starts from the methods before all passes.

    Attributes:
        methods: the methods to export.
        exported: the graphs of the methods. Each attempt changes them.
        lowerings: the lowering of each method.
        options: what is asked of the program.
        for_qualcomm: the compile specs of Qualcomm's backend, for each method that has the backend.
        subjects: what the program is compared with; empty for no check.
        latest: the report of a pass on a method in the latest attempt with the pass, by the names of both.
    """

    methods: Sequence[Method]
    exported: Mapping[str, ExportedProgram]
    lowerings: Mapping[str, Lowering]
    options: Options
    for_qualcomm: Mapping[str, list[Any]]
    subjects: Sequence[Subject]
    latest: dict[tuple[str, str], PassReport] = field(default_factory=dict)
    _snapshots: Sequence[Snapshot] = ()
    _lowered: _Lowered | None = None

    def __call__(self, graph_passes: Sequence[GraphPass]) -> Program:
        """Makes a program with these passes."""
        lowered = self._lower([one for one in graph_passes if one.stage is Stage.EXPORTED or one.preserved])
        of_passes = self._run(Stage.LOWERED, lowered.programs, graph_passes)
        for name, program in lowered.programs.items():
            finish(program)
            if self.options.eager is not None:
                self.options.eager.finish(name, program)
        written = {name: graphs.written_inputs(program) for name, program in lowered.programs.items()}
        growth = {name: winograd_convolution.error_growth(program) for name, program in lowered.programs.items()}
        delegations = {
            method.name: delegation.of_graph(
                method,
                lowered.programs[method.name].graph_module,
                is_partitioned=bool(self.lowerings[method.name].partitioners),
            )
            for method in self.methods
        }
        reports = {name: [*lowered.reports[name], *of_passes[name]] for name in of_passes}
        with phases.phase("to_executorch"):
            executorch, emissions = emit(lowered.edge, self.options.planning_pass)
        with phases.phase("check"):
            subjects = [replace(one, original=lowered.originals.get(one.method.name)) for one in self.subjects]
            checked = check.check(executorch, emissions, subjects, strict=self.options.strict_passes)
        pte, ptd = weights.separate(executorch) if self.options.external_weights else (bytes(executorch.buffer), None)
        return Program(
            pte,
            written,
            delegations,
            reports,
            checked,
            growth,
            origins.as_json(emissions, {name: executorch.exported_program(name) for name in emissions}),
            etrecord.serialize(executorch, self.methods[0]) if self.options.with_etrecord else None,
            self.options.eager.values(self.methods, emissions) if self.options.eager is not None else None,
            ptd,
        )

    def _lower(self, graph_passes: Sequence[GraphPass]) -> _Lowered:
        """Lowers the methods to the edge dialect. With the same passes, reuses the lowering of the last attempt."""
        if self._lowered is not None and self._lowered.graph_passes == graph_passes:
            _restore(self._lowered.snapshots)
            return self._lowered
        _restore(self._snapshots)
        self._snapshots = self._snapshots or self._saved(self.exported)
        reports = self._run(Stage.EXPORTED, self.exported, graph_passes)
        for program in self.exported.values():
            recurrent.check_steps(program)
        edge = self._to_edge([operator for one in graph_passes for operator in one.preserved])
        programs = {method.name: edge.exported_program(method.name) for method in self.methods}
        for method in self.methods:
            size_record.add(edge, method, programs[method.name])
        originals = {name: Original(program) for name, program in programs.items()}
        if self.options.eager is not None:
            for name, program in programs.items():
                self.options.eager.lower(name, program)
        self._lowered = _Lowered(graph_passes, reports, edge, programs, originals, self._saved(programs))
        return self._lowered

    def _to_edge(self, preserved: Sequence[torch._ops.OpOverload]) -> EdgeProgramManager:
        """Lowers the graphs to the edge dialect. The operators `preserved` are not decomposed."""
        edge_passes = {name: list(one.edge_passes) for name, one in self.lowerings.items() if one.edge_passes}
        partitioners = {name: list(one.partitioners) for name, one in self.lowerings.items()}
        config = replace(self.options.config, preserve_ops=[*self.options.config.preserve_ops, *preserved])
        with (
            phases.phase("to_edge"),
            timed_backends.timed(),
            more_decompositions.added(DECOMPOSITIONS),
            partitioner_reasons.stored(),
            qualcomm.lowering(self.for_qualcomm) as said,
        ):
            if not edge_passes and not any(partitioners.values()) and not config._check_ir_validity:
                return repeated_work.to_edge(self.exported, config, generate_etrecord=self.options.with_etrecord)
            edge = to_edge_transform_and_lower(
                dict(self.exported),
                transform_passes=edge_passes or None,
                partitioner=partitioners,
                compile_config=config,
                generate_etrecord=self.options.with_etrecord,
            )
        qualcomm.check(edge, {method.name: method for method in self.methods}, self.for_qualcomm, said)
        return edge

    def _saved(self, programs: Mapping[str, ExportedProgram]) -> list[Snapshot]:
        """Returns snapshots of the graphs for further attempts; none if passes are strict, with one attempt only."""
        return [] if self.options.strict_passes else [Snapshot(program) for program in programs.values()]

    def _run(
        self, stage: Stage, programs: Mapping[str, ExportedProgram], graph_passes: Sequence[GraphPass]
    ) -> dict[str, Sequence[PassReport]]:
        reports: dict[str, Sequence[PassReport]] = {
            method.name: passes.run(
                graph_passes,
                stage,
                method,
                programs[method.name],
                is_partitioned=bool(self.lowerings[method.name].partitioners),
                strict=self.options.strict_passes,
            )
            for method in self.methods
        }
        self.latest |= {(name, one.name): one for name, of_method in reports.items() for one in of_method}
        return reports


def _restore(snapshots: Sequence[Snapshot]) -> None:
    for snapshot in snapshots:
        snapshot.restore()


def _export_with(
    graph_passes: Sequence[GraphPass],
    method: Method,
    samples: Sequence[Sample],
    lowering: Lowering,
    eager: EagerValues | None,
) -> ExportedProgram:
    """Exports a method for graph passes. If they keep all recurrent layers whole, the number of time steps may vary."""
    if recurrent.PASS in graph_passes and not lowering.partitioners:
        with recurrent_shapes.known():
            exported = export(method, samples, lowering, eager)
        if recurrent.keeps_all(exported):
            return exported
    return export(method, samples, lowering, eager)


def export(
    method: Method, samples: Sequence[Sample], lowering: Lowering, eager: EagerValues | None = None
) -> ExportedProgram:
    """Exports a method, before all graph passes.

    Args:
        method: the method.
        samples: the eager results. The exported method must have the same number and nesting of outputs.
        lowering: the lowering of the method, which may quantize it.
        eager: keeps the graph of torch.export.
    Raises:
        InputError: PyTorch or a quantizer refused the method.
    """
    with phases.phase("torch.export"):
        exported = trace(method, samples)
    if eager is not None:
        eager.trace(method.name, exported)
    input_sizes.check(method, exported)
    mutable_operators.check(method, exported)
    dense_state.check(method, exported)
    assigned_buffers.prepare(method, exported)
    writes.prepare(exported)
    if lowering.quantization is not None:
        with phases.phase("quantization"):
            from export.lower.quantization import (
                quantize,  # The import registers operators for quantized programs only.
            )

            exported = quantize(method, exported, samples, lowering.quantization)
    exported = dense_state.lay_out(exported)
    for index, aten_pass in enumerate(lowering.aten_passes):
        exported = method.source.call(aten_pass, exported)
        if not isinstance(exported, ExportedProgram):
            at, what = method.source.location(aten_pass), f"the result of pass {index} of get_aten_passes()"
            raise method.source.nonsense(at, what, exported, "a torch.export.ExportedProgram")
    return exported


def finish(program: ExportedProgram) -> None:
    """Prepares a lowered method for the emission, after all graph passes. Changes the graph in place."""
    _keep_initial_state(program)
    _forget_classes(program)
    separate_values.separate(program)
    whole_numbers.rewrite(program)


def emit(
    edge: EdgeProgramManager, planning_pass: MemoryPlanningPass | None = None
) -> tuple[ExecutorchProgramManager, Mapping[str, Emission]]:
    """Emits finished methods as a program. Returns also the record of the emission of each method."""
    config = ExecutorchBackendConfig(
        passes=[layouts.ExplicitLayouts()],
        memory_planning_pass=layouts.Planning(planning_pass or MemoryPlanningPass()),
    )
    # Graph passes set fake tensors that differ from those of a trace. ExplicitLayouts makes the graph's last trace.
    with recorded_emission.recorded() as emissions, idle_passes.skipped(but=layouts.ExplicitLayouts):
        return edge.to_executorch(config), emissions


def _keep_initial_state(exported: ExportedProgram) -> None:
    """Marks the mutable buffers whose initial values the program must store.

    By default, ExecuTorch stores no values of a buffer that a method writes to. For buffers of zeros, such as most
    caches, this stays so: the runtime's memory starts with zeros, and the file need not contain a large cache. A
    negative zero is no zero byte.
    """
    signature = exported.graph_signature
    mutated = set(signature.buffers_to_mutate.values())
    for node in exported.graph.nodes:
        if node.op == "placeholder" and signature.inputs_to_buffers.get(node.target) in mutated:
            name = signature.inputs_to_buffers[node.target]
            initial: Any = exported.state_dict.get(name, exported.constants.get(name))
            if initial is not None and initial.detach().flatten().view(torch.uint8).any():
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
