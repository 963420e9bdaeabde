"""Sweeps of test cases that all operators of a kind must pass."""

import contextlib
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar

import torch
from absl import logging
from absl.testing import absltest

from kernels.testing import inputs, options
from kernels.testing.inputs import Inputs
from kernels.testing.judge import OpTester
from kernels.testing.tolerances import Rounding


class OpTest(absltest.TestCase):
    """The base class of the tests of an operator, with sweeps over dtypes, shapes, dim orders and out dtypes.

    A sweep compares each case with PyTorch, and fails if PyTorch accepts none. The keyword arguments of a sweep are
    Inputs, Options, and arguments of the operator.
    """

    _testers: ClassVar[list[OpTester]] = []

    def op(self, name: str, **kwargs: Any) -> OpTester:
        """An OpTester that counts its cases."""
        tester = OpTester(name, **kwargs)
        type(self)._testers.append(tester)
        return tester

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls._testers = []

    @classmethod
    def tearDownClass(cls) -> None:
        for name in sorted({tester.name for tester in cls._testers}):
            testers = [tester for tester in cls._testers if tester.name == name]
            accepted = sum(tester.accepted for tester in testers)
            rejected = sum(tester.rejected for tester in testers)
            logging.info("%s: %d results as PyTorch's, %d calls rejected", name, accepted, rejected)
        super().tearDownClass()

    def check_unary(self, tester: OpTester, *extra: Any, leading: Sequence[Any] = (), **kwargs: Any) -> None:
        """op(*leading, tensor, *extra) over dtypes, shapes, dim orders, special values and out dtypes."""
        given, kwargs = options.split(Inputs, kwargs)
        with self._some_accepted(tester):
            for dtype in given.dtypes:
                for shape in inputs.SHAPES:
                    for order in inputs.dim_orders(len(shape)):
                        x = given.tensor(shape, dtype, order)
                        tester.judge(*leading, x, *extra, **kwargs)
                        tester.judge(*leading, x, *extra, out_dim_order=order, static=True, **kwargs)
                if given.special:
                    tester.judge(*leading, inputs.special_values(dtype), *extra, **kwargs)
                for out_dtype in given.out_dtypes:
                    # Non-negative integers, because the conversion of other values is not defined for all dtypes.
                    x = given.tensor((2, 3), dtype, at_least=0)
                    tester.judge_out_dtype(*leading, x, *extra, out_dtype=out_dtype, **kwargs)
            for dtype in given.refused_dtypes:
                if dtype in inputs.UNSIGNED_DTYPES and any(isinstance(value, float) for value in extra):
                    continue  # unsigned integers and a float may have a common dtype that the operator supports
                x = torch.ones((2, 3), dtype=dtype)
                tester.check_rejected(*leading, x, *extra, outs=[x] * len(tester.out_names), **kwargs)
            of_dtypes = ((*leading, given.tensor((2, 3), dtype), *extra) for dtype in given.dtypes)
            self._check_out_shape_is_judged(tester, of_dtypes, **kwargs)

    def check_binary(self, tester: OpTester, *extra: Any, **kwargs: Any) -> None:
        """op(tensor, tensor, *extra) over pairs of dtypes, broadcasting, dim orders, special values and out dtypes."""
        given, kwargs = options.split(Inputs, kwargs)
        with self._some_accepted(tester):
            for a_dtype, b_dtype in itertools.product(given.dtypes, repeat=2):
                for a_shape, b_shape in inputs.PROMOTION_SHAPES:
                    a, b = given.tensor(a_shape, a_dtype), given.tensor(b_shape, b_dtype)
                    small = a_dtype != b_dtype and torch.result_type(a, b) in (torch.float16, torch.bfloat16)
                    rounding = {"rounding": Rounding.OPERANDS} if small else {}
                    tester.judge(a, b, *extra, **{**rounding, **kwargs})
            for dtype in given.dtypes:
                for a_shape, b_shape in inputs.BROADCAST_SHAPES:
                    a_orders, b_orders = inputs.dim_orders(len(a_shape)), inputs.dim_orders(len(b_shape))
                    for a_order, b_order in itertools.product(a_orders, b_orders):
                        a, b = given.tensor(a_shape, dtype, a_order), given.tensor(b_shape, dtype, b_order)
                        tester.judge(a, b, *extra, **kwargs)
                for order in inputs.dim_orders(4):
                    x = given.tensor((2, 3, 4, 5), dtype, order)
                    tester.judge(x, x.clone(), *extra, out_dim_order=order, static=True, **kwargs)
                if given.special:
                    values = inputs.special_values(dtype)
                    tester.judge(values[:, None], values, *extra, **kwargs)
                for out_dtype in given.out_dtypes:
                    a, b = given.tensor((2, 3), dtype, at_least=1), given.tensor((3,), dtype, at_least=1)
                    tester.judge_out_dtype(a, b, *extra, out_dtype=out_dtype, **kwargs)
            for a_shape, b_shape in inputs.NOT_BROADCAST_SHAPES:
                tester.check_rejected(torch.ones(a_shape), torch.ones(b_shape), *extra, **kwargs)
            for dtype in given.refused_dtypes:
                x = torch.ones((2, 3), dtype=dtype)
                tester.check_rejected(x, x, *extra, outs=[x], **kwargs)
            ones = (given.tensor((2, 3), dtype, at_least=1) for dtype in given.dtypes)
            self._check_out_shape_is_judged(tester, ((one, one, *extra) for one in ones), **kwargs)

    def check_copy(self, tester: OpTester, *extra: Any, dtypes: Iterable[torch.dtype] = inputs.MOVABLE_DTYPES) -> None:
        """op(tensor, *extra) over dtypes and out dtypes, for an operator that only moves elements.

        Results are exact, because the elements do not change.
        """
        given = Inputs(dtypes=dtypes)
        for dtype in given.dtypes:
            x = given.tensor((3, 5), dtype)
            (expected,) = tester.expect(x, *extra)
            reversed_order = [*reversed(range(expected.dim()))]
            tester.check(x, *extra, out_dim_order=reversed_order, static=True, exact=True)
            for out_dtype in given.out_dtypes:
                tester.judge(x, *extra, out_dtype=out_dtype, exact=True)
        for dtype in given.refused_dtypes:
            x = torch.ones((3, 5), dtype=dtype)
            outs = [expected.to(dtype) for expected in tester.expect(torch.ones((3, 5)), *extra)]
            tester.check_rejected(x, *extra, outs=outs)
        of_dtypes = ((given.tensor((3, 5), dtype), *extra) for dtype in given.dtypes)
        self._check_out_shape_is_judged(tester, of_dtypes)

    def check_reduction(self, tester: OpTester, *extra: Any, dim_lists: bool = True, **kwargs: Any) -> None:
        """op(tensor, dim, *extra, keepdim=...) over dtypes, shapes, dims, dim orders, special values and out dtypes.

        Args:
          tester: the OpTester of the operator.
          *extra: arguments after the dim argument.
          dim_lists: whether the dim argument is a list, or None if the schema allows None; otherwise one dimension.
          **kwargs: Inputs, Options, and arguments of the operator.
        """
        given, kwargs = options.split(Inputs, kwargs)
        first, second = ([0], [1]) if dim_lists else (0, 1)
        is_optional = isinstance(tester.eager.schema.arguments[1].type, torch.OptionalType)
        with self._some_accepted(tester):
            for dtype in given.dtypes:
                for shape in (*inputs.SHAPES, (600, 3), (3, 600)):
                    rank = len(shape)
                    dims: list[Any] = list(range(-rank - 1, rank + 1))
                    if dim_lists:
                        lists = [[dim] for dim in dims]
                        dims = [
                            *([None] if is_optional else []),
                            [],
                            [0, 0],
                            [-1, 0],
                            *lists,
                            [*range(rank)],
                            [*range(0, rank, 2)],
                        ]
                    for order, dim, keepdim in itertools.product(inputs.dim_orders(rank), dims, (False, True)):
                        tester.judge(given.tensor(shape, dtype, order), dim, *extra, keepdim=keepdim, **kwargs)
                if given.special:
                    for value in inputs.special_values(dtype):
                        x = torch.cat([given.tensor((40,), dtype), value[None]])
                        tester.judge(x, first, *extra, **kwargs)
                for out_dtype in given.out_dtypes:
                    x = given.tensor((3, 4), dtype, at_least=1)
                    tester.judge_out_dtype(x, second, *extra, out_dtype=out_dtype, **kwargs)
            for dtype in given.refused_dtypes:
                x = torch.ones((2, 3), dtype=dtype)
                tester.check_rejected(x, second, *extra, outs=[x[0]] * len(tester.out_names), **kwargs)
            of_dtypes = ((given.tensor((2, 3), dtype), second, *extra) for dtype in given.dtypes)
            self._check_out_shape_is_judged(tester, of_dtypes, **kwargs)

    @contextlib.contextmanager
    def _some_accepted(self, tester: OpTester) -> Iterator[None]:
        """Fails if PyTorch accepts no case in this context."""
        before = tester.accepted
        yield
        self.assertGreater(tester.accepted, before, "PyTorch rejects every case")

    def _check_out_shape_is_judged(self, tester: OpTester, calls: Iterable[tuple[Any, ...]], **kwargs: Any) -> None:
        """Tests that out tensors of a wrong shape are an error, with the first of `calls` that PyTorch accepts."""
        args = next(args for args in calls if tester.accepts(*args, **kwargs))
        for expected in tester.expect(*args, **kwargs)[:1]:
            wrong_rank = torch.empty((*expected.shape, 2), dtype=expected.dtype)
            tester.check_rejected(*args, outs=[wrong_rank] * len(tester.out_names), **kwargs)
