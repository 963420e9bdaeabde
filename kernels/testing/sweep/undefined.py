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
    if call.operator == "aten::_adaptive_avg_pool2d_backward.out":
        gradient, x = call.args
        return bool(gradient.shape[:-2] != x.shape[:-2])
    if call.operator == "aten::_embedding_bag.out":
        indices, offsets, has_last_offset = call.args[1], call.args[2], call.args[7]
        return bool(indices.numel() > 0 and offsets.numel() - has_last_offset <= 0)
    if call.operator in ("aten::_fft_c2c.out", "aten::_fft_c2r.out", "aten::_fft_r2c.out"):
        dims, rank = call.args[1], call.args[0].dim()
        return len({*dims}) < len(dims) or not all(-rank <= dim < rank for dim in dims)
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


def _values_and_elements(call: Call, results: Results) -> Results:
    """The values, and the elements at the indices."""
    x, values, indices = call.args[0], *results
    dim = call.args[2 if call.operator == "aten::kthvalue.values" else 1]
    if x.dim() == 0 or x.numel() == 0:
        return results
    at = indices if indices.dim() == x.dim() else indices.unsqueeze(dim)
    # PyTorch gathers no unsigned integers of more than 8 bits.
    elements = x.view(_SIGNED.get(x.dtype, x.dtype)).gather(dim, at).view(x.dtype)
    return [values, elements.reshape(values.shape)]


def _numbers_of_values(call: Call, results: Results) -> Results:
    """The results, without the numbers of items that are NaN."""
    if not call.args[0].dtype.is_floating_point or results[1].numel() == 0:
        return results
    return [results[0], torch.where(call.args[0].isnan(), 0, results[1]), *results[2:]]


def _without_overflows(call: Call, results: Results) -> Results:
    """The results; their shapes if a difference may overflow."""
    zero_points = call.args[2]
    if zero_points.dtype == torch.int64 and bool(((zero_points > 2**62) | (zero_points < -(2**62))).any()):
        return _shapes(call, results)
    return results


def _dropped(call: Call, results: Results) -> Results:
    _, p, train = call.args
    return _shapes(call, results) if train is not False and 0 < p < 1 else results


_SIGNED = {torch.uint16: torch.int16, torch.uint32: torch.int32, torch.uint64: torch.int64}

UNDEFINED = (
    Undefined(
        operators=(
            "aten::empty.out",
            "aten::exponential.out",
            "aten::multinomial.out",
            "aten::normal.Tensor_Tensor_out",
            "aten::normal.Tensor_float_out",
            "aten::normal.float_Tensor_out",
            "aten::normal.float_float_out",
            "aten::rand.out",
            "aten::rand_like.out",
            "aten::randint.low_out",
            "aten::randint.out",
            "aten::randint_like.low_dtype_out",
            "aten::randint_like.out",
            "aten::randn.out",
            "aten::randn_like.out",
            "aten::randperm.out",
            "aten::uniform.out",
            "dim_order_ops::_empty_dim_order.out",
        ),
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
    Undefined(
        operators=(
            "aten::kthvalue.values",
            "aten::median.dim_values",
            "aten::mode.values",
            "aten::nanmedian.dim_values",
            "aten::sort.values",
        ),
        what="Which of equal values comes first: the values are compared, and the elements at the indices.",
        defined=_values_and_elements,
    ),
    Undefined(
        operators=("quantized_decomposed::dequantize_per_token.out",),
        what="Overflows of int64 in the difference of an integer and a zero point near the limits: shape and dtype are "
        "compared.",
        defined=_without_overflows,
    ),
    Undefined(
        operators=("aten::_unique2.out",),
        what="The order of NaNs, none of which equals another: the numbers of the other items are compared.",
        defined=_numbers_of_values,
    ),
)
