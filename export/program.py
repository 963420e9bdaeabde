"""Turns eager methods into an ExecuTorch program."""

from __future__ import annotations

import dataclasses
import functools
import re
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from executorch.exir import EdgeCompileConfig, ExecutorchProgramManager, to_edge_transform_and_lower
from torch.export.graph_signature import InputKind, OutputKind
from torch.utils import _pytree as pytree

from diagnostics.errors import Finding, InputError
from export import delegation, dense_tensors, etrecord, mutable_operators, origins, qualcomm
from export.delegation import Delegation
from export.graph_passes import passes
from export.graph_passes.graph_pass import GraphPass, Stage
from export.graph_passes.report import PassReport
from export.graph_passes.snapshot import Snapshot
from export.lowering import Lowering
from export.model_file import Method
from export.pytorch_message import SHOW_MORE, condense
from export.samples import Sample
from export.tracing import trace
from export.user_file import text_of


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
    for_qualcomm = qualcomm.compile_specs(lowerings)
    try:
        for name, specs in for_qualcomm.items():
            exported[name], first = qualcomm.prepare(exported[name], specs)
            edge_passes[name] = [*first, *edge_passes.get(name, ())]
        run_passes = functools.partial(_run_passes, methods, lowerings, strict=strict_passes)
        reports = run_passes(Stage.EXPORTED, exported, graph_passes)
        with delegation.reasons(), qualcomm.lowering(for_qualcomm) as said:
            edge = to_edge_transform_and_lower(
                exported,
                transform_passes=edge_passes or None,
                partitioner={name: list(lowering.partitioners) for name, lowering in lowerings.items()},
                compile_config=dataclasses.replace(
                    config,
                    preserve_ops=[
                        *config.preserve_ops,
                        *(operator for one in graph_passes for operator in one.preserved),
                    ],
                ),
                generate_etrecord=with_etrecord,
            )
        qualcomm.check(edge, {method.name: method for method in methods}, for_qualcomm, said)
        lowered = {method.name: edge.exported_program(method.name) for method in methods}
        snapshots = [Snapshot(program) for program in lowered.values()]

        def emit(chosen: Sequence[GraphPass]) -> _Emitted:
            for snapshot in snapshots:
                snapshot.restore()
            of_passes = run_passes(Stage.LOWERED, lowered, chosen)
            for program in lowered.values():
                _keep_initial_state(program)
                _forget_classes(program)
            written = {name: _written_inputs(program) for name, program in lowered.items()}
            delegations = {
                method.name: delegation.of_graph(
                    method,
                    lowered[method.name].graph_module,
                    is_partitioned=bool(lowerings[method.name].partitioners),
                )
                for method in methods
            }
            with origins.recorded() as instructions:
                return _Emitted(edge.to_executorch(), written, delegations, of_passes, origins.as_json(instructions))

        of_stage = [one for one in graph_passes if one.stage is Stage.LOWERED]
        emitted, failures = passes.emit(of_stage, emit, strict=strict_passes)
        reports = {
            method.name: [
                *reports[method.name],
                *emitted.graph_passes[method.name],
                *(passes.blamed(name, method, error) for name, error in failures.items()),
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
        raise no_sdk or _lowering_failure(methods[0], error, [one.name for one in graph_passes]) from error


def _run_passes(
    methods: Sequence[Method],
    lowerings: Mapping[str, Lowering],
    stage: Stage,
    programs: Mapping[str, torch.export.ExportedProgram],
    graph_passes: Sequence[GraphPass],
    *,
    strict: bool,
) -> dict[str, Sequence[PassReport]]:
    return {
        method.name: passes.run(
            graph_passes,
            stage,
            method,
            programs[method.name],
            is_partitioned=bool(lowerings[method.name].partitioners),
            strict=strict,
        )
        for method in methods
    }


def _export(method: Method, samples: Sequence[Sample], lowering: Lowering) -> torch.export.ExportedProgram:
    exported = trace(method, samples)
    mutable_operators.check(method, exported)
    if lowering.quantization is not None:
        from export.quantization import quantize  # Registers operators that other programs have no need of.

        exported = quantize(method, exported, samples, lowering.quantization)
    dense_tensors.lay_out(exported)
    for index, aten_pass in enumerate(lowering.aten_passes):
        exported = method.source.call(aten_pass, exported)
        if not isinstance(exported, torch.export.ExportedProgram):
            at, what = method.source.location(aten_pass), f"what pass {index} of get_aten_passes() returns"
            raise method.source.nonsense(at, what, exported, "a torch.export.ExportedProgram")
    return exported


def _keep_initial_state(exported: torch.export.ExportedProgram) -> None:
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


def _forget_classes(exported: torch.export.ExportedProgram) -> None:
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


def _written_inputs(exported: torch.export.ExportedProgram) -> list[int]:
    """The positions of the inputs that a method writes to, in the order in which ExecuTorch puts them out."""
    signature = exported.graph_signature
    inputs = [spec.arg.name for spec in signature.input_specs if spec.kind == InputKind.USER_INPUT]
    outputs = [spec.target for spec in signature.output_specs if spec.kind == OutputKind.USER_INPUT_MUTATION]
    return [inputs.index(name) for name in outputs]


def _lowering_failure(method: Method, error: BaseException, graph_passes: Sequence[str]) -> InputError:
    missing = re.findall(r"'([\w:.]+)'", text_of(error)) if "Missing out variants" in text_of(error) else []
    if not missing:
        cause = "the exported graph has something that ExecuTorch does not support."
        fix = f"{SHOW_MORE}; simplify the module until it lowers."
        if "might be aliasing" in text_of(error):
            cause = "a branch of torch.cond, or the body of a loop, returns one of its inputs or a view of it."
            fix = "return a copy: `.clone()`."
        if "graph_output_allocated" in text_of(error):
            cause = f"{method.name}() returns no tensor, and a program has to give one."
            fix = "return a tensor; where the method only writes to buffers, one of them."
        return method.source.failure(
            "ExecuTorch's lowering", error, at=method.at, cause=cause, fix=fix, message=_message(error)
        )
    fix = "register these too with torch.library, in a module that the model file imports (one of its `deps`)."
    if all(name.startswith("quantized_decomposed::") for name in missing):
        fix = "`import executorch.kernels.quantized` in the model file registers these."
    if all(name.startswith("torchao::") for name in missing):
        fix = _fix_of_torchao(missing, graph_passes)
    return InputError(
        Finding(
            method.at,
            f"no out variant of {', '.join(sorted(missing))}",
            "an ExecuTorch program calls operators by their out variants, and only the functional ones are registered.",
            fix,
            tuple(_out_schema(name) for name in sorted(missing)),
            id="no-out-variant",
        )
    )


def _fix_of_torchao(missing: Sequence[str], graph_passes: Sequence[str]) -> str:
    """What to do about the operators that torchao's quantize_() leaves in linear layers."""
    needed = "dynamic_linear" if "torchao::choose_qparams_affine" in missing else "weight_only"
    if needed in graph_passes:
        return f"quantize these layers in another way: the graph pass {needed} does not take them (export/README.md)."
    return (
        f"have a graph pass make calls of these layers: graph_passes = ['default', '{needed}'] of the"
        " executorch_program; a library of @rules_executorch//kernels/optimized has the kernel."
    )


def _message(error: BaseException) -> str:
    """What an exception says, with what the first one says that led to it: the last may only name a pass."""
    message = condense(text_of(error))
    first = error
    while first.__cause__ is not None:
        first = first.__cause__
    return message if first is error else f"{message}\n    {type(first).__name__}: {condense(text_of(first))}"


def _out_schema(name: str) -> str:
    """The schema to register for a functional operator's out variant."""
    namespace, _, rest = name.partition("::")
    base, _, overload = rest.partition(".")
    packet = getattr(getattr(torch.ops, namespace), base)
    schema = getattr(packet, overload or "default")._schema
    outs = ["out"] if len(schema.returns) == 1 else [f"out{i}" for i in range(len(schema.returns))]
    arguments = str(schema)[: str(schema).rindex(" -> ")].partition("(")[2].removesuffix(")")
    if not any(argument.kwarg_only for argument in schema.arguments):
        arguments = ", ".join(filter(None, [arguments, "*"]))
    taken = {name for argument in schema.arguments if argument.alias_info for name in argument.alias_info.before_set}
    letters = (letter for letter in string.ascii_lowercase if letter not in taken)
    results = [f"Tensor({letter}!)" for letter, _ in zip(letters, outs, strict=False)]
    written = ", ".join([arguments, *(f"{kind} {out}" for kind, out in zip(results, outs, strict=True))])
    returned = results[0] if len(results) == 1 else f"({', '.join(results)})"
    return f"{namespace}::{base}.{overload + '_' if overload else ''}out({written}) -> {returned}"
