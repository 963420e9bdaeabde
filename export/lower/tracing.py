"""Runs torch.export on the methods of a model file."""

from __future__ import annotations

import contextlib
import re
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch.distributions import Distribution
from torch.fx import traceback as fx_traceback
from torch.nn.modules.batchnorm import _NormBase

from diagnostics import derived_operator
from diagnostics.errors import InputError
from export.memory import shared_buffers
from export.patches import known_values
from export.user import fake_kernel
from export.user.messages import condense, text_of
from export.user.model_file import Method
from export.user.samples import Sample

_OF_VALUES = re.compile(r"data.?dependent|unbacked|specialized (?:integer|float)", re.I)
# The last two are failures of torch.export in its suggestions.
_OPEN_SIZES = re.compile(
    r"Constraints violated|dynamic_shapes|specialized value|Dim with inconsistent min|Expected op to be '=='", re.I
)

# The likely cause and the fix for layers whose weights are objects of PyTorch's own.
PACKED_LAYERS = (
    "torch.ao.quantization, as by quantize_dynamic(), has quantized layers of the module. torch.export does not take"
    " their packed weights.",
    'export the module in floats, with quantize = "xnnpack_int8" of the rule or a get_quantizer(); or quantize it with'
    " quantize_() of torchao (export/README.md).",
)
# The same for derivatives.
DERIVATIVES = (
    "forward() computes derivatives, as by torch.autograd.grad, torch.func.grad or jacrev; calls torch.vmap on a"
    " function that a trace does not follow, such as sort(); or, for AOTInductor, uses `.data` of a tensor.",
    "compute derivatives by a formula; give the function all rows at once in place of torch.vmap, as in x.sort(1);"
    " write x.detach() for x.data.",
)
# For messages of torch.export: the likely cause and the fix.
_HINTS = (
    (
        re.compile(r"Could not extract specialized integer"),
        "Python's `int()` takes a value of a tensor, often for a size, as in int(index.max()) + 1. The export does not"
        " know the value.",
        "give the number where the function that is called has an argument for it, such as num_classes of one_hot, or"
        " dim_size, size, num_nodes or batch_size in torch_geometric. In code of your own, write n = x.item() for"
        " int(x), and torch._check(n <= BOUND) if n is a size. For places, index with a tensor: x[start +"
        " torch.arange(n)].",
    ),
    (
        re.compile(r"expression zuf\d+ \(unhinted"),
        "Python's `float()`, or a function of `math`, takes a value of a tensor. The export does not know the value.",
        "compute with tensors, as in x / y.max() and torch.sqrt(y.sum()); or write x.item() for float(x).",
    ),
    (
        _OF_VALUES,
        "Python's `if`, `int()` or a shape depends on the values of a tensor, which an exported graph cannot follow.",
        "leave out checks such as assert x.max() <= 1; choose with torch.where or torch.cond; index with a tensor of"
        " one dimension, as in x[i.reshape(1)]; say with torch._check what is known of a value; or use a constant."
        " Python may read a buffer to which forward() does not write. If only the first run writes to the buffer, run"
        " the model once in get_model().",
    ),
    (
        _OPEN_SIZES,
        "get_dynamic_shapes() asks for more freedom than the model's code leaves, or does not match its inputs.",
        "follow the suggested fixes above, if there are some; give a larger min, where only small sizes differ; or"
        " use torch.export.Dim.AUTO(max=...), with which torch.export narrows the sizes, and the export tries some.",
    ),
    (
        re.compile(r"fake tensor in the exported program constant|functorch tensor|doesn't have storage"),
        *DERIVATIVES,
    ),
    (
        re.compile(r"unhashable type: .*Sym(?:Int|Float)"),
        "a size that may vary is a key of a dict or a set, or the argument of a function with functools.cache.",
        "compute the value in each call; or fix the size, which get_dynamic_shapes() leaves open.",
    ),
    (
        re.compile(r"subclass CausalBias"),
        "torch.nn.attention.bias makes a mask of a class of its own, which a trace does not take.",
        "give is_causal=True for causal_upper_left(n, m), and attn_mask=torch.ones(n, m, dtype=torch.bool).tril(m - n)"
        " for causal_lower_right(n, m).",
    ),
    (re.compile(r"PackedParams|__obj_flatten__"), *PACKED_LAYERS),
    (
        re.compile(r"`\.data` of .* gets"),
        "an assignment to `.data` of a tensor changes its dtype or its sizes. A program plans the memory of a tensor"
        " once.",
        "make the tensor as large as it becomes, and write to a part of it, as by self.weight[:n].copy_(...).",
    ),
    (
        re.compile(r"numpy|\.tolist\(\)|tensor subclass", re.I),
        "the model leaves PyTorch in the middle of its computation.",
        "compute with torch functions only.",
    ),
)
_PACKED_SEQUENCE = (
    "the model packs sequences (pack_padded_sequence). The sizes of the batches at each time step are then values,"
    " which torch.export does not know.",
    "give the layer the padded sequences; for the states at the ends of the sequences, choose the results with"
    " y.gather(1, (lengths - 1).view(-1, 1, 1).expand(-1, -1, y.shape[2])), or run one sequence at a time.",
)
_BATCH_NORM = (
    "a batch norm with momentum=None, in training mode, divides by the number of its runs, a value which torch.export"
    " does not know.",
    "give the batch norm a number as momentum, such as 0.1; or have it in eval mode, which get_model() need not set.",
)


def _counts_runs(module: object) -> bool:
    """Returns whether a module is a batch norm whose statistics are the means of all its runs."""
    return isinstance(module, _NormBase) and module.training and module.momentum is None


# Causes that show in the frames of an error: the file, what holds for the variables of a frame, and the hint.
_FRAMES: Sequence[tuple[Path, Callable[[Mapping[str, Any]], bool], tuple[str, str]]] = (
    (
        Path(torch.nn.__file__).parent / "modules" / "rnn.py",
        lambda variables: variables.get("batch_sizes") is not None,
        _PACKED_SEQUENCE,
    ),
    (
        Path(torch.nn.__file__).parent / "modules" / "batchnorm.py",
        lambda variables: _counts_runs(variables.get("self")),
        _BATCH_NORM,
    ),
    (Path(torch.__file__).parent / "_functorch" / "eager_transforms.py", lambda _: True, DERIVATIVES),
)
_NO_HINT = (
    "the model's code does something that torch.export cannot trace.",
    "rewrite the lines shown; torch.export.draft_export(module, inputs) lists all such places at once.",
)


def trace(method: Method, samples: Sequence[Sample]) -> torch.export.ExportedProgram:
    """Exports a method.

    Args:
        method: the method.
        samples: the eager results. The exported method must have the same number and nesting of outputs.
    Raises:
        InputError: torch.export refused the method, or the program would not have the eager results.
    """
    exported = method.exported or _export(method)
    _check_outputs(method, exported, samples)
    shared_buffers.check(method, exported)
    return exported


def _export(method: Method) -> torch.export.ExportedProgram:
    try:
        # If a plain Python object holds a buffer, such as the buffer of a KV cache, strict tracing recognizes the
        # buffer. Non-strict tracing, which is faster, takes the buffer for a constant.
        exported = _traced(method)
        if _written_constants(exported):
            exported = _trace(method, strict=True)
        if _has_vmap(exported):
            # The calls below vmap have no batch dimension yet. ExecuTorch fails for those that it keeps whole.
            exported = exported.run_decompositions({})
    except BaseException as error:
        raise _refused(method, error) from error
    written = _written_constants(exported)
    if written:
        raise InputError.of(
            method.at,
            f"{method.name}() writes to tensors that are no buffers of the module: {', '.join(written)}",
            "the module keeps state in a plain attribute, a list, or a global.",
            "make a buffer of each tensor: self.register_buffer(name, tensor).",
            id="state-outside-buffers",
        )
    return exported


def _traced(method: Method) -> torch.export.ExportedProgram:
    """Traces a method, a second time with known values if code or sizes depend on those that the method only reads."""
    try:
        exported = _trace(method, strict=False)
    except Exception as error:
        if not _OF_VALUES.search(f"{type(error).__name__} {text_of(error)}"):
            raise
        with contextlib.suppress(Exception):
            return _trace_with_values(method)
        raise
    if _unknown_numbers(exported):
        with contextlib.suppress(Exception):
            known = _trace_with_values(method)
            # The lowering computes the sizes once more, and knows no values.
            unknown, left = (_unknown_numbers(one.run_decompositions({})) for one in (exported, known))
            return known if left < unknown else exported
    return exported


def _unknown_numbers(exported: torch.export.ExportedProgram) -> int:
    """Returns how many calls of a graph have a size, or another number, that depends on values."""
    return sum(bool(node.meta.get("unbacked_bindings")) for node in exported.graph.nodes)


def _trace_with_values(method: Method) -> torch.export.ExportedProgram:
    """Traces a method with the values of small tensors but the buffers that the method writes to."""
    written: set[str] = set()
    while True:
        with known_values.known(but=written) as names:
            exported = _trace(method, strict=False)
        more = names & {*exported.run_decompositions({}).graph_signature.buffers_to_mutate.values()}
        if not more:
            return exported
        written |= more


def _refused(method: Method, error: BaseException) -> InputError:
    what = f"torch.export of {method.name}()"
    if operator := fake_kernel.operator_without_fake_kernel(error):
        at, details = method.source.frames(error)
        return InputError(fake_kernel.finding(at or method.at, what, operator, details))
    message = condense(text_of(error))
    text = f"{type(error).__name__} {message}"
    cause, fix = next(((cause, fix) for pattern, cause, fix in _HINTS if pattern.search(text)), _NO_HINT)
    cause, fix = _hint_of_frames(error) or (cause, fix)
    if scripted := [name for name, part in method.module.named_modules() if isinstance(part, torch.jit.ScriptModule)]:
        cause = f"{', '.join(scripted)} of the module is TorchScript, which torch.export may not take."
        fix = "make these modules from their Python classes: scripted.state_dict() has the weights."
    if _OPEN_SIZES.search(text) and (operators := _knowing_no_symbols(method)):
        cause = f"{', '.join(operators)} asks its kernel for the shape of the result, and kernels take numbers only."
        fix = (
            "write the shape rule, in the model file or one of its `deps`:"
            f' @torch.library.register_fake("{operators[0]}", allow_override=True) on a function that takes the'
            " operator's arguments and returns an empty result, e.g. torch.empty_like(x)."
        )
    return method.source.failure(what, error, at=method.at, cause=cause, fix=fix, message=message)


def _hint_of_frames(error: BaseException) -> tuple[str, str] | None:
    """Returns the likely cause and the fix for an error that comes from a function of PyTorch or Python."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    for file, holds, hint in _FRAMES:
        if any(frame.f_code.co_filename == str(file) and holds(frame.f_locals) for frame in frames):
            return hint
    return None


def _has_vmap(exported: torch.export.ExportedProgram) -> bool:
    return any(getattr(node.target, "__name__", "") == "_add_batch_dim" for node in exported.graph.nodes)


def _knowing_no_symbols(method: Method) -> list[str]:
    """Returns the called operators without symbolic sizes.

    The fake kernel of a derived functional variant runs the operator's kernel, which knows concrete sizes only.
    """
    with contextlib.suppress(BaseException):
        graph = _trace(replace(method, dynamic_shapes=None), strict=False).graph_module
        called = {
            node.target.name()
            for module in graph.modules()
            for node in (module.graph.nodes if isinstance(module, torch.fx.GraphModule) else ())
            if isinstance(node.target, torch._ops.OpOverload)
        }
        return [
            name
            for name in sorted(called)
            if derived_operator.derived_by(torch._C._dispatch_dump(name))
            and torch._library.simple_registry.singleton.find(name).fake_impl.kernel is None
        ]
    return []


def _trace(method: Method, *, strict: bool) -> torch.export.ExportedProgram:
    example = method.example.separate()
    # With preserved metadata, nodes in branches and loops also have stack traces.
    with torch.no_grad(), fx_traceback.preserve_node_meta(), _without_validation():
        exported = torch.export.export(
            method.module,
            example.args,
            dict(example.kwargs),
            dynamic_shapes=method.dynamic_shapes,
            strict=strict,
        )
    _erase_failed_calls(exported.graph_module)
    _restore_users(exported.graph_module)
    return exported


@contextlib.contextmanager
def _without_validation() -> Iterator[None]:
    """Leaves out the checks of torch.distributions, which depend on values. The samples ran with the checks."""
    before = Distribution._validate_args
    Distribution.set_default_validate_args(False)
    try:
        yield
    finally:
        Distribution.set_default_validate_args(before)


def _erase_failed_calls(module: torch.fx.GraphModule) -> None:
    """Erases calls that raised, as in `try: y = x.view(3, -1)`. The trace has no result for them."""
    for one in module.modules():
        if not isinstance(one, torch.fx.GraphModule):
            continue
        for node in one.graph.nodes:
            is_call = isinstance(node.target, torch._ops.OpOverload) and node.target._schema.returns
            if is_call and node.meta.get("val") is None and not node.users:
                one.graph.erase_node(node)


def _restore_users(module: torch.fx.GraphModule) -> None:
    """Makes each node a user of its arguments.

    Where torch.autocast begins, PyTorch 2.13 forgets who else uses the value that goes in, if this is the only one: the
    function `node_inline_` clears the users. A graph pass would take this value for a value with one user.
    """
    for one in module.modules():
        for node in one.graph.nodes if isinstance(one, torch.fx.GraphModule) else ():
            for argument in node.all_input_nodes:
                argument.users.setdefault(node)


def _written_constants(exported: torch.export.ExportedProgram) -> list[str]:
    """Returns the constants that an exported graph writes to. A program would lose such a write."""
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
            raise InputError.of(
                method.at,
                f"{method.name}() returns {len(sample.outputs)} values on sample {index}, nested as"
                f" {sample.output_spec}, but the exported program {exported.call_spec.out_spec}",
                "the structure of the result depends on the inputs or on the state of the module.",
                "return the same structure from every call.",
                id="varying-outputs",
            )
