"""Tests that each kind of change occurs among the variations of calls."""

from collections.abc import Callable

import hypothesis
import torch
from absl.testing import absltest, parameterized

from kernels.testing import inputs
from kernels.testing.sweep.calls import Call
from kernels.testing.sweep.variations import variations

_CALLS = (
    Call("aten::add.out", (torch.ones(2, 3, 4, 5), torch.ones(4, 5)), {"alpha": 1}),
    Call("aten::sum.IntList_out", (torch.ones(2, 3, 4), [1], False), {"dtype": None}),
    Call("aten::sub.out", (torch.ones(3, 4, dtype=torch.int64), torch.ones(3, 4, dtype=torch.int64)), {"alpha": 1}),
    Call("aten::full.out", ([2, 3], 1.0), {}),
)
_COUNT = 2000


def _any(of_tensor: Callable[[torch.Tensor], bool]) -> Callable[[Call], bool]:
    return lambda call: any(of_tensor(tensor) for tensor in call.tensors)


def _of_dtype(dtype: torch.dtype) -> Callable[[Call], bool]:
    return _any(lambda x: x.dtype == dtype)


def _is_denormal(x: torch.Tensor) -> bool:
    return x.is_floating_point() and bool(((x != 0) & (x.abs() < torch.finfo(x.dtype).tiny)).any())


def _has_limit(x: torch.Tensor, limit: str) -> bool:
    is_integer = not x.is_floating_point() and not x.is_complex() and x.dtype != torch.bool
    return is_integer and bool((x == getattr(torch.iinfo(x.dtype), limit)).any())


def _dim(call: Call) -> int:
    """A dim of a sum that is not in _CALLS, otherwise 0."""
    dims = call.args[1] if call.operator == "aten::sum.IntList_out" else []
    return next((dim for dim in dims if not -3 <= dim < 3), 0)


def _size(call: Call) -> int:
    sizes = call.args[0] if call.operator == "aten::full.out" else []
    return next((size for size in sizes if size not in (2, 3)), 0)


_KINDS: dict[str, Callable[[Call], bool]] = {
    "eight dimensions": _any(lambda x: x.dim() == 8),
    "no dimensions": _any(lambda x: x.dim() == 0),
    "no elements": _any(lambda x: x.numel() == 0),
    "broadcasting": lambda call: call.operator == "aten::sub.out" and len({x.shape for x in call.tensors}) == 2,
    "channels last": _any(lambda x: x.dim() == 4 and inputs.dim_order_of(x) == (0, 2, 3, 1)),
    "another dim order": _any(
        lambda x: x.dim() == 4 and inputs.dim_order_of(x) not in (*inputs.dim_orders(4), (0, 1, 2, 3))
    ),
    "infinity": _any(lambda x: x.is_floating_point() and bool(x.isinf().any())),
    "NaN": _any(lambda x: x.is_floating_point() and bool(x.isnan().any())),
    "denormal": _any(_is_denormal),
    "least integer": _any(lambda x: _has_limit(x, "min") and x.dtype.is_signed),
    "largest integer": _any(lambda x: _has_limit(x, "max")),
    "two dtypes": lambda call: len({x.dtype for x in call.tensors}) == 2,
    "the memory of an input": lambda call: call.aliased,
    "out of another size": lambda call: call.out_sizes is not None and not call.static,
    "out of another size that cannot be resized": lambda call: call.out_sizes is not None and call.static,
    "out in another dim order": lambda call: call.out_dim_order is not None,
    "a dim that is too large": lambda call: _dim(call) > 0,
    "a dim that is too small": lambda call: _dim(call) < 0,
    "a negative size": lambda call: _size(call) < 0,
    "a huge size": lambda call: _size(call) > 2**31,
    **{str(dtype): _of_dtype(dtype) for dtype in inputs.MOVABLE_DTYPES},
}


class VariationsTest(parameterized.TestCase):
    drawn: list[Call]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.drawn = []

        def draw(call: Call) -> None:
            cls.drawn.append(call)

        settings = hypothesis.settings(
            max_examples=_COUNT,
            database=None,
            deadline=None,
            phases=[hypothesis.Phase.generate],
            suppress_health_check=[*hypothesis.HealthCheck],
        )
        hypothesis.seed(0)(settings(hypothesis.given(variations(_CALLS))(draw)))()

    @parameterized.parameters(*_KINDS)
    def test_occurs(self, kind: str) -> None:
        self.assertTrue(any(_KINDS[kind](call) for call in self.drawn), f"none among {len(self.drawn)} variations")


if __name__ == "__main__":
    absltest.main()
