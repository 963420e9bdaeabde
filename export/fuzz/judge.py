"""The reference results of a module, and the tolerance.

The reference is the module in float64. The tolerance depends on the module: the module runs again with inputs and
weights that are rounded differently, and the tolerance is a multiple of the change of the results.
"""

from __future__ import annotations

import copy
import math
import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch.utils import _pytree as pytree

# A difference of this fraction of a result's largest number is allowed for any module. Of the dtypes in the module, the
# one with the largest fraction decides: a tiny difference before a cast to bfloat16 can be a step of bfloat16 after it.
_FRACTIONS = {torch.float64: 1e-5, torch.float32: 2e-4, torch.float16: 1e-2, torch.bfloat16: 6e-2}
# The same fraction for quantized modules: some steps of 255.
_FRACTION_OF_BYTES = 0.08
# The allowed ratio between a difference and the change by different rounding.
_TIMES = 16
# If the tolerance by rounding is a larger fraction of the results, the module is ill-conditioned and not checked. Most
# modules of bfloat16 have a larger tolerance than a quarter of the results.
_ILL, _ILL_OF_BFLOAT16 = 0.25, 1.0
# Limits of the required signal-to-noise ratio of a whole result, in decibels.
_LOWEST_SNR, _HIGHEST_SNR = 3.0, 70.0


@dataclass(frozen=True)
class Result:
    """A tensor or a number that a run of a module gives.

    Attributes:
        place: the name for messages, such as `result 0 of sample 1`.
        value: the tensor or number.
    """

    place: str
    value: Any


def run(
    module: Callable[..., Any], samples: Sequence[Sequence[Any]], state: Callable[[], dict[str, torch.Tensor]]
) -> list[Result]:
    """Runs samples one after another. Returns the outputs, the inputs after each run, and the state after all runs.

    Args:
        module: takes the tensors of a sample.
        samples: the inputs of each run.
        state: returns the module's state.
    """
    results = []
    with torch.no_grad():
        for number, sample in enumerate(samples):
            given = [one.clone() if isinstance(one, torch.Tensor) else one for one in sample]
            outputs = pytree.tree_leaves(module(*given))
            # An output may be the state itself, to which the next sample writes.
            outputs = [one.clone() if isinstance(one, torch.Tensor) else one for one in outputs]
            results += [Result(f"result {index} of sample {number}", one) for index, one in enumerate(outputs)]
            results += [Result(f"input {index} after sample {number}", one) for index, one in enumerate(given)]
        results += [Result(f"buffer {name} in the end", one) for name, one in sorted(state().items())]
    return results


@dataclass(frozen=True)
class Reference:
    """The correct results.

    Attributes:
        eager: the results of the module.
        exact: the results of the module in float64; those of `eager` if the module does not run in float64.
        others: results with inputs and weights that are rounded differently, or of another correct program.
        is_of_bytes: whether the module is quantized.
        dtypes: the floating-point dtypes of the module's values, besides the dtypes of its results.
    """

    eager: list[Result]
    exact: list[Any]
    others: tuple[list[Any], ...]
    is_of_bytes: bool
    dtypes: frozenset[torch.dtype] = frozenset()

    def is_ill(self) -> bool:
        """Whether different rounding alone changes a result by more than a fraction of the result."""
        noises = [self._noise(index) for index in self._floats()]
        limit = _ILL_OF_BFLOAT16 if torch.bfloat16 in self.dtypes else _ILL
        return not self.is_of_bytes and any(noise * _TIMES > limit * scale for noise, scale in noises)

    def is_finite(self) -> bool:
        """Whether no floating-point result has infinities or NaN."""
        return all(bool(self.exact[index].isfinite().all()) for index in self._floats())

    def is_sure(self) -> bool:
        """Whether different rounding changes no integer, and no place of an infinity or NaN."""
        for index, result in enumerate(self.eager):
            if isinstance(result.value, torch.Tensor):
                kinds = _kinds if result.value.is_floating_point() else torch.as_tensor
                others = [result.value, *(other[index] for other in self.others)]
                if any(not torch.equal(kinds(one), kinds(self.exact[index])) for one in others):
                    return False
        return True

    def least_snr(self) -> float:
        """The required signal-to-noise ratio of each result, in decibels."""
        least = _HIGHEST_SNR
        for index in self._floats():
            exact = self.exact[index].double()
            numbers = exact[exact.isfinite()]
            if numbers.numel() and numbers.any():
                ratio = float(numbers.square().mean().sqrt()) / self._allowed(index)
                least = min(least, 20 * math.log10(ratio))
        return max(least, _LOWEST_SNR)

    def _floats(self) -> Iterator[int]:
        for index, result in enumerate(self.eager):
            if isinstance(result.value, torch.Tensor) and result.value.is_floating_point():
                yield index

    def with_other(self, results: Sequence[Result]) -> Reference:
        """Returns a reference that also has the results of another correct program."""
        return replace(self, others=(*self.others, _values(results)))

    def difference(self, results: Sequence[Result], *, spreads_nan: bool = False) -> str:
        """Returns the first difference of a program's results; empty if the results are correct.

        Args:
            results: the results of the program.
            spreads_nan: whether the program may give NaN in place of numbers if an input has infinities or NaN.
        """
        if [one.place for one in results] != [one.place for one in self.eager]:
            return f"{len(results)} results, not {len(self.eager)}"
        for index, (result, eager) in enumerate(zip(results, self.eager, strict=True)):
            if wrong := self._wrong(index, result.value, eager.value, spreads_nan):
                return f"{result.place}: {wrong}"
        return ""

    def _wrong(self, index: int, actual: Any, eager: Any, spreads_nan: bool) -> str:
        if not isinstance(eager, torch.Tensor) or not isinstance(actual, torch.Tensor):
            return "" if type(actual) is type(eager) and actual == eager else f"{actual}, not {eager}"
        if (actual.dtype, actual.shape) != (eager.dtype, eager.shape):
            return f"{actual.dtype} {list(actual.shape)}, not {eager.dtype} {list(eager.shape)}"
        others = [eager, *(other[index] for other in self.others)]
        if not actual.is_floating_point():
            is_sure = torch.stack([one == self.exact[index] for one in others]).all(0)
            wrong = is_sure & (actual != eager)
            return f"{int(wrong.sum())} of {wrong.numel()} are not as they should be" if wrong.any() else ""
        exact = self.exact[index].double()
        kinds = _kinds(exact)
        is_sure = torch.stack([_kinds(one) == kinds for one in others]).all(0)
        if spreads_nan:
            is_sure &= ~actual.isnan()
        wrong = is_sure & (_kinds(actual) != kinds)
        said = ""
        if not wrong.any():
            allowed = self._allowed(index)
            far = (actual.double() - exact).abs()
            wrong = is_sure & exact.isfinite() & (far > allowed)
            said = f"; {far[wrong].max():.2g} is more than {allowed:.2g}" if wrong.any() else ""
        if not wrong.any():
            return ""
        at = int(wrong.flatten().to(torch.int8).argmax())
        one, other = float(actual.flatten()[at]), float(exact.flatten()[at])
        return f"element {at} is {one:.6g}, not {other:.6g}; {int(wrong.sum())} of {wrong.numel()} are wrong{said}"

    def _allowed(self, index: int) -> float:
        """Returns the allowed difference between elements of a result and of the exact result."""
        noise, scale = self._noise(index)
        dtypes = {self.eager[index].value.dtype, *self.dtypes}
        fraction = _FRACTION_OF_BYTES if self.is_of_bytes else max(_FRACTIONS[one] for one in dtypes)
        return _TIMES * noise + fraction * scale

    def _noise(self, index: int) -> tuple[float, float]:
        """Returns the largest change of a result by different rounding, and the result's largest absolute value."""
        exact = self.exact[index].double()
        finite = exact.isfinite()
        largest = 0.0
        for other in [self.eager[index].value, *(one[index] for one in self.others)]:
            if other.shape != exact.shape:  # Different rounding changes how many elements are equal.
                return math.inf, 0.0
            far = (other.double() - exact).abs()[finite & other.isfinite()]
            largest = max(largest, float(far.max()) if far.numel() else 0.0)
        numbers = exact[finite]
        return largest, float(numbers.abs().max()) if numbers.numel() else 0.0


def _kinds(tensor: torch.Tensor) -> torch.Tensor:
    """Returns 0 for finite elements, 1 and -1 for infinities, 2 for NaN."""
    kinds = tensor.isposinf().int() - tensor.isneginf().int()
    return torch.where(tensor.isnan(), 2, kinds)


def judge(
    module: torch.nn.Module,
    samples: Sequence[Sequence[Any]],
    buffers: Sequence[str],
    *,
    is_of_bytes: bool,
    dtypes: frozenset[torch.dtype] = frozenset(),
) -> Reference:
    """Runs copies of a module: unchanged, in float64, and with different rounding.

    Args:
        module: the module, which does not change.
        samples: the inputs of each run.
        buffers: the names of the buffers, and of the parameters that forward() writes to.
        is_of_bytes: whether the module is quantized. A quantized module runs unchanged only.
        dtypes: the floating-point dtypes of the module's values.
    """
    eager = _of_copy(module, samples, buffers)
    if is_of_bytes:
        return Reference(eager, _values(eager), (), True, dtypes)
    exact: Sequence[Result] = eager
    others = []
    try:
        exact = _of_copy(module, samples, buffers, torch.float64)
        others = [_of_copy(module, samples, buffers, torch.float64, seed) for seed in (1, 2)]
    except Exception:  # The module has a layer that does not run in float64.
        others = [_of_copy(module, samples, buffers, None, seed) for seed in (1, 2)]
    return Reference(eager, _values(exact), tuple(map(_values, others)), False, dtypes)


def _values(results: Sequence[Result]) -> list[Any]:
    return [one.value for one in results]


def _of_copy(
    module: torch.nn.Module,
    samples: Sequence[Sequence[Any]],
    buffers: Sequence[str],
    dtype: torch.dtype | None = None,
    seed: int | None = None,
) -> list[Result]:
    """Runs a copy of a module.

    Args:
        module: the module.
        samples: the inputs of each run.
        buffers: the names of the buffers, and of the parameters that forward() writes to.
        dtype: the dtype of weights and inputs; None keeps their dtypes.
        seed: the seed of the rounding errors of weights and inputs, up to 2 epsilons of their former dtypes; None for
            no errors.
    """
    module = copy.deepcopy(module)
    generator = torch.Generator().manual_seed(seed or 0)

    def changed(tensor: Any) -> Any:
        if type(tensor) not in (torch.Tensor, torch.nn.Parameter) or not tensor.is_floating_point():
            return tensor
        result = tensor if dtype is None else tensor.to(dtype)
        if seed is not None:
            error = torch.rand(tensor.shape, generator=generator, dtype=torch.float64) - 0.5
            result = result + (result * error * 4 * torch.finfo(tensor.dtype).eps).to(result.dtype)
        return result

    with torch.no_grad():
        for part in module.modules():
            for parameter in part._parameters.values():
                if parameter is not None:
                    parameter.data = changed(parameter.data)
            for name, buffer in part._buffers.items():
                part._buffers[name] = changed(buffer)
        samples = [[changed(one) for one in sample] for sample in samples]
    return run(module, samples, lambda: {name: operator.attrgetter(name)(module) for name in buffers})
