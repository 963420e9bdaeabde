"""The parts of results that PyTorch leaves undefined, and the values that are compared instead."""

import dataclasses
from collections.abc import Callable

import torch

from kernels.testing.sweep.calls import Call

Results = list[torch.Tensor]


@dataclasses.dataclass(frozen=True)
class Undefined:
    """A part of a result that PyTorch does not define.

    Attributes:
      operators: the operators with such results.
      what: the description of the undefined part and of the compared values.
      defined: the function that returns the compared part of the results of a call.
    """

    operators: tuple[str, ...]
    what: str
    defined: Callable[[Call, Results], Results]


def crashes(call: Call) -> bool:
    """Whether PyTorch would read or write out of bounds. PyTorch is not called, and the kernel must refuse the call."""
    if call.operator == "aten::_native_batch_norm_legit.no_stats_out":
        is_training = call.args[3]
        return not is_training  # this variant only has the statistics of training
    if call.operator == "aten::max_pool2d_with_indices_backward.grad_input":
        x, indices = call.args[1], call.args[7]
        return bool(((indices < -1) | (indices >= x.shape[-2:].numel())).any())
    return False


def defined(call: Call, results: Results) -> Results:
    """The part of the results that PyTorch defines."""
    for undefined in UNDEFINED:
        if call.operator in undefined.operators:
            results = undefined.defined(call, results)
    return results


def _shapes(call: Call, results: Results) -> Results:
    del call
    return [torch.zeros_like(result) for result in results]


def _values_of_topk(call: Call, results: Results) -> Results:
    x, _, dim, _, is_sorted = call.args
    values = [results[0], x.gather(dim, results[1])]
    return values if is_sorted else [value.sort(dim).values for value in values]


def _dropped(call: Call, results: Results) -> Results:
    _, p, train = call.args
    return _shapes(call, results) if train is not False and 0 < p < 1 else results


UNDEFINED = (
    Undefined(
        operators=("aten::empty.out", "aten::rand.out", "aten::randn.out", "dim_order_ops::_empty_dim_order.out"),
        what="The values: shape and dtype are compared.",
        defined=_shapes,
    ),
    Undefined(
        operators=("aten::native_dropout.out",),
        what="Which elements are dropped: shapes and dtypes are compared, and the values where all or none are.",
        defined=_dropped,
    ),
    Undefined(
        operators=("aten::topk.values",),
        what="Which of equal values comes first, and with `sorted=False` any order: the values are compared, and the "
        "elements at the indices, without `sorted` in ascending order.",
        defined=_values_of_topk,
    ),
)
