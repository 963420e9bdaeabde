"""The comparison of one call with PyTorch."""

import enum
import math
import mmap
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from kernels.testing import tolerances
from kernels.testing.guarded_memory import GuardedMemory
from kernels.testing.judge import OpTester
from kernels.testing.op_call import KernelError
from kernels.testing.references import reference
from kernels.testing.sweep.calls import Call
from kernels.testing.sweep.undefined import crashes, defined

# RESULT for all other operators.
_ROUNDINGS = {
    "aten::_fft_c2c.out": tolerances.Rounding.SUM,
    "aten::_fft_c2r.out": tolerances.Rounding.SUM,
    "aten::_fft_r2c.out": tolerances.Rounding.SUM,
    "aten::grid_sampler_2d.out": tolerances.Rounding.POSITION,
    "quantized_decomposed::mixed_linear.out": tolerances.Rounding.SUM,
    "quantized_decomposed::mixed_mm.out": tolerances.Rounding.SUM,
}
_LARGEST_SIZE = 2**31 - 1  # the sizes of the runtime have 32 bits
_LARGEST_RESULT = 2**28  # bytes of an out tensor


class Outcome(enum.Enum):
    """The outcome of a call."""

    EQUAL = "equal"
    BOTH_REFUSE = "refused by both"
    KERNEL_REFUSES = "refused by the kernel only"
    KERNEL_ACCEPTS = "refused by PyTorch only"
    WRONG = "wrong"
    NO_CALL = "not to be expressed in the runtime"


class Verdict(NamedTuple):
    """The outcome of a call, with its reason.

    Attributes:
      outcome: the outcome.
      reason: the reason.
      shape: the shape of PyTorch's first result, if PyTorch has a result.
    """

    outcome: Outcome
    reason: str = ""
    shape: tuple[int, ...] = ()


class Trial:
    """Compares calls of one operator with PyTorch.

    Args:
      operator: the registered name.
      progress: memory for the description of the current call. The parent reads it if this process crashes.
    """

    def __init__(self, operator: str, progress: mmap.mmap) -> None:
        self._tester = OpTester(operator, **reference(operator))
        functional = self._tester.eager.functional
        # Operators that are not pointwise may read elements again after writing them.
        self._pointwise = functional is not None and torch.Tag.pointwise in functional.tags
        self._rounding = _ROUNDINGS.get(operator, tolerances.Rounding.RESULT)
        self._progress = progress
        self._guard = GuardedMemory() if self._tester.out_names else None

    def judge(self, number: int, call: Call) -> Verdict:
        """Calls PyTorch and the kernel and compares the results."""
        self._note(number, "PyTorch", call)
        arguments = call.with_tensors(torch.clone)  # operators may write their first argument
        try:
            expected = None if crashes(call) else self._expect(arguments)
        except Exception:  # PyTorch refuses the arguments with exceptions of any type
            expected = None
        if expected and any(size < 0 for result in expected for size in result.shape):
            expected = None  # PyTorch does not check all sizes of empty tensors
        tensors = [*call.tensors, *(expected or [])]
        if any(size > _LARGEST_SIZE for tensor in tensors for size in tensor.shape):
            return Verdict(Outcome.NO_CALL, "sizes of more than 32 bits")
        if any(
            math.prod(size + 1 for size in tensor.shape) * tensor.itemsize > _LARGEST_RESULT
            for tensor in expected or ()
        ):
            return Verdict(Outcome.NO_CALL, "out tensors that take too much memory")
        self._note(number, "the kernel", call)
        verdict = self._judge(call, expected)
        return verdict._replace(shape=tuple(expected[0].shape)) if expected else verdict

    def _judge(self, call: Call, expected: list[torch.Tensor] | None) -> Verdict:
        try:
            if expected is None:
                return self._judge_refused(call)
            return self._judge_results(call, expected)
        except KernelError as error:
            if error.code != KernelError.INVALID_ARGUMENT or not error.log:
                return Verdict(Outcome.WRONG, f"fails without a reason: {error}")
            should_fail = expected is None or not _fit(call, expected)
            return Verdict(Outcome.BOTH_REFUSE if should_fail else Outcome.KERNEL_REFUSES, error.log)
        except TypeError as error:  # for example a complex number, which the runtime's Scalar does not support
            return Verdict(Outcome.NO_CALL, str(error))
        except AssertionError as error:
            return Verdict(Outcome.WRONG, str(error))

    def _expect(self, call: Call) -> list[torch.Tensor]:
        if self._tester.out_names:
            return self._tester.expect(*call.args, **call.kwargs, **call.options)
        changed = call.with_tensors(torch.clone)
        assert self._tester.eager.overload is not None
        self._tester.eager.overload(*changed.args, **changed.kwargs)
        return [changed.args[0]]

    def _judge_refused(self, call: Call) -> Verdict:
        outs = self._tester.placeholders(call.args, {**call.kwargs, **call.options})
        self._tester.run(*call.args, **call.kwargs, outs=outs, guard=self._guard)
        return Verdict(Outcome.KERNEL_ACCEPTS)

    def _judge_results(self, call: Call, expected: list[torch.Tensor]) -> Verdict:
        outs = expected if self._tester.out_names else []
        options: dict[str, Any] = {
            "static": call.static,
            "aliased": call.aliased and self._pointwise,
            "guard": self._guard,
        }
        if call.out_sizes is not None:
            outs = [torch.empty(call.out_sizes, dtype=out.dtype) for out in outs]
        elif call.out_dim_order is not None and len(call.out_dim_order) in {result.dim() for result in expected}:
            options["out_dim_order"] = call.out_dim_order
        actual = self._tester.run(*call.args, **call.kwargs, outs=outs, **options)
        if not self._tester.out_names:
            actual = [call.args[0]]
        elif not _fit(call, expected):
            return Verdict(Outcome.WRONG, "writes results that do not fit the out tensors")
        actual, expected = defined(call, actual), defined(call, expected)
        for got, wanted in zip(actual, expected, strict=True):
            rtol, atol = tolerances.tolerance(self._rounding, [wanted.dtype])
            try:
                torch.testing.assert_close(got, wanted, rtol=rtol, atol=atol, equal_nan=True)
            except AssertionError:
                if not self._no_less_exact(call, actual, expected):
                    raise
        return Verdict(Outcome.EQUAL)

    def _no_less_exact(self, call: Call, actual: list[torch.Tensor], expected: list[torch.Tensor]) -> bool:
        """Whether the kernel's results are as close to PyTorch's results in Double as PyTorch's own results."""
        wide = {
            dtype: torch.complex128 if dtype.is_complex else torch.float64
            for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.complex32, torch.complex64)
        }
        widened = call.with_tensors(lambda tensor: tensor.to(wide.get(tensor.dtype, tensor.dtype)))
        try:
            exact = self._expect(widened)
        except Exception:  # PyTorch refuses Double with exceptions of any type
            return False
        for got, wanted, true in zip(actual, expected, exact, strict=True):
            if wanted.dtype not in wide or not got.shape == wanted.shape == true.shape:
                if not torch.equal(got, wanted):
                    return False
                continue
            rtol, atol = tolerances.tolerance(self._rounding, [wanted.dtype])
            allowed = 2 * (wanted.to(true.dtype) - true).abs() + atol + rtol * true.abs()
            same = torch.isclose(got.to(true.dtype), wanted.to(true.dtype), rtol=0, atol=0, equal_nan=True)
            if not bool((same | ((got.to(true.dtype) - true).abs() <= allowed)).all()):
                return False
        return True

    def _note(self, number: int, phase: str, call: Call) -> None:
        text = f"{number}\n{phase}\n{call}".encode()[: len(self._progress) - 1]
        self._progress[: len(text) + 1] = text + b"\0"


def _fit(call: Call, expected: Sequence[torch.Tensor]) -> bool:
    """Whether the results fit into out tensors with the call's sizes."""
    sizes = call.out_sizes
    if sizes is None:
        return True
    if call.static:
        return all(tuple(result.shape) == sizes for result in expected)
    room = math.prod(size + 1 for size in sizes)  # as in OutBuffer
    return all(result.dim() == len(sizes) and result.numel() <= room for result in expected)


def read_progress(text: str) -> tuple[int, str, str]:
    """The number, the phase and the call that a Trial has written last."""
    number, phase, call = text.split("\n", 2)
    return int(number), phase, call
