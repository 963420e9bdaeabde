"""Sample inputs with PyTorch's eager outputs and state: recorded from the eager module.

An ExecuTorch .ptd file stores inputs and outputs. Keys are `<method>/<sample>/input/<index>` and
`<method>/<sample>/output/<index>`. Indices count from 0 in the order of the program's inputs and outputs. A sample of a
module whose weights were quantized before the export has the key `<method>/<sample>/quantized`, too. A sample of a
program with larger rounding errors than PyTorch's has the key `<method>/<sample>/error_growth`. export/README.md
describes the values.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from executorch.exir._serialize.data_serializer import DataEntry, DataPayload
from executorch.exir.tensor import get_scalar_type, scalar_type_enum, scalar_type_table
from executorch.exir.tensor_layout import TensorLayout
from executorch.extension.flat_tensor.serialize.serialize import FlatTensorSerializer
from torch.utils import _pytree as pytree

from diagnostics.errors import InputError
from export.user import attributes, plain_state
from export.user.attributes import Attribute
from export.user.dense_tensors import dense, dim_order
from export.user.inputs import Inputs
from export.user.messages import text_of
from export.user.model_file import Method
from export.user.source import describe

# The dtypes that a .ptd file can store: ExecuTorch's, but complex ones.
_SCALAR_TYPES = {dtype for dtype in scalar_type_table if not dtype.is_complex}
_INT64 = torch.iinfo(torch.int64)
_FLAG = TensorLayout(scalar_type_enum(torch.bool), [1], [0])
_NOT_PICKLED = re.compile(r"cannot pickle|can't pickle", re.I)
_NO_MEMORY = re.compile(r"can't allocate memory|not enough memory", re.I)

# The fixes for values that a program cannot represent.
_FIX = (
    "use such values in forward(). Tuples, named tuples, lists and dicts of such values are fine, and so are classes"
    " registered with torch.export.register_dataclass."
)
_COMPLEX_FIX = (
    "return torch.view_as_real(y) in place of a complex y, and begin with torch.view_as_complex(x) for an input x whose"
    " last dimension has the real and the imaginary part. Inside forward(), values may be complex."
)


@dataclass(frozen=True)
class Value:
    """A stored input, output or buffer.

    Attributes:
        layout: dtype, sizes and dim order.
        data: the bytes of the elements, in the dim order.
    """

    layout: TensorLayout
    data: bytes


@dataclass(frozen=True)
class Sample:
    """One run of a method. A value is None for None, and for a string input, which an export compiles in.

    Attributes:
        inputs: the flattened inputs.
        inputs_after: the inputs after the run.
        outputs: the flattened eager outputs.
        output_spec: the nesting of the outputs.
        state: the buffers that this run or an earlier one has changed, by their full names, after the run. Buffers that
            a .ptd file cannot store are left out.
        quantized: whether the outputs are of quantized weights, so that they do not tell what the quantization lost.
        error_growth: the factor by which the rounding errors of the program exceed those of PyTorch.
    """

    inputs: tuple[Value | None, ...]
    inputs_after: tuple[Value | None, ...]
    outputs: tuple[Value | None, ...]
    output_spec: pytree.TreeSpec
    state: Mapping[str, Value]
    quantized: bool = False
    error_growth: float = 1.0

    def with_written(self, written: Sequence[int]) -> Sample:
        """Returns the sample for a program that returns new values of the inputs `written` before the outputs."""
        return replace(self, outputs=(*(self.inputs_after[position] for position in written), *self.outputs))


@dataclass(frozen=True)
class Recorded:
    """The runs of a method.

    Attributes:
        samples: the runs.
        module: the copy of the module that ran. Its state is that after the last run.
        changed: the plain attributes that the runs changed.
    """

    samples: tuple[Sample, ...]
    module: torch.nn.Module
    changed: tuple[Attribute, ...] = ()


def record_all(methods: Sequence[Method]) -> Mapping[str, Recorded]:
    """Runs the samples of the methods of a program, each method on a copy of its module.

    Raises:
        InputError: as `record`; or a method reads a plain attribute that another method changes.
    """
    recorded = {method.name: record(method) for method in methods}
    for method in methods:
        of_method = recorded[method.name]
        for attribute in of_method.changed:
            value = attributes.value(of_method.module, attribute)
            plain_state.check_others(method, attribute, value, [one for one in methods if one is not method])
    return recorded


def record(method: Method) -> Recorded:
    """Runs a method's samples on its eager module, one after another.

    The module does not change: a copy of the module runs.

    Raises:
        InputError: the module raised, has an input or output that a program cannot have, or keeps state in plain
            attributes.
    """
    try:
        module = attributes.copied(method.module)
    except BaseException as error:
        raise _not_copied(method, error) from error
    check = plain_state.Check(method, module)
    with torch.no_grad():
        recorded = tuple(_run(method, check, index, inputs) for index, inputs in enumerate(method.samples))
        changed = tuple(check.changes())
        ended = check.end()
    attributes.share_parameters(ended, method.module)
    return Recorded(recorded, ended, changed)


def _not_copied(method: Method, error: BaseException) -> InputError:
    """Returns the error for a module that cannot be copied."""
    attribute = attributes.uncopied(method.module)
    holder = str(attribute) if attribute else "the module"
    text = text_of(error)
    if isinstance(error, RecursionError):
        cause = (
            f"{holder} nests objects too deeply, as a long linked list does, or the __getattr__() of a class calls"
            " itself, since a copy has no attributes yet."
        )
        fix = "keep the objects in one list, or have __getattr__() raise AttributeError for attributes of its own."
    elif isinstance(error, MemoryError) or _NO_MEMORY.search(text):
        cause = "the memory does not suffice for a second copy of the buffers. Parameters are not copied."
        fix = "make parameters of large buffers that no run changes, or export on a machine with more memory."
    elif isinstance(error, TypeError) and _NOT_PICKLED.search(text):
        cause = f"{holder} has an object that Python cannot copy, such as an open file or a generator."
        fix = "create the object in forward(), or give its class a __deepcopy__(self, memo) that returns self."
    elif "non-wrapper subclasses" in text:
        cause = f"{holder} is a tensor of a class of its own, as masks of torch.nn.attention.bias are."
        fix = "keep an ordinary tensor; for causal_lower_right(n, m), torch.ones(n, m, dtype=torch.bool).tril(m - n)."
    else:
        cause = f"the class of an object in {holder} has its own way to make copies, which raised."
        fix = "give this class a __deepcopy__(self, memo) that returns a copy; self for an object without state."
    return method.source.failure(
        f"copying {f'{attribute} of ' if attribute else ''}the module of {method.name}()",
        error,
        at=method.at,
        cause=f"{cause} Samples run on a copy of the module, so that the export gets its initial state.",
        fix=fix,
    )


def _run(method: Method, check: plain_state.Check, index: int, inputs: Inputs) -> Sample:
    what = f"{method.name}() on sample {index}"

    def values(given: Inputs) -> tuple[Value | None, ...]:
        leaves = enumerate(given.flatten()[0])
        return tuple(_value(method, f"input {i} of {what}", leaf, is_input=True) for i, leaf in leaves)

    # The call may write to its inputs.
    before = values(inputs)
    try:
        ran = check.run(inputs)
    except InputError:
        raise
    except BaseException as error:
        raise method.source.failure(
            f"the eager module's {what}",
            error,
            at=method.at,
            cause="the module does not accept the inputs of the model file.",
            fix="make the call work in eager PyTorch; inputs: " + describe(inputs.args or dict(inputs.kwargs)) + ".",
        ) from error
    outputs = tuple(_value(method, f"output {i} of {what}", leaf) for i, leaf in enumerate(ran.outputs))
    state = {name: stored(buffer) for name, buffer in check.buffers.changed().items() if is_storable(buffer)}
    return Sample(before, values(ran.inputs), outputs, ran.spec, state, _is_quantized(method.module))


def _is_quantized(module: torch.nn.Module) -> bool:
    """Returns whether torchao's quantize_() has quantized weights of a module. The original weights are gone."""
    return any(type(parameter).__module__.partition(".")[0] == "torchao" for parameter in module.parameters())


def _value(method: Method, what: str, leaf: Any, *, is_input: bool = False) -> Value | None:
    if leaf is None or (isinstance(leaf, str) and is_input):
        return None
    if isinstance(leaf, int) and not _INT64.min <= leaf <= _INT64.max:
        raise _unsupported(method, f"{what} is {describe(leaf)}, too large for 64 bits")
    if isinstance(leaf, (bool, int, float)):
        dtype = torch.bool if isinstance(leaf, bool) else torch.int64 if isinstance(leaf, int) else torch.float64
        leaf = torch.tensor(leaf, dtype=dtype)
    if not isinstance(leaf, torch.Tensor):
        raise _unsupported(method, f"{what} is {describe(leaf)}")
    if not is_storable(leaf):
        found = f"{what} is a {leaf.device.type} tensor of dtype {leaf.dtype}, layout {leaf.layout}"
        raise _unsupported(method, found, _COMPLEX_FIX if leaf.is_complex() else _FIX)
    return stored(leaf)


def is_storable(tensor: torch.Tensor) -> bool:
    """Returns whether a .ptd file can store a tensor."""
    return tensor.layout == torch.strided and tensor.device.type == "cpu" and tensor.dtype in _SCALAR_TYPES


def stored(tensor: torch.Tensor) -> Value:
    """Returns the elements of a tensor."""
    tensor = dense(tensor.detach().resolve_conj().resolve_neg())
    size = tensor.numel() * tensor.element_size()
    data = ctypes.string_at(tensor.data_ptr(), size) if size else b""
    return Value(TensorLayout(scalar_type_enum(tensor.dtype), list(tensor.shape), dim_order(tensor)), data)


def tensor(value: Value) -> torch.Tensor:
    """Returns a stored value as a tensor of its own, with the strides of the value's dim order."""
    order = list(value.layout.dim_order)
    sizes = [value.layout.sizes[dim] for dim in order]
    dtype = get_scalar_type(value.layout.scalar_type)
    flat = torch.frombuffer(bytearray(value.data), dtype=dtype) if value.data else torch.empty(0, dtype=dtype)
    return flat.reshape(sizes).permute([order.index(dim) for dim in range(len(order))])


def _unsupported(method: Method, found: str, fix: str = _FIX) -> InputError:
    return InputError.of(
        method.at,
        found,
        "a program takes and gives dense CPU tensors (no complex ones, and no uint64), bool, int, float and None.",
        fix,
        id="unsupported-value",
    )


def serialize(recorded: Mapping[str, Sequence[Sample]]) -> bytes:
    """Returns the samples of each method as the bytes of a .ptd file."""
    values: dict[str, Value] = {}
    for method, samples in recorded.items():
        for index, sample in enumerate(samples):
            if sample.quantized:
                values[f"{method}/{index}/quantized"] = Value(_FLAG, b"\1")
            if sample.error_growth > 1:
                growth = torch.tensor(sample.error_growth, dtype=torch.float64)
                values[f"{method}/{index}/error_growth"] = stored(growth)
            for kind, of_kind in (("input", sample.inputs), ("output", sample.outputs)):
                for position, value in enumerate(of_kind):
                    if value is not None:
                        values[f"{method}/{index}/{kind}/{position}"] = value
    return as_ptd(values)


def as_ptd(values: Mapping[str, Value]) -> bytes:
    """Returns values by their keys as the bytes of a .ptd file."""
    entries = {
        key: DataEntry(index, alignment=16, tensor_layout=value.layout)
        for index, (key, value) in enumerate(values.items())
    }
    return bytes(FlatTensorSerializer().serialize(DataPayload([value.data for value in values.values()], entries)))
