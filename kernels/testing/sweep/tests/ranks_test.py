"""Tests that kernels are not called with tensors of more dimensions than kernels support, in any argument.

The test calls each operator of KERNEL_YAMLS with such tensors: for each of its tensors separately, and for all tensors.
"""

import mmap
import os
import pathlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import torch
import yaml
from absl.testing import absltest

from kernels.testing import inputs
from kernels.testing.op_call import KernelError, OpCall, OutBuffer
from kernels.testing.sweep import workers

_LIMIT = 16
_RANKS = (17, 25)
_DTYPES = (torch.float32, torch.int64, torch.bool, torch.int8, torch.complex64)
_LIST_LENGTH = 2
_TIMEOUT = 60.0
_OTHER_VALUES = {
    "number": 1,
    "bool": False,
    "int": 0,
    "SymInt": 0,
    "float": 1.0,
    "str": "none",
    "ScalarType": torch.float32,
    "Layout": torch.strided,
    "MemoryFormat": torch.contiguous_format,
    "Device": torch.device("cpu"),
}


class Call(NamedTuple):
    """A call of an operator.

    Attributes:
      dtype: the dtype of all tensors.
      rank: the number of dimensions of the chosen tensors. The others have two dimensions.
      chosen: the number of the chosen tensor, where the tensors of lists are counted one by one; None: all.
    """

    dtype: torch.dtype
    rank: int
    chosen: int | None


def _schemas() -> dict[str, Any]:
    """The operators' schemas by their registered names."""
    schemas = {}
    for path in os.environ["KERNEL_YAMLS"].split():
        for entry in yaml.safe_load(pathlib.Path(path).read_text()):
            if "func" in entry:
                schema = torch._C.parse_schema(entry["func"])
            else:
                packet, _, overload = entry["op"].partition(".")
                schema = getattr(getattr(torch.ops.aten, packet), overload or "default")._schema
            name = f"{schema.name}.{schema.overload_name}".removesuffix(".")
            schemas[name if "::" in name else f"aten::{name}"] = schema
    return schemas


_SCHEMAS = _schemas()


class _Tensors:
    """Creates the tensors of a call, one after the other."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self.count = 0

    def make(self) -> torch.Tensor:
        is_chosen = self._call.chosen in (None, self.count)
        self.count += 1
        # The first and the last dimension do not merge.
        shape = (2, *(1,) * (self._call.rank - 2), 2) if is_chosen else (2, 2)
        return torch.ones(shape, dtype=self._call.dtype)


def _value(kind: Any, tensors: _Tensors) -> Any:
    """An argument of a schema's type."""
    if isinstance(kind, torch.OptionalType):
        return _value(kind.getElementType(), tensors) if "Tensor" in str(kind) else None
    if isinstance(kind, torch.ListType):
        return [_value(kind.getElementType(), tensors) for _ in range(_LIST_LENGTH)]
    return tensors.make() if str(kind) == "Tensor" else _OTHER_VALUES[str(kind)]


def _run(name: str, call: Call) -> tuple[int, KernelError | None]:
    """Calls an operator. Returns the number of its tensors, and the error."""
    tensors = _Tensors(call)
    outs: list[torch.Tensor] = []
    as_list = False
    with OpCall(name) as op:
        for argument in _SCHEMAS[name].arguments:
            value = _value(argument.type, tensors)
            if not argument.is_out:
                op.push(argument.type, value)
            elif isinstance(value, list):
                outs, as_list = value, True
            else:
                outs.append(value)
        op.push_outs([OutBuffer(out, inputs.dim_order_of(out), static=True) for out in outs], as_list=as_list)
        try:
            op.run()
        except KernelError as error:
            return tensors.count, error
    return tensors.count, None


def _calls(name: str, rank: int) -> Iterator[Call]:
    for dtype in _DTYPES:
        yield Call(dtype, rank, None)
        count, _ = _run(name, Call(dtype, 2, None))
        for chosen in range(count):
            yield Call(dtype, rank, chosen)


def _check(name: str, progress: mmap.mmap) -> list[str]:
    """The errors of an operator's calls."""
    wrong = []
    for rank in (_LIMIT, *_RANKS):
        for call in _calls(name, rank):
            progress.seek(0)
            progress.write(str(call).encode() + b"\0")
            _, error = _run(name, call)
            is_refused = error is not None and error.code == KernelError.INVALID_ARGUMENT
            is_for_rank = f"{name} takes tensors of {_LIMIT} dimensions at most, not of {rank}" in str(error)
            if (is_refused and is_for_rank) != (rank > _LIMIT):
                wrong.append(f"{call}: {error or 'no error'}")
    return wrong


class RanksTest(absltest.TestCase):
    def test_operators(self) -> None:
        self.assertNotEmpty(_SCHEMAS)
        wrong: dict[str, Sequence[str]] = {}
        for name, result in workers.run(_check, [*_SCHEMAS], os.cpu_count() or 1, _TIMEOUT):
            if result:
                wrong[name] = [str(result)] if isinstance(result, workers.Death) else result
        summary = "\n".join(f"{name}: {len(found)} calls, first {found[0]}" for name, found in sorted(wrong.items()))
        self.assertEmpty(wrong, f"{len(wrong)} of {len(_SCHEMAS)} operators:\n{summary}")


if __name__ == "__main__":
    absltest.main()
