"""The recipes for `backends` and `quantize` of the rule.

A recipe imports its modules when it is used, since torchao is optional.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from executorch.exir.backend.partitioner import Partitioner

from diagnostics.errors import InputError
from diagnostics.suggest import did_you_mean, nearest

if TYPE_CHECKING:
    from torchao.quantization.pt2e.quantizer import Quantizer

_Made = TypeVar("_Made")


def _xnnpack() -> Partitioner:
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner

    partitioner: Partitioner = XnnpackPartitioner()
    return partitioner


def _xnnpack_int8(*, is_dynamic: bool) -> Quantizer:
    from executorch.backends.xnnpack.quantizer import xnnpack_quantizer

    quantizer: Any = xnnpack_quantizer.XNNPACKQuantizer()
    config = xnnpack_quantizer.get_symmetric_quantization_config(is_per_channel=True, is_dynamic=is_dynamic)
    quantized: Quantizer = quantizer.set_global(config)
    return quantized


_PARTITIONERS: Mapping[str, Callable[[], Partitioner]] = {"xnnpack": _xnnpack}
_QUANTIZERS: Mapping[str, Callable[[], Quantizer]] = {
    "xnnpack_int8": lambda: _xnnpack_int8(is_dynamic=False),
    "xnnpack_int8_dynamic": lambda: _xnnpack_int8(is_dynamic=True),
}


def partitioner(name: str) -> Partitioner:
    """Returns the partitioner for a name in `backends`."""
    return _make(_PARTITIONERS, name, "backends", "get_partitioners()")


def quantizer(name: str) -> Quantizer:
    """Returns the quantizer for the name in `quantize`."""
    return _make(_QUANTIZERS, name, "quantize", "get_quantizer()")


def _make(recipes: Mapping[str, Callable[[], _Made]], name: str, attribute: str, function: str) -> _Made:
    if name in recipes:
        try:
            return recipes[name]()
        except ImportError as error:
            raise _cannot_import(name, attribute, error) from error
    raise InputError.of(
        f"attribute {attribute}",
        f"there is no recipe {name}{did_you_mean(nearest(name, recipes))}",
        "a typo, or a backend without a recipe.",
        f"give one of {', '.join(recipes)}; or define {function} in the model file.",
        id="unknown-recipe",
    )


def _cannot_import(name: str, attribute: str, error: ImportError) -> InputError:
    package = (error.name or "torchao").partition(".")[0]
    return InputError.of(
        f"attribute {attribute}",
        f"the recipe {name} cannot import {package}: {error}",
        f"the lock of executorch.python(requirements = ...) does not have {package}.",
        f"add {package} to the lock; the default lock has all packages of the recipes.",
        id="recipe-cannot-import",
    )
