"""PyTorch's operators: their schemas, and the expected results of kernels."""

import re
from collections.abc import Callable
from typing import Any

import torch

_NOT_COMPILED = re.compile("not implemented for '(ComplexHalf|UInt16|UInt32|UInt64)'")
# For other dim orders, these operators write the results to the wrong positions of a contiguous out tensor.
_WRONG_OUT_VARIANTS = (
    "aten::_native_batch_norm_legit.no_stats_out",
    "aten::_native_batch_norm_legit.out",
    "aten::normal.Tensor_float_out",
)
_WIDER = {
    "ComplexHalf": (torch.complex32, torch.complex64),
    "UInt16": (torch.uint16, torch.int32),
    "UInt32": (torch.uint32, torch.int64),
    "UInt64": (torch.uint64, torch.int64),  # with the same bits
}


# Operators with a reference whose result takes any dtype of the out argument, because the operator is a conversion.
_CONVERSIONS = frozenset({"dim_order_ops::_to_dim_order_copy.out"})


def _cast(result: torch.Tensor, out_dtype: torch.dtype) -> torch.Tensor:
    """Casts a result to another dtype. Raises TypeError for the dtypes that PyTorch's operators refuse."""
    if not torch.can_cast(result.dtype, out_dtype):
        raise TypeError(f"result type {result.dtype} cannot be cast to {out_dtype}")
    return result.to(out_dtype)


class EagerOperator:
    """The expected results of one operator, from PyTorch.

    Attributes:
      overload: PyTorch's out variant; None if a schema was given.
      functional: the variant of `overload` that returns new tensors, if PyTorch has one.
      schema: the operator's schema.
      out_names: the names of the out arguments.
      out_is_list: whether the one out argument is a list of tensors.
      writes_arguments: whether the operator changes tensors other than out arguments.

    Args:
      name: the registered name with its namespace: "aten::add.out".
      schema: the schema of the operator; default: PyTorch's schema of this name.
      reference: computes the expected results from the arguments without the out arguments (all by keyword if given
        so); default: PyTorch's out variant, with out tensors of the dtypes of the functional variant's results.
    """

    def __init__(self, name: str, schema: str | None, reference: Callable[..., Any] | None) -> None:
        self.name = name
        self._reference = reference
        self.overload = None if schema else _overload(name)
        self.functional = _functional_variant(self.overload) if self.overload else None
        self.schema = torch._C.parse_schema(schema) if schema else self.overload._schema  # type: ignore[union-attr]
        self.out_names = [argument.name for argument in self.schema.arguments if argument.is_out]
        self.writes_arguments = any(
            not a.is_out and a.alias_info is not None and a.alias_info.is_write for a in self.schema.arguments
        )
        self.out_is_list = str(self.schema.arguments[-1].type) == "List[Tensor]"

    def results(self, *args: Any, out_dtype: torch.dtype | None = None, **kwargs: Any) -> list[torch.Tensor]:
        """PyTorch's results.

        If PyTorch has no compiled kernel for a dtype, the results are those of a wider dtype, converted back. Raises
        the exceptions that PyTorch raises.
        """
        try:
            return self._results(*args, out_dtype=out_dtype, **kwargs)
        except RuntimeError as error:
            missing = _NOT_COMPILED.search(str(error))
            if missing is None:
                raise
        narrow, wide = _WIDER[missing[1]]
        args, kwargs, out_dtype = torch.utils._pytree.tree_map(
            lambda value: _convert(value, narrow, wide), (args, kwargs, out_dtype)
        )
        return [_convert(result, wide, narrow) for result in self._results(*args, out_dtype=out_dtype, **kwargs)]

    def _results(self, *args: Any, out_dtype: torch.dtype | None = None, **kwargs: Any) -> list[torch.Tensor]:
        if self._reference is not None:
            results = flatten(self._reference(*args, **kwargs))
            if out_dtype is None:
                return results
            if self.name in _CONVERSIONS:
                return [result.to(out_dtype) for result in results]
            return [_cast(result, out_dtype) for result in results]
        assert self.overload is not None
        dtypes = [out_dtype] * len(self.out_names)
        if out_dtype is None or self.out_is_list:
            if self.functional is None:
                raise ValueError(f"{self.name} has no functional variant with the result dtypes: pass out_dtype")
            natural = flatten(self.functional(*args, **kwargs))
            if self.out_is_list:
                return natural if out_dtype is None else [result.to(out_dtype) for result in natural]
            if self.name in _WRONG_OUT_VARIANTS:
                return natural
            dtypes = [result.dtype for result in natural]
        outs = {name: torch.empty(0, dtype=dtype) for name, dtype in zip(self.out_names, dtypes, strict=True)}
        self.overload(*args, **kwargs, **outs)
        return list(outs.values())

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[tuple[Any, Any]]:
        """The schema's arguments without the out arguments, with their values."""
        bound = []
        names = set()
        for i, argument in enumerate(a for a in self.schema.arguments if not a.is_out):
            names.add(argument.name)
            if i < len(args) and not argument.kwarg_only:
                bound.append((argument, args[i]))
            elif argument.name in kwargs:
                bound.append((argument, kwargs[argument.name]))
            elif argument.has_default_value():
                bound.append((argument, argument.default_value))
            else:
                raise TypeError(f"{self.name}: argument {argument.name} is missing")
        unknown = sorted(set(kwargs) - names)
        if unknown:
            raise TypeError(f"{self.name} has no argument {unknown[0]}: {self.schema}")
        return bound


def flatten(values: Any) -> list[Any]:
    """The items of nested lists and tuples."""
    if isinstance(values, (list, tuple)):
        return [item for value in values for item in flatten(value)]
    return [values]


def _convert(value: Any, source: torch.dtype, target: torch.dtype) -> Any:
    """Converts a tensor or a dtype from the dtype `source` to `target`. Other values are returned unchanged."""
    if isinstance(value, torch.Tensor):
        return value.to(target) if value.dtype == source else value
    return target if value == source else value


def _overload(name: str) -> Any:
    namespace, _, rest = name.partition("::")
    packet, _, overload = rest.partition(".")
    return getattr(getattr(getattr(torch.ops, namespace), packet), overload or "default")


def _functional_variant(overload: Any) -> Any | None:
    """The variant that returns new tensors: the same arguments without out, possibly with dtype and similar ones."""
    wanted = {a.name: str(a.type) for a in overload._schema.arguments if not a.is_out}
    factory = {"dtype", "layout", "device", "pin_memory", "memory_format"}
    packet = overload._overloadpacket
    candidates = []
    for name in packet.overloads():
        candidate = getattr(packet, name)
        arguments = candidate._schema.arguments
        if any(a.is_out for a in arguments):
            continue
        given = {a.name: str(a.type) for a in arguments}
        if all(given.get(a) == kind for a, kind in wanted.items() if a in given or a not in factory):
            extra = set(given) - set(wanted)
            if extra <= factory:
                candidates.append((len(extra), name, candidate))
    return min(candidates, key=lambda c: c[:2])[2] if candidates else None
