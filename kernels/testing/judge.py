"""Compares single calls of kernels with PyTorch."""

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

from kernels.testing import eager, op_call, options
from kernels.testing.description import describe_call, describe_value
from kernels.testing.op_call import KernelError, OpCall, OutBuffer
from kernels.testing.options import Options

# Set by tools/sanitize. Each call runs twice at the same time, so that the thread sanitizer detects shared state.
_CONCURRENTLY = "KERNELS_CONCURRENTLY"
# The numbers of threads whose results are compared with those of one thread.
_THREAD_COUNTS = (2, 3, 7)


class OpTester:
    """Calls one operator's kernel and PyTorch with the same arguments.

    All methods take the arguments of the operator without the out arguments, and Options as keyword arguments.

    Args:
      name: the registered name with its namespace: "aten::add.out".
      schema: the schema of the operator; default: PyTorch's schema of this name.
      reference: computes the expected results from the arguments without the out arguments (all by keyword if given
        so); default: PyTorch's out variant, with out tensors of the dtypes of the functional variant's results.
    """

    def __init__(self, name: str, *, schema: str | None = None, reference: Callable[..., Any] | None = None) -> None:
        self.name = name
        self.eager = eager.EagerOperator(name, schema, reference)
        self.out_names = self.eager.out_names
        self.accepted = 0
        self.rejected = 0

    def expect(self, *args: Any, **kwargs: Any) -> list[torch.Tensor]:
        """PyTorch's results. Raises the exceptions that PyTorch raises."""
        how, kwargs = options.split(Options, kwargs)
        return self.eager.results(*args, out_dtype=how.out_dtype, **kwargs)

    def accepts(self, *args: Any, **kwargs: Any) -> bool:
        """Whether PyTorch accepts the arguments."""
        try:
            self.expect(*args, **kwargs)
        except Exception:  # PyTorch refuses the arguments with exceptions of any type
            return False
        return True

    def run(self, *args: Any, outs: Sequence[torch.Tensor], **kwargs: Any) -> list[torch.Tensor]:
        """The kernel's results.

        Raises KernelError if the kernel fails or writes outside its temporary memory, and AssertionError if it writes
        outside its output.

        Args:
          *args: the operator's arguments.
          outs: tensors with the expected dtypes and shapes.
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
        """A call of the kernel that can run several times. The arguments are those of `run`."""
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
        """Tests that the kernel's results equal PyTorch's in values, dtypes and shapes.

        Integers and Bools are compared exactly, floats within the tolerance. NaNs equal NaNs.
        """
        self._compare(self.expect(*args, **kwargs), args, kwargs)

    def check_threads(self, *args: Any, outs: Sequence[torch.Tensor] | None = None, **kwargs: Any) -> None:
        """Tests that the kernel divides its work among threads and has the same results for all numbers of threads.

        Args:
          *args: the operator's arguments, large enough for a division of the work.
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
                raise AssertionError(f"the kernel does not divide its work among threads: {where}")
            for result, wanted in zip(results, expected, strict=True):
                if not torch.equal(_bits(result), wanted):
                    raise AssertionError(f"the result differs from the result of one thread: {where}")
        self.accepted += 1

    def check_rejected(self, *args: Any, outs: Sequence[torch.Tensor] | None = None, **kwargs: Any) -> None:
        """Tests that the kernel fails with an error, as PyTorch does. With `outs`, PyTorch is not called."""
        if outs is None:
            if self.accepts(*args, **kwargs):
                raise AssertionError(f"PyTorch accepts {self._describe(args, kwargs)}")
            outs = self.placeholders(args, kwargs)
        self._check_fails(args, kwargs, outs)

    def judge(self, *args: Any, **kwargs: Any) -> None:
        """`check` if PyTorch accepts the arguments, else `check_rejected`."""
        try:
            expected = self.expect(*args, **kwargs)
        except Exception:  # PyTorch refuses the arguments with exceptions of any type
            self.judge_refused(*args, **kwargs)
        else:
            self.judge_results(expected, *args, **kwargs)

    def judge_results(self, expected: list[torch.Tensor], *args: Any, **kwargs: Any) -> None:
        """Compares the kernel's results with `expected`, as `check` does."""
        self._compare(expected, args, kwargs)

    def judge_refused(self, *args: Any, **kwargs: Any) -> None:
        """Tests that the kernel fails with an error for arguments that PyTorch refuses."""
        _, arguments = options.split(Options, kwargs)  # the options only affect results
        self._check_fails(args, arguments, self.placeholders(args, kwargs))

    def judge_out_dtype(self, *args: Any, out_dtype: torch.dtype, **kwargs: Any) -> None:
        """`judge`, except that the kernel may convert its result if PyTorch only refuses the out dtype.

        The kernel may only convert to a dtype to which PyTorch can cast the result.
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
            raise AssertionError(f"the kernel accepts arguments that it should reject: {self._describe(args, kwargs)}")

    def _fails(self, args: Sequence[Any], kwargs: dict[str, Any], outs: Sequence[torch.Tensor]) -> bool:
        try:
            self.run(*args, outs=outs, **kwargs)
        except KernelError as error:
            if error.code != KernelError.INVALID_ARGUMENT or not error.log:
                raise AssertionError(
                    f"expected InvalidArgument and a logged reason: {self._describe(args, kwargs)}: {error}"
                ) from None
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
        # With an out dtype, PyTorch first rounds to the dtype of the result, then to the out dtype.
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
        """Out tensors for a call that must fail, with the dtype and the shape of the first tensor."""
        tensors = (value for value in eager.flatten([*args, *kwargs.values()]) if isinstance(value, torch.Tensor))
        first = next(tensors, torch.empty(1))
        return [torch.empty(first.shape, dtype=kwargs.get("out_dtype") or first.dtype) for _ in self.out_names]

    def _describe(self, args: Sequence[Any], kwargs: dict[str, Any]) -> str:
        return describe_call(self.name, args, options.split(Options, kwargs)[1])


def _bits(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.contiguous().flatten().view(torch.uint8)
