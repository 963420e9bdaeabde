"""Judges single calls of kernels by PyTorch."""

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

from kernels.testing import eager, op_call, options
from kernels.testing.description import describe_call, describe_value
from kernels.testing.op_call import KernelError, OpCall, OutBuffer
from kernels.testing.options import Options

# Set by tools/sanitize: every call is made twice at the same time, and the thread sanitizer sees what calls share.
_CONCURRENTLY = "KERNELS_CONCURRENTLY"
# Counts of threads whose results are compared with those of one.
_THREAD_COUNTS = (2, 3, 7)


class OpTester:
    """Calls one operator's kernel and PyTorch with the same arguments.

    All methods take the operator's arguments without the out arguments, and among them, by keyword, Options.

    Args:
      name: the registered name with its namespace: "aten::add.out".
      schema: the operator's schema; default: PyTorch's own for that name.
      reference: computes the expected results, called with the arguments without the out arguments (all by keyword
        if given so); default: PyTorch's out variant, with out tensors of the dtypes that its functional variant gives.
    """

    def __init__(self, name: str, *, schema: str | None = None, reference: Callable[..., Any] | None = None) -> None:
        self.name = name
        self.eager = eager.EagerOperator(name, schema, reference)
        self.out_names = self.eager.out_names
        self.accepted = 0
        self.rejected = 0

    def expect(self, *args: Any, **kwargs: Any) -> list[torch.Tensor]:
        """PyTorch's results. Raises what PyTorch raises."""
        how, kwargs = options.split(Options, kwargs)
        return self.eager.results(*args, out_dtype=how.out_dtype, **kwargs)

    def accepts(self, *args: Any, **kwargs: Any) -> bool:
        """Whether PyTorch takes the arguments."""
        try:
            self.expect(*args, **kwargs)
        except Exception:  # Whatever type: PyTorch refuses.
            return False
        return True

    def run(self, *args: Any, outs: Sequence[torch.Tensor], **kwargs: Any) -> list[torch.Tensor]:
        """The kernel's results. Raises KernelError where it fails, or writes beyond its temporary memory;
        AssertionError where it writes beyond its output.

        Args:
          *args: the operator's arguments.
          outs: tensors of the dtypes and shapes that are expected.
          **kwargs: the operator's arguments, and Options.
        """
        with self.prepare(*args, outs=outs, **kwargs) as call:
            call.guard_memory()
            try:
                if _CONCURRENTLY in os.environ and not self.eager.writes_arguments:
                    with self.prepare(*args, outs=outs, **kwargs) as other:
                        call.run(beside=other)
                else:
                    call.run()
            finally:
                call.check_guards()
            return call.results()

    @contextlib.contextmanager
    def prepare(self, *args: Any, outs: Sequence[torch.Tensor], **kwargs: Any) -> Iterator[OpCall]:
        """A call of the kernel, to run as often as one likes. The arguments are those of `run`."""
        how, kwargs = options.split(Options, kwargs)
        buffers = [OutBuffer(out, how.out_dim_order, how.static) for out in outs]
        aliased = buffers[0] if how.aliased else None
        with OpCall(self.name, how.guard) as call:
            for argument, value in self.eager.bind(args, kwargs):
                if aliased is not None and aliased.takes(value):
                    call.push_aliased(value, aliased)
                    aliased = None
                else:
                    call.push(argument.type, value)
            call.push_outs(buffers, as_list=self.eager.out_is_list)
            yield call

    def check(self, *args: Any, **kwargs: Any) -> None:
        """The kernel's results equal PyTorch's in values, dtypes and shapes: integers and Bools exactly, floats within
        tolerance. NaNs equal NaNs.
        """
        self._compare(self.expect(*args, **kwargs), args, kwargs)

    def check_threads(self, *args: Any, outs: Sequence[torch.Tensor] | None = None, **kwargs: Any) -> None:
        """The kernel divides its work among threads, and its results have the same bits for every count of them.

        Args:
          *args: the operator's arguments: so large that the work is divided.
          outs: tensors of the dtypes and shapes of the results; default: PyTorch's results.
          **kwargs: the operator's arguments, and Options.
        """
        if outs is None:
            outs = self.expect(*args, **kwargs)
        with op_call.threads(1):
            expected = [_bits(result) for result in self.run(*args, outs=outs, **kwargs)]
        for count in _THREAD_COUNTS:
            op_call.take_part_count()
            with op_call.threads(count):
                results = self.run(*args, outs=outs, **kwargs)
            where = f"{self._describe(args, kwargs)}, {count} threads"
            if op_call.take_part_count() < 2:
                raise AssertionError(f"the kernel divides nothing: {where}")
            for result, wanted in zip(results, expected, strict=True):
                if not torch.equal(_bits(result), wanted):
                    raise AssertionError(f"the result is not that of one thread: {where}")
        self.accepted += 1

    def check_rejected(self, *args: Any, outs: Sequence[torch.Tensor] | None = None, **kwargs: Any) -> None:
        """The kernel fails with an error, as PyTorch does (unless `outs` says what to give the kernel)."""
        if outs is None:
            if self.accepts(*args, **kwargs):
                raise AssertionError(f"PyTorch accepts {self._describe(args, kwargs)}")
            outs = self.placeholders(args, kwargs)
        self._check_fails(args, kwargs, outs)

    def judge(self, *args: Any, **kwargs: Any) -> None:
        """`check` if PyTorch accepts the arguments, else `check_rejected`."""
        try:
            expected = self.expect(*args, **kwargs)
        except Exception:  # Whatever type: PyTorch refuses.
            self.judge_refused(*args, **kwargs)
        else:
            self.judge_results(expected, *args, **kwargs)

    def judge_results(self, expected: list[torch.Tensor], *args: Any, **kwargs: Any) -> None:
        """The kernel's results equal `expected`, as `check` says."""
        self._compare(expected, args, kwargs)

    def judge_refused(self, *args: Any, **kwargs: Any) -> None:
        """The kernel fails with an error for arguments that PyTorch refuses."""
        _, arguments = options.split(Options, kwargs)  # The options are about results.
        self._check_fails(args, arguments, self.placeholders(args, kwargs))

    def judge_out_dtype(self, *args: Any, out_dtype: torch.dtype, **kwargs: Any) -> None:
        """`judge`; but where PyTorch refuses nothing except the out dtype, the kernel may convert its result: to a
        dtype to which the result can be cast.
        """
        if not self.accepts(*args, **kwargs) or self.accepts(*args, out_dtype=out_dtype, **kwargs):
            self.judge(*args, out_dtype=out_dtype, **kwargs)
            return
        natural = self.expect(*args, **kwargs)
        expected = [result.to(out_dtype) for result in natural]
        if self._fails(args, kwargs, expected):
            return
        if not all(torch.can_cast(result.dtype, out_dtype) for result in natural):
            raise AssertionError(f"the kernel casts its result to {out_dtype}: {self._describe(args, kwargs)}")
        self._compare(expected, args, {**kwargs, "out_dtype": out_dtype})

    def _check_fails(self, args: Sequence[Any], kwargs: dict[str, Any], outs: Sequence[torch.Tensor]) -> None:
        if not self._fails(args, kwargs, outs):
            raise AssertionError(f"the kernel accepts what it should reject: {self._describe(args, kwargs)}")

    def _fails(self, args: Sequence[Any], kwargs: dict[str, Any], outs: Sequence[torch.Tensor]) -> bool:
        try:
            self.run(*args, outs=outs, **kwargs)
        except KernelError as error:
            if error.code != KernelError.INVALID_ARGUMENT or not error.log:
                raise AssertionError(f"the kernel gives no reason: {self._describe(args, kwargs)}: {error}") from None
            self.rejected += 1
            return True
        return False

    def _compare(self, expected: list[torch.Tensor], args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        results = ", ".join(describe_value(value) for value in expected)
        where = f"{self._describe(args, kwargs)} -> {results}"
        try:
            actual = self.run(*args, outs=expected, **kwargs)
        except KernelError as error:
            raise AssertionError(f"the kernel fails for {where}: {error}") from None
        how, arguments = options.split(Options, kwargs)
        # Where an out dtype is asked for, PyTorch rounds to the dtype that the result would have by itself, then to it.
        rounded_to: list[torch.dtype] = []
        if how.out_dtype is not None:
            with contextlib.suppress(Exception):  # Some operators have no result without an out dtype.
                rounded_to = [result.dtype for result in self.eager.results(*args, **arguments)]

        def prefixed(message: str) -> str:
            return f"{where}: {message}"

        for result, wanted in zip(actual, expected, strict=True):
            rtol, atol = how.tolerance([wanted.dtype, *rounded_to])
            torch.testing.assert_close(result, wanted, rtol=rtol, atol=atol, equal_nan=True, msg=prefixed)
        self.accepted += 1

    def placeholders(self, args: Sequence[Any], kwargs: dict[str, Any]) -> list[torch.Tensor]:
        """Out tensors for a call that must fail: of the first tensor's dtype and shape."""
        tensors = (value for value in eager.flatten([*args, *kwargs.values()]) if isinstance(value, torch.Tensor))
        first = next(tensors, torch.empty(1))
        return [torch.empty(first.shape, dtype=kwargs.get("out_dtype") or first.dtype) for _ in self.out_names]

    def _describe(self, args: Sequence[Any], kwargs: dict[str, Any]) -> str:
        return describe_call(self.name, args, options.split(Options, kwargs)[1])


def _bits(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.contiguous().flatten().view(torch.uint8)
