"""Error messages for exceptions of ExecuTorch's lowering."""

from __future__ import annotations

import re
import string
from collections.abc import Sequence

import torch

from diagnostics.errors import Finding, InputError
from export.model_file import Method
from export.pytorch_message import SHOW_MORE, condense
from export.user_file import text_of


def of(method: Method, error: BaseException, graph_passes: Sequence[str]) -> InputError:
    """Returns the error for a model that ExecuTorch does not lower.

    Args:
        method: the first of the model's methods.
        error: ExecuTorch's exception.
        graph_passes: the names of the graph passes that ran.
    """
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
            "an ExecuTorch program calls out variants, and only functional variants of these operators are registered.",
            fix,
            tuple(_out_schema(name) for name in sorted(missing)),
            id="no-out-variant",
        )
    )


def _fix_of_torchao(missing: Sequence[str], graph_passes: Sequence[str]) -> str:
    """Returns the fix for operators of linear layers that torchao's quantize_() quantized."""
    needed = "dynamic_linear" if "torchao::choose_qparams_affine" in missing else "weight_only"
    if needed in graph_passes:
        return f"quantize these layers in another way, which the graph pass {needed} supports (export/README.md)."
    return (
        f"have a graph pass make calls of these layers: graph_passes = ['default', '{needed}'] of the"
        " executorch_program; @rules_executorch//kernels/optimized has the kernel."
    )


def _message(error: BaseException) -> str:
    """Returns an exception's message with that of its first cause, since the exception may only name a pass."""
    message = condense(text_of(error))
    first = error
    while first.__cause__ is not None:
        first = first.__cause__
    return message if first is error else f"{message}\n    {type(first).__name__}: {condense(text_of(first))}"


def _out_schema(name: str) -> str:
    """Returns the schema to register for a functional operator's out variant."""
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
