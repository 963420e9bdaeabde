"""Error messages for exceptions of ExecuTorch's lowering."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Node
from torch.utils._sympy.numbers import int_oo

from diagnostics.errors import Finding, InputError, Location
from export.graph_passes import layouts
from export.lower.tracing import DERIVATIVES, PACKED_LAYERS
from export.user import plain_state
from export.user.messages import SHOW_MORE, causes, condense, text_of
from export.user.model_file import Method

# For each pass for layers of torchao: the size of a group of weights is a multiple of this number.
_GROUP_MULTIPLES = {
    "dynamic_linear": layouts.BYTE_PANEL_ROW_MULTIPLE,
    "weight_only": layouts.QUANTIZED_ROW_BLOCK_BYTES,
}
_UNBOUNDED = "Cannot evaluate a finite upper bound"
_FIXED_VIEW = "_ViewSpec is incompatible with its base"
_CONTROL_FLOW = re.compile(r"Unsupported control flow operator: (\w+)")
# The line by which torch.fx says which node it runs.
_EXECUTING = re.compile(r"^While executing %.*?call_function\[target=([\w.]+)\]", re.M)


def of(
    methods: Sequence[Method],
    exported: Mapping[str, ExportedProgram],
    error: BaseException,
    graph_passes: Sequence[str],
    fixed_views: Sequence[Finding],
) -> InputError:
    """Returns the error for a model that ExecuTorch does not lower, after some graph passes.

    `exported` has the graph of each method before the lowering. `fixed_views` are possible causes.
    """
    text, method = text_of(error), methods[0]
    if _UNBOUNDED in text:
        unbounded = [one for method in methods for one in _unbounded_sizes(method, exported[method.name])]
        if unbounded:
            return InputError(unbounded)
    if _FIXED_VIEW in text and fixed_views:
        return InputError([replace(one, severity="error") for one in fixed_views])
    if control_flow := _CONTROL_FLOW.search(text):
        return InputError(_unsupported_control_flow(method, control_flow[1], text))
    if "Missing out variants" in text and (missing := sorted(re.findall(r"'([\w:.]+)'", text))):
        return InputError(_no_out_variant(method, missing, graph_passes))
    if drawn := [one for method in methods for one in _generators(method, exported[method.name])]:
        return InputError(drawn)
    if leaks := [leak for one in methods if (leak := plain_state.leak(one))]:
        return InputError(leaks)
    cause = "the exported graph has something that ExecuTorch does not support."
    fix = f"{SHOW_MORE}; simplify the module until it lowers."
    if "might be aliasing" in text:
        cause = "a branch of torch.cond, or the body of a loop, returns one of its inputs or a view of it."
        fix = "return a copy: `.clone()`."
    if "data-dependent" in text:
        cause = "a size or an index depends on the values of a tensor, as x[i] does for a tensor i of no dimensions."
        fix = (
            "index with a tensor of one dimension, as in x[i.reshape(1)][0]; for x[:i], write n = i.item(),"
            " torch._check(n >= 0), torch._check(n <= x.shape[0]), and x[:n]."
        )
    if (
        "invalid target for call_function" in text
        or "'builtin_function_or_method' object has no attribute '_schema'" in text
    ):
        cause = "ExecuTorch's runtime does not have this function of numbers, such as a size or the result of item()."
        fix = (
            "compute with + - * / // % **, abs(), min(), max(), round() and math.ceil() only, or compute with a tensor:"
            " torch.full((), n)."
        )
    if "Input spec name" in text and (without := [f"{one.name}()" for one in methods if not one.example.flatten()[0]]):
        cause = f"{', '.join(without)} has no inputs, and ExecuTorch orders the constants of such a method wrongly."
        fix = "give forward() an input, such as a tensor that forward() does not read."
    if "Cannot access data pointer" in text:
        cause, fix = DERIVATIVES
    if "is not functional" in text and "copy_" in text:
        cause = "a branch of torch.cond, or the body of a loop, writes to a buffer."
        fix = "return the new value from each branch, and write it to the buffer after the call."
    if "PackedParams" in text:
        cause, fix = PACKED_LAYERS
    if "graph_output_allocated" in text:
        cause = f"{method.name}() returns no tensor, and a program has to give one."
        fix = "return a tensor: torch.full((), n) for a number; where the method only writes to buffers, one of them."
    if "has a varying number of time steps" in text:
        cause = "without the graph pass `recurrent`, the lowering repeats a cell for a fixed number of time steps."
        fix = 'add "recurrent" to graph_passes of the rule, or fix the number of time steps in get_dynamic_shapes().'
    # Where the lowering failed at a call of the graph, the message has the line of the model.
    at, frames = _first_frames(method, error)
    return method.source.failure(
        "ExecuTorch's lowering",
        error,
        at=at or method.at,
        cause=cause,
        fix=fix,
        message=_message(error),
        details=(*_operator(error), *frames),
    )


def _no_out_variant(method: Method, missing: Sequence[str], graph_passes: Sequence[str]) -> Finding:
    cause = "an ExecuTorch program calls out variants, and only functional variants of these operators are registered."
    fix = "register these too with torch.library, in a module that the model file imports (one of its `deps`)."
    if all(name.startswith("quantized_decomposed::") for name in missing):
        fix = "`import executorch.kernels.quantized` in the model file registers these."
    if all(name.startswith("torchao::") for name in missing):
        cause, fix = _of_torchao(method, missing, graph_passes, cause)
    details = tuple(map(_out_schema, missing))
    return Finding(method.at, f"no out variant of {', '.join(missing)}", cause, fix, details, id="no-out-variant")


def _first_frames(method: Method, error: BaseException) -> tuple[Location | None, tuple[str, ...]]:
    """Returns the user's frames in the message of an exception or of its first cause that has some."""
    for one in causes(error):
        at, frames = _frames(method, text_of(one))
        if at is not None:
            return at, frames
    return None, ()


def _frames(method: Method, text: str) -> tuple[Location | None, tuple[str, ...]]:
    # ExecuTorch's emitter writes the frames twice, and torch.fx once more at the end.
    return method.source.frames_of_text(text.rpartition("Original traceback:")[2])


def _operator(error: BaseException) -> tuple[str, ...]:
    """Returns a line that names the call that the lowering was at; nothing if the messages have none."""
    for one in causes(error):
        if match := _EXECUTING.search(text_of(one)):
            return (f"the call: {match[1].removeprefix('torch.ops.')}",)
    return ()


def _unbounded_sizes(method: Method, exported: ExportedProgram) -> Iterator[Finding]:
    """Yields a finding for each call whose result is, or has, a size without an upper bound."""
    nodes = exported.graph.nodes
    sizes = set().union(*(size for node in nodes for size in _symbols_of_sizes(node)))
    ranges = exported.range_constraints
    unbounded = {symbol for symbol in sizes if symbol in ranges and ranges[symbol].upper == int_oo}
    for node in nodes:
        if made := unbounded.intersection(node.meta.get("unbacked_bindings") or ()):
            yield _unbounded_size(method, node, made)


def _symbols_of_sizes(node: Node) -> list[set[Any]]:
    """Returns the symbols in each size of a node's tensor; nothing for a node that is no tensor."""
    value = node.meta.get("val")
    sizes = value.shape if isinstance(value, torch.Tensor) else ()
    return [size.node.expr.free_symbols if isinstance(size, torch.SymInt) else set() for size in sizes]


def _unbounded_size(method: Method, node: Node, symbols: set[Any]) -> Finding:
    at, frames = method.source.frames_of_text(node.meta.get("stack_trace") or "")
    dims = [dim for dim, size in enumerate(_symbols_of_sizes(node)) if symbols & size]
    found = (
        f"whose result has no upper bound in dimension {dims[0]}" if dims else "whose result is a size without a bound"
    )
    result, size = ("y", f"y.shape[{dims[0]}]") if dims else ("n", "n")
    return Finding(
        at or method.at,
        f"{method.name}() calls {node.target}, {found}",
        "the size depends on the values of a tensor, and ExecuTorch plans memory for the largest size.",
        f"below the call, with `{result}` for its result, write `torch._check({size} <= BOUND)`. BOUND is a number that"
        " no run exceeds: the program reserves memory for it, and a run with a larger size fails.",
        frames,
        id="unbounded-size",
    )


def _generators(method: Method, exported: ExportedProgram) -> Iterator[Finding]:
    """Yields a finding for each call that draws random numbers with a generator of its own."""
    for node in exported.graph.nodes:
        if node.kwargs.get("generator") is not None:
            at, frames = method.source.frames_of_text(node.meta.get("stack_trace") or "")
            yield Finding(
                at or method.at,
                f"{method.name}() gives a torch.Generator to {node.target}",
                "a program has no generators. All its random numbers come from the generator of the runtime.",
                "leave `generator` out, and seed the runtime (docs/runner.md, random numbers); for numbers that are"
                " always the same, draw them in __init__() and keep them in a buffer.",
                frames,
                id="unsupported-value",
            )


def _unsupported_control_flow(method: Method, operator: str, text: str) -> Finding:
    at, frames = _frames(method, text)
    return Finding(
        at or method.at,
        f"{method.name}() calls {operator}, which a program has no instructions for",
        "torch.export takes more operators of control flow than ExecuTorch. A program has instructions for torch.cond,"
        " map and scan, and torch.export unrolls Python's loops.",
        "run a fixed number of steps in a Python `for`, and keep the values of finished elements with torch.where; or"
        " make the body a method of its own (get_model() returns a dict), and call the method in a loop.",
        frames,
        id="unsupported-control-flow",
    )


def _of_torchao(method: Method, missing: Sequence[str], graph_passes: Sequence[str], cause: str) -> tuple[str, str]:
    """Returns the cause and the fix for operators of linear layers that torchao's quantize_() quantized."""
    needed = "dynamic_linear" if "torchao::choose_qparams_affine" in missing else "weight_only"
    multiple = _GROUP_MULTIPLES[needed]
    if sizes := _other_groups(method, multiple):
        return (
            f"the graph pass {needed} supports groups of a multiple of {multiple} weights, and linear layers of"
            f" {method.name}() have groups of {' and '.join(map(str, sizes))}.",
            f"quantize with PerGroup({multiple}) or a multiple of that, or with PerAxis(0), one scale for each row.",
        )
    if needed in graph_passes:
        fix = f"quantize these layers in another way, which the graph pass {needed} supports (export/README.md)."
        return cause, fix
    return cause, (
        f"have a graph pass make calls of these layers: graph_passes = ['default', '{needed}'] of the"
        " executorch_program; @rules_executorch//kernels/optimized has the kernel."
    )


def _other_groups(method: Method, multiple: int) -> list[int]:
    """Returns the sizes of groups in the weights of a method that are no multiple of a number."""
    shapes = {
        (parameter.shape[-1], block[-1])
        for parameter in method.module.parameters()
        if parameter.dim() and (block := getattr(parameter, "block_size", None))
    }
    return sorted({size for row, size in shapes if size < row and size % multiple != 0})


def _message(error: BaseException) -> str:
    """Returns an exception's message with that of its first cause, since the exception may only name a pass."""
    message = condense(text_of(error))
    *_, first = causes(error)
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
