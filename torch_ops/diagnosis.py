"""Converts exceptions of PyTorch in a check to findings about the operator."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch

from diagnostics.errors import Finding
from export.user import fake_kernel
from export.user.messages import condense
from torch_ops.sample_file import Samples

_SHOWN = 300  # characters of PyTorch's own message, beside ours


@dataclass(frozen=True)
class _Mistake:
    """A mistake that a message of PyTorch identifies.

    Attributes:
        pattern: the pattern of the exception's class and message.
        found: the mistake, after the operator's name. May have groups of the pattern.
        cause: the likely cause.
        fix: the fix. May have the operator and groups of the pattern.
        id: a file of diagnostics/kinds.
    """

    pattern: re.Pattern[str]
    found: str
    cause: str
    fix: Callable[[torch._ops.OpOverload, tuple[str, ...]], str]
    id: str


def _declare_mutation(operator: torch._ops.OpOverload, groups: tuple[str, ...]) -> str:
    (argument,) = groups
    schema = str(operator._schema)
    letter = next(letter for letter in "abcdefghijklmnopqrstuvwxyz" if f"({letter}" not in schema)
    declared = re.sub(rf"\bTensor(\[\])?(\??) {argument}\b", rf"Tensor({letter}!)\1\2 {argument}", schema, count=1)
    return (
        f'declare it, with mutates_args=("{argument}",) of torch.library.custom_op or in the schema, {declared};'
        f" or have the kernel write to a copy, {argument}.clone()."
    )


_MISTAKES = (
    _Mistake(
        re.compile(r"Could not run '.+?' with arguments from the '(\w+)' backend"),
        "has no kernel for {0}",
        "only kernels for other devices, or for Meta, are registered; or the samples are on another device.",
        lambda operator, groups: (
            f'register one: @torch.library.register_kernel("{operator.name()}", "{groups[0].lower()}"), or in C++'
            f" TORCH_LIBRARY_IMPL({operator.namespace}, {groups[0]}, m)."
        ),
        id="no-kernel",
    ),
    _Mistake(
        re.compile(r"Argument (\w+) is not defined as mutable but was mutated"),
        "writes to its argument {0}, which its schema does not declare",
        "the kernel computes in place. torch.compile relies on the schema: it would reorder or lose the write.",
        _declare_mutation,
        id="undeclared-mutation",
    ),
    _Mistake(
        re.compile(
            r"Argument (\w+) is not defined to alias output|must not also be an input|output has alias annotations"
            r"|outputs_alias_inputs"
        ),
        "returns one of its arguments, or a view of one",
        "the kernel returns what it was given or wrote to. torch.compile takes every result for a new tensor.",
        lambda operator, groups: (
            f"return a copy, {groups[0] or 'x'}.clone(); an operator that writes to an argument returns nothing in its"
            " place: -> ()."
        ),
        id="returned-argument",
    ),
    _Mistake(
        re.compile(r"MetadataMismatchError|does not match the fake|stride mismatch", re.I),
        "has a fake kernel whose result is unlike the real one",
        "the function given to register_fake, or the Meta kernel, makes another shape, dtype or strides.",
        lambda operator, groups: "make the fake kernel's result the real one's in shape, dtype, strides and device.",
        id="wrong-fake-kernel",
    ),
    _Mistake(
        re.compile(r"no autograd formula was registered|does not require grad and does not have a grad_fn"),
        "has no autograd formula, and is called with tensors that require grad",
        "the operator has no backward, and samples ask for one.",
        lambda operator, groups: (
            "register one, torch.library.register_autograd (in C++ a kernel for the key Autograd); or leave"
            " requires_grad out of the samples."
        ),
        id="no-autograd-formula",
    ),
    _Mistake(
        re.compile(r"does not have an autograd kernel defined at an autograd key"),
        "differentiates in its kernel of a backend instead of at the key Autograd",
        "the kernel for CPU or CUDA calls a torch.autograd.Function, or consists of differentiable PyTorch functions.",
        lambda operator, groups: (
            "register the formula with torch.library.register_autograd; an operator out of PyTorch functions is"
            " registered under CompositeImplicitAutograd."
        ),
        id="autograd-in-kernel",
    ),
    _Mistake(
        re.compile(r"GradcheckError"),
        "has an autograd formula that is wrong",
        "the backward function computes something else than the derivative of the kernel.",
        lambda operator, groups: "derive the formula anew; the numbers above say for which input and output.",
        id="wrong-gradient",
    ),
    _Mistake(
        re.compile(r"Batching rule not implemented"),
        "has no rule for torch.vmap, and PyTorch cannot loop for it",
        "PyTorch makes up a loop only for operators that take tensors (no lists of them) and return new ones.",
        lambda operator, groups: f'register one: torch.library.register_vmap("{operator.name()}").',
        id="no-vmap-rule",
    ),
)

# The likely cause and the fix by check, for messages that match no _Mistake.
_OTHERWISE = {
    "eager": (
        "the sample's arguments do not fit the schema, or the kernel refuses them.",
        "make this call work in PyTorch: {call}",
    ),
    "opcheck": (
        "the operator's registration does not keep what PyTorch's compiler relies on.",
        "run it by hand: torch.library.opcheck(torch.ops.{target}, args).",
    ),
    "gradcheck": (
        "the operator's backward raises, or is not differentiable where the sample is.",
        "run torch.autograd.gradcheck(torch.ops.{target}, args) by hand.",
    ),
    "vmap": (
        "the function given to register_vmap does not move the batch dimension as its in_dims and out_dims say.",
        "compare torch.vmap(torch.ops.{target}) with a loop over the batch; without a rule of its own PyTorch loops.",
    ),
    "compile": (
        "the operator's fake or autograd kernel does something that torch.compile cannot trace.",
        'compile a function that calls torch.ops.{target} with torch.compile(fullgraph=True, backend="aot_eager").',
    ),
    "export": (
        "the operator's fake kernel does something that torch.export cannot trace.",
        "export a module that calls torch.ops.{target} with torch.export.export.",
    ),
}


def diagnose(
    check: str, operator: torch._ops.OpOverload, samples: Samples, errors: Mapping[int, BaseException]
) -> Finding:
    """Returns the finding for a failed check.

    Args:
        check: the name of the failed check, e.g. `opcheck.test_schema`.
        operator: the operator.
        samples: the samples of the calls.
        errors: PyTorch's exceptions, by the number of the sample.
    """
    index, error = next(iter(errors.items()))
    at, frames = samples.source.frames(error)
    at = at or samples.at
    on_sample = f"on sample{'s' * (len(errors) > 1)} {', '.join(map(str, errors))}"
    without = fake_kernel.operator_without_fake_kernel(error)
    if without:
        return fake_kernel.finding(at, "PyTorch's compiler", without, frames)
    message = condense(str(error))
    for mistake in _MISTAKES:
        match = mistake.pattern.search(f"{type(error).__name__} {error}")
        if match:
            groups = match.groups()
            return Finding(
                at,
                f"{operator.name()}, {on_sample}, {mistake.found.format(*groups)}",
                mistake.cause,
                mistake.fix(operator, groups),
                (textwrap.shorten(f"{type(error).__name__}: {message}", _SHOWN, placeholder=" ..."), *frames),
                id=mistake.id,
            )
    cause, fix = _OTHERWISE[check.partition(".")[0]]
    call = f"torch.ops.{operator}{samples.inputs[index].shown()}"
    return Finding(
        at,
        f"{check} of {operator.name()} {on_sample} raised {type(error).__name__}: {message}",
        cause,
        fix.format(call=call, target=operator),
        frames,
        id="operator-check-failed",
    )
