"""Checks an operator on samples: all of torch.library.opcheck, and the composition with other features of PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch.utils import _pytree as pytree

from diagnostics.errors import Finding
from export.user.inputs import Inputs
from torch_ops.diagnosis import diagnose
from torch_ops.sample_file import Samples

_BATCH = 3


@dataclass(frozen=True)
class Options:
    """The checks to run besides opcheck.

    Attributes:
        gradcheck: whether to compare the autograd formula with numerical differentiation.
        vmap: whether to compare torch.vmap with a loop.
        compile: whether to compare torch.compile(fullgraph=True) with eager.
        export: whether to compare torch.export with eager.
        backend: the backend of torch.compile.
    """

    gradcheck: bool = False
    vmap: bool = False
    compile: bool = False
    export: bool = False
    backend: str = "aot_eager"


@dataclass(frozen=True)
class Result:
    """The result of a check.

    Attributes:
        check: the check's name.
        finding: the finding of a failed check; otherwise None.
        skipped: the reason of a skipped check; otherwise empty.
        note: a note for the report.
    """

    check: str
    finding: Finding | None = None
    skipped: str = ""
    note: str = ""

    @property
    def status(self) -> str:
        return "FAILED" if self.finding else "SKIPPED" if self.skipped else "PASSED"


def run(operator: torch._ops.OpOverload, samples: Samples, options: Options) -> Iterable[Result]:
    """Runs the checks. Yields one result after another. If an eager call raises, no other check runs."""
    checker = _Checker(operator, samples)
    eager = checker.check("eager", checker.eager)
    yield eager
    if eager.finding:
        return
    yield from checker.opcheck()
    if options.gradcheck:
        yield checker.gradcheck()
    if options.vmap:
        yield checker.vmap()
    if options.compile:
        yield checker.check("compile", lambda inputs: checker.compile(inputs, options.backend))
    if options.export:
        yield checker.check("export", checker.export)


class _Checker:
    def __init__(self, operator: torch._ops.OpOverload, samples: Samples) -> None:
        self._operator = operator
        self._samples = samples

    def check(self, name: str, on_sample: Callable[[Inputs], None], samples: Sequence[int] | None = None) -> Result:
        """Runs a check on some samples, or on all. `on_sample` raises if the check fails."""
        errors: dict[int, BaseException] = {}
        for index, inputs in enumerate(self._samples.inputs):
            if samples is None or index in samples:
                try:
                    on_sample(inputs)
                except Exception as error:
                    errors[index] = error
        return self._result(name, errors)

    def _result(self, name: str, errors: dict[int, BaseException]) -> Result:
        if not errors:
            return Result(name)
        return Result(name, diagnose(name, self._operator, self._samples, errors))

    def eager(self, inputs: Inputs) -> None:
        function, tensors = _tensor_function(self._operator, inputs)
        function(*_copies(tensors))

    def opcheck(self) -> Iterable[Result]:
        errors: dict[str, dict[int, BaseException]] = {}
        for index, inputs in enumerate(self._samples.inputs):
            outcomes: dict[str, Any] = torch.library.opcheck(
                self._operator, inputs.args, dict(inputs.kwargs), raise_exception=False
            )
            for test, outcome in outcomes.items():
                failed = errors.setdefault(test, {})
                if isinstance(outcome, BaseException):
                    failed[index] = outcome
        for test, failed in errors.items():
            name = f"opcheck.{test}"
            if test == "test_autograd_registration" and not any(map(_requires_grad, self._samples.inputs)):
                yield Result(name, skipped="no tensor of the samples requires grad")
            else:
                yield self._result(name, failed)

    def gradcheck(self) -> Result:
        double = (torch.float64, torch.complex128)
        suitable = [
            index
            for index, inputs in enumerate(self._samples.inputs)
            if _requires_grad(inputs) and all(t.dtype in double for t in _tensors(inputs) if t.requires_grad)
        ]
        if not suitable:
            at = self._samples.at
            return Result(
                "gradcheck",
                Finding(
                    at,
                    "no sample has float64 tensors that require grad, which gradcheck needs",
                    "the samples are of float32, in which numerical differentiation is too inexact to judge by.",
                    "add a sample with such tensors, e.g. torch.randn(3, dtype=torch.float64, requires_grad=True).",
                    id="no-gradcheck-sample",
                ),
            )
        return self.check("gradcheck", self._gradcheck, suitable)

    def _gradcheck(self, inputs: Inputs) -> None:
        function, tensors = _tensor_function(self._operator, inputs)

        def differentiable(*given: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return tuple(t for t in function(*given) if isinstance(t, torch.Tensor) and t.requires_grad)

        torch.autograd.gradcheck(differentiable, tuple(_copies(tensors)))

    def vmap(self) -> Result:
        suitable = [index for index, inputs in enumerate(self._samples.inputs) if _tensors(inputs)]
        if not suitable:
            return Result("vmap", skipped="no sample has tensors")
        # The note of the result reports PyTorch's fallback to a loop, in place of PyTorch's warning.
        torch._C._functorch._set_vmap_fallback_warning_enabled(False)  # type: ignore[attr-defined]
        result = self.check("vmap", self._vmap, suitable)
        has_rule = torch._C._dispatch_has_kernel_for_dispatch_key(self._operator.name(), "FuncTorchBatched")
        loops = "by PyTorch's own loop, as the operator has no rule" if not has_rule and not result.finding else ""
        return replace(result, note=loops)

    def _vmap(self, inputs: Inputs) -> None:
        function, tensors = _tensor_function(self._operator, inputs)
        batches = [_batch(tensor.detach()) for tensor in tensors]
        every = range(len(tensors))
        # First, all tensors have a batch dimension, the first one. Then each tensor alone has one, the last one. For an
        # operator that writes to its arguments, all tensors need a batch dimension, since vmap cannot write to others.
        alone = [[*every]] if self._operator._schema.is_mutable else [[index] for index in every]
        for batched, dim in [([*every], 0), *((some, -1) for some in alone)]:
            given = [torch.stack(batches[i], dim) if i in batched else tensors[i].detach() for i in every]
            results = torch.vmap(function, tuple(dim if i in batched else None for i in every))(*given)
            apart = [
                function(*(batches[i][entry] if i in batched else tensors[i].detach() for i in every))
                for entry in range(_BATCH)
            ]
            expected = tuple(torch.stack(values) for values in zip(*apart, strict=True))
            torch.testing.assert_close(results, expected, equal_nan=True)

    def compile(self, inputs: Inputs, backend: str) -> None:
        function, tensors = _tensor_function(self._operator, inputs)
        torch._dynamo.reset()
        compiled = torch.compile(function, fullgraph=True, backend=backend)
        _assert_same(_results_and_gradients(compiled, tensors), _results_and_gradients(function, tensors))

    def export(self, inputs: Inputs) -> None:
        function, tensors = _tensor_function(self._operator, inputs)
        tensors = [tensor.detach() for tensor in tensors]
        exported = torch.export.export(_Module(function), tuple(_copies(tensors)))
        _assert_same(exported.module()(*_copies(tensors)), function(*_copies(tensors)))


class _Module(torch.nn.Module):
    def __init__(self, function: Callable[..., tuple[Any, ...]]) -> None:
        super().__init__()
        self._function = function

    def forward(self, *tensors: torch.Tensor) -> tuple[Any, ...]:
        return self._function(*tensors)


def _tensor_function(
    operator: torch._ops.OpOverload, inputs: Inputs
) -> tuple[Callable[..., tuple[Any, ...]], list[torch.Tensor]]:
    """Returns a call of the operator as a pure function of tensors, and the tensors of the sample.

    The function returns the flattened results. For an operator that writes to its arguments, the function also returns
    the arguments after the call.
    """
    leaves, spec = inputs.flatten()
    places = [index for index, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
    values = [None if index in places else leaf for index, leaf in enumerate(leaves)]
    mutable = operator._schema.is_mutable

    def function(*tensors: torch.Tensor) -> tuple[Any, ...]:
        given = [tensor.clone() for tensor in tensors] if mutable else tensors
        filled = list(values)
        for place, tensor in zip(places, given, strict=True):
            filled[place] = tensor
        args, kwargs = pytree.tree_unflatten(filled, spec)
        results = [result for result in pytree.tree_leaves(operator(*args, **kwargs)) if result is not None]
        return (*results, *(given if mutable else ()))

    return function, [leaves[place] for place in places]


def _tensors(inputs: Inputs) -> list[torch.Tensor]:
    return [leaf for leaf in inputs.flatten()[0] if isinstance(leaf, torch.Tensor)]


def _requires_grad(inputs: Inputs) -> bool:
    return any(tensor.requires_grad for tensor in _tensors(inputs))


def _copies(tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    return [tensor.detach().clone().requires_grad_(tensor.requires_grad) for tensor in tensors]


def _batch(tensor: torch.Tensor) -> list[torch.Tensor]:
    """Returns a batch of tensors: copies of the tensor, for floating-point and complex dtypes scaled by powers of 2."""
    scales = range(_BATCH) if tensor.is_floating_point() or tensor.is_complex() else [0] * _BATCH
    return [tensor / 2**scale if scale else tensor for scale in scales]


def _results_and_gradients(
    function: Callable[..., tuple[Any, ...]], tensors: Sequence[torch.Tensor]
) -> tuple[Any, ...]:
    given = _copies(tensors)
    results = function(*given)
    learned = [tensor for tensor in given if tensor.requires_grad]
    outputs = [r.abs().sum() for r in results if isinstance(r, torch.Tensor) and r.requires_grad]
    gradients = torch.autograd.grad(sum(outputs[1:], outputs[0]), learned, allow_unused=True) if outputs else ()
    return (*results, *(gradient for gradient in gradients if gradient is not None))


def _assert_same(actual: Sequence[Any], expected: Sequence[Any]) -> None:
    torch.testing.assert_close(tuple(actual), tuple(expected), equal_nan=True)
