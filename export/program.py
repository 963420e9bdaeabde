"""Turns eager methods into an ExecuTorch program."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower

from export import fake_kernel
from export.errors import ExportError, Finding
from export.model_file import Method
from export.pytorch_message import condense
from export.samples import Sample

# What torch.export says when a model cannot be exported as it is -> (likely cause, fix).
_HINTS = (
    (
        re.compile(r"data-dependent|GuardOnDataDependent|unbacked", re.I),
        "Python's `if`, `int()` or a shape depends on the values of a tensor, which an exported graph cannot follow.",
        "choose with torch.where or torch.cond; say with torch._check what is known of a value; or use a constant.",
    ),
    (
        re.compile(r"Constraints violated|dynamic_shapes|specialized value", re.I),
        "get_dynamic_shapes() asks for more freedom than the model's code leaves, or does not match its inputs.",
        "follow the suggested fixes above, or make that dimension static.",
    ),
    (
        re.compile(r"numpy|\.tolist\(\)|tensor subclass", re.I),
        "the model leaves PyTorch in the middle of its computation.",
        "compute with torch functions only.",
    ),
)
_NO_HINT = (
    "the model's code does something that torch.export cannot trace.",
    "rewrite the lines shown; torch.export.draft_export(module, inputs) lists all such places at once.",
)


def build(methods: Sequence[Method], recorded: Mapping[str, Sequence[Sample]]) -> bytes:
    """Exports and lowers methods into one program.

    Args:
        methods: what to export.
        recorded: the eager results of each, which the exported method must agree with in number and nesting.
    Returns:
        The bytes of a .pte file.
    Raises:
        ExportError: PyTorch or ExecuTorch refused the model.
    """
    exported = {method.name: _export(method) for method in methods}
    for method in methods:
        _check_outputs(method, exported[method.name], recorded[method.name])
    try:
        # The validity check of the edge dialect knows ATen's operators only, so it would refuse every custom one.
        edge = to_edge_transform_and_lower(exported, compile_config=EdgeCompileConfig(_check_ir_validity=False))
        for method in methods:
            _keep_initial_state(edge.exported_program(method.name))
        return bytes(edge.to_executorch().buffer)
    except Exception as error:
        raise _lowering_failure(methods[0], error) from error


def _export(method: Method) -> torch.export.ExportedProgram:
    if method.exported is not None:
        return method.exported
    try:
        # Strict tracing knows a tensor that plain Python objects hold, as a KV cache's may, for the buffer that it is;
        # the faster way takes it for a constant.
        exported = _trace(method, strict=False)
        if _written_constants(exported):
            exported = _trace(method, strict=True)
    except Exception as error:
        what = f"torch.export of {method.name}()"
        operator = fake_kernel.operator_without_fake_kernel(error)
        if operator:
            at, details = method.source.frames(error)
            raise ExportError(fake_kernel.finding(at or method.at, what, operator, details)) from error
        message = condense(str(error))
        text = f"{type(error).__name__} {message}"
        cause, fix = next(((cause, fix) for pattern, cause, fix in _HINTS if pattern.search(text)), _NO_HINT)
        raise method.source.failure(what, error, at=method.at, cause=cause, fix=fix, message=message) from error

    written = _written_constants(exported)
    if written:
        raise ExportError(
            Finding(
                method.at,
                f"{method.name}() writes to tensors that are no buffers of the module: {', '.join(written)}",
                "the module keeps state in a plain attribute, a list, or a global.",
                "make each of them a buffer: self.register_buffer(name, tensor).",
                id="state-outside-buffers",
            )
        )
    return exported


def _trace(method: Method, *, strict: bool) -> torch.export.ExportedProgram:
    with torch.no_grad():
        return torch.export.export(
            method.module,
            method.example.args,
            dict(method.example.kwargs),
            dynamic_shapes=method.dynamic_shapes,
            strict=strict,
        )


def _written_constants(exported: torch.export.ExportedProgram) -> list[str]:
    """The constants that an exported graph writes to; such a write would be lost."""
    constants = exported.graph_signature.inputs_to_lifted_tensor_constants
    written: dict[str, None] = {}
    for node in exported.graph.nodes:
        if isinstance(node.target, torch._ops.OpOverload):
            for argument, value in zip(node.target._schema.arguments, node.args, strict=False):
                if argument.is_write and getattr(value, "name", None) in constants:
                    written[constants[value.name]] = None
    return list(written)


def _check_outputs(method: Method, exported: torch.export.ExportedProgram, samples: Sequence[Sample]) -> None:
    for index, sample in enumerate(samples):
        if sample.output_spec != exported.call_spec.out_spec:
            raise ExportError(
                Finding(
                    method.at,
                    f"{method.name}() returns {len(sample.outputs)} values on sample {index}, nested as"
                    f" {sample.output_spec}, but the exported program {exported.call_spec.out_spec}",
                    "what the module returns depends on its inputs or on its state.",
                    "return the same structure from every call.",
                    id="varying-outputs",
                )
            )


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


def _lowering_failure(method: Method, error: Exception) -> ExportError:
    missing = re.findall(r"'([\w:.]+)'", str(error)) if "Missing out variants" in str(error) else []
    if not missing:
        return method.source.failure(
            "ExecuTorch's lowering",
            error,
            at=method.at,
            cause="the exported graph has something that ExecuTorch does not support.",
            fix="--verbose and --traceback show where; simplify the module until it lowers.",
            message=condense(str(error)),
        )
    return ExportError(
        Finding(
            method.at,
            f"no out variant of {', '.join(sorted(missing))}",
            "an ExecuTorch program calls operators by their out variants, and only the functional ones are registered.",
            "register these too with torch.library, in a module that the model file imports (one of its `deps`).",
            tuple(_out_schema(name) for name in sorted(missing)),
            id="no-out-variant",
        )
    )


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
    results = [f"Tensor({chr(ord('a') + i)}!)" for i in range(len(outs))]
    written = ", ".join([arguments, *(f"{kind} {out}" for kind, out in zip(results, outs, strict=True))])
    returned = results[0] if len(results) == 1 else f"({', '.join(results)})"
    return f"{namespace}::{base}.{overload + '_' if overload else ''}out({written}) -> {returned}"
