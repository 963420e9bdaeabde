"""Calls kernels through the operator registry, as a program does: the Python side of op_caller.cpp.

The environment variable OP_CALLER_LIBRARY (a path, or a path in the test's runfiles) or --op_caller_library names the
shared library of the kernels.
"""

import contextlib
import ctypes
import functools
import math
import os
import pathlib
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any

import torch
from absl import flags

from codegen.model.scalar_types import SCALAR_TYPES
from kernels.testing import inputs
from kernels.testing.description import describe_value
from kernels.testing.guarded_memory import GuardedMemory

_LIBRARY = flags.DEFINE_string("op_caller_library", None, "The library of the op_caller and the kernels to test.")

# The numbers of dtypes in the runtime. The name of PyTorch's tensor class, such as `torch.ByteTensor`, has the dtype's
# name in C++.
_SCALAR_TYPES = {
    dtype: SCALAR_TYPES[torch.empty(0, dtype=dtype).type().removeprefix("torch.").removesuffix("Tensor")]
    for dtype in (*inputs.MOVABLE_DTYPES, torch.bits16)
}
_MEMORY_FORMATS = {torch.contiguous_format: 0, torch.preserve_format: 1, torch.channels_last: 2}

_STATIC, _DYNAMIC_BOUND = 0, 1  # TensorShapeDynamism
_GUARD = 64  # guard bytes before and after out tensors; the number keeps the alignment
_GUARD_BYTE = 0xA5


class KernelError(Exception):
    """A kernel has reported an error.

    Attributes:
      code: the runtime's error code.
      log: the errors that the runtime has logged, one in each line.
    """

    INVALID_ARGUMENT = 0x12

    def __init__(self, code: int, log: str) -> None:
        super().__init__(f"error 0x{code:02x}: {log}")
        self.code = code
        self.log = log


class OutBuffer:
    """Memory for one out tensor, between guard bytes.

    Args:
      expected: a tensor with the dtype and the shape of the result.
      dim_order: the dim order of the out tensor, if the tensor has as many dimensions; default: contiguous.
      static: whether the out tensor has the shape of `expected` and cannot be resized. Otherwise, each dimension is
        larger by one.
    """

    def __init__(self, expected: torch.Tensor, dim_order: Sequence[int] | None, static: bool) -> None:
        self.sizes = list(expected.shape) if static else [size + 1 for size in expected.shape]
        self.dtype = expected.dtype
        given = list(dim_order or ())
        self.dim_order = given if len(given) == expected.dim() else list(range(expected.dim()))
        self.dynamism = _STATIC if static else _DYNAMIC_BOUND
        self._nbytes = math.prod(self.sizes) * expected.element_size()
        self._memory = torch.full((self._nbytes + 2 * _GUARD,), _GUARD_BYTE, dtype=torch.uint8)

    @property
    def address(self) -> int:
        return self._memory.data_ptr() + _GUARD

    def tensor(self, sizes: Sequence[int]) -> torch.Tensor:
        """The result of the kernel, with the sizes to which the kernel resized the out tensor."""
        elements = self._memory[_GUARD : _GUARD + self._nbytes].view(self.dtype)
        strides = inputs.strides_of(sizes, self.dim_order)
        return torch.as_strided(elements, tuple(sizes), strides, elements.storage_offset())

    def takes(self, value: Any) -> bool:
        """Whether this memory can have the elements of `value` in place of the result."""
        return (
            isinstance(value, torch.Tensor)
            and (value.dtype, list(value.shape)) == (self.dtype, self.sizes)
            and list(value.stride()) == inputs.strides_of(self.sizes, self.dim_order)
        )

    def check_guards(self) -> None:
        guards = torch.cat([self._memory[:_GUARD], self._memory[self._nbytes + _GUARD :]])
        if not bool((guards == _GUARD_BYTE).all()):
            raise AssertionError("the kernel writes outside its out tensor")


class OpCall:
    """A kernel with its arguments in the order of the schema, out tensors last. It can run several times.

    Use it as a context manager, which frees the arguments at the end.

    Args:
      name: the registered name with its namespace: "aten::add.out".
      guard: guarded memory for copies of the inputs, for calls that only read the inputs.
    """

    def __init__(self, name: str, guard: GuardedMemory | None = None) -> None:
        self._guard = guard
        self._library = _library()
        self._handle = self._library.op_call_new(name.encode())
        if not self._handle:
            raise AssertionError(f"no kernel is registered for {name}")
        self._inputs: list[torch.Tensor] = []
        self._pushed = 0
        self._buffers: Sequence[OutBuffer] = ()
        self._outs_are_list = False

    def __enter__(self) -> "OpCall":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._library.op_call_delete(self._handle)

    def push(self, kind: Any, value: Any) -> None:
        """Appends `value` as an argument of the schema type `kind`."""
        self._push(kind, value)
        self._pushed += 1

    def push_aliased(self, tensor: torch.Tensor, buffer: OutBuffer) -> None:
        """Appends an input that shares the memory of an out tensor."""
        buffer.tensor(tensor.shape).copy_(tensor)
        self._push_tensor(buffer.dtype, buffer.address, buffer.sizes, buffer.dim_order, buffer.dynamism)
        self._pushed += 1

    def push_outs(self, buffers: Sequence[OutBuffer], *, as_list: bool) -> None:
        """Appends the out arguments: one tensor each, or one list of tensors."""
        for buffer in buffers:
            self._push_tensor(buffer.dtype, buffer.address, buffer.sizes, buffer.dim_order, buffer.dynamism)
        if as_list:
            self._library.op_call_push_tensor_list(self._handle, len(buffers))
        self._buffers = buffers
        self._outs_are_list = as_list

    def guard_memory(self) -> None:
        """From now on, temporary memory is between guard bytes. The kernel fails if it writes to guard bytes."""
        self._library.op_call_guard_memory(ctypes.c_void_p(self._handle))

    def run(self, beside: "OpCall | None" = None) -> None:
        """Calls the kernel, and at the same time the kernel of `beside` on another thread. Raises KernelError."""
        outs = 1 if self._outs_are_list else len(self._buffers)
        code = self._library.op_call_run(self._handle, outs, beside._handle if beside else None)
        if code != 0:
            raise KernelError(code, self._library.op_call_errors().decode(errors="replace").strip())

    def check_guards(self) -> None:
        """Raises AssertionError if the kernel has written outside its out tensors."""
        for buffer in self._buffers:
            buffer.check_guards()

    def results(self) -> list[torch.Tensor]:
        """The out tensors, with the sizes of the last call."""
        results = []
        for i, buffer in enumerate(self._buffers):
            rank = len(buffer.sizes)
            sizes = (ctypes.c_int32 * max(rank, 1))()
            index, element = (self._pushed, i) if self._outs_are_list else (self._pushed + i, 0)
            self._library.op_call_tensor_sizes(self._handle, index, element, sizes)
            results.append(buffer.tensor(sizes[:rank]))
        return results

    def _push(self, kind: Any, value: Any) -> None:
        text = str(kind)
        if isinstance(kind, torch.OptionalType):
            if value is None:
                self._library.op_call_push_none(self._handle)
            else:
                self._push(kind.getElementType(), value)
        elif isinstance(value, torch.Tensor) != (text == "Tensor"):
            raise TypeError(f"cannot pass {describe_value(value)} as {text}")
        elif isinstance(value, torch.Tensor):
            self._push_input(value)
        elif isinstance(value, torch.dtype):
            self._library.op_call_push_int(self._handle, _SCALAR_TYPES[value])
        elif isinstance(value, torch.memory_format):
            self._library.op_call_push_int(self._handle, _MEMORY_FORMATS[value])
        elif isinstance(value, (torch.layout, torch.device)):
            self._library.op_call_push_int(self._handle, 0)  # strided, CPU
        elif isinstance(kind, torch.ListType):
            self._push_list(kind.getElementType(), value)
        elif isinstance(value, str):
            data = value.encode()
            self._library.op_call_push_string(self._handle, data, len(data))
        elif isinstance(value, bool) and text != "int":
            self._library.op_call_push_bool(self._handle, value)
        elif isinstance(value, int) and text not in ("float", "double"):
            self._library.op_call_push_int(self._handle, value)
        elif isinstance(value, (int, float)):
            self._library.op_call_push_double(self._handle, value)
        else:
            raise TypeError(f"cannot pass {value!r} as {text}")

    def _push_input(self, tensor: torch.Tensor) -> None:
        order = inputs.dim_order_of(tensor)
        dense = inputs.strides_of(tensor.shape, order)
        strides = zip(tensor.shape, tensor.stride(), dense, strict=True)
        if tensor.numel() and any(size > 1 and stride != wanted for size, stride, wanted in strides):
            raise ValueError(f"strides {tuple(tensor.stride())} of {tuple(tensor.shape)} do not match any dim order")
        self._inputs.append(tensor)
        address = tensor.data_ptr()
        if self._guard is not None and len(self._inputs) <= self._guard.slots:
            address = self._guard.place(tensor)
        self._push_tensor(tensor.dtype, address, tensor.shape, order, _STATIC)

    def _push_tensor(
        self, dtype: torch.dtype, address: int, sizes: Sequence[int], dim_order: Sequence[int], dynamism: int
    ) -> None:
        rank = len(sizes)
        self._library.op_call_push_tensor(
            self._handle,
            _SCALAR_TYPES[dtype],
            rank,
            (ctypes.c_int32 * rank)(*sizes),
            (ctypes.c_uint8 * rank)(*dim_order),
            (ctypes.c_int32 * rank)(*inputs.strides_of(sizes, dim_order)),
            dynamism,
            address,
        )

    def _push_list(self, element: Any, value: Any) -> None:
        text = str(element)
        values = list(value) if isinstance(value, (list, tuple)) else [value]  # `int[1] dim` accepts an int, too
        size = len(values)
        if text in ("Tensor", "Optional[Tensor]"):
            for item in values:
                self._push(element, item)
            if text == "Tensor":
                self._library.op_call_push_tensor_list(self._handle, size)
            else:
                self._library.op_call_push_optional_tensor_list(self._handle, size)
        elif text in ("int", "SymInt"):
            self._library.op_call_push_int_list(self._handle, (ctypes.c_int64 * size)(*values), size)
        elif text in ("float", "double"):
            self._library.op_call_push_double_list(self._handle, (ctypes.c_double * size)(*values), size)
        elif text == "bool":
            self._library.op_call_push_bool_list(self._handle, (ctypes.c_bool * size)(*values), size)
        else:
            raise TypeError(f"cannot pass a list of {text}")


def library_path() -> pathlib.Path:
    """The path of the library with the op_caller and the kernels."""
    name = (_LIBRARY.value if flags.FLAGS.is_parsed() else None) or os.environ.get("OP_CALLER_LIBRARY")
    if not name:
        raise RuntimeError("set OP_CALLER_LIBRARY to the library with the op_caller and the kernels")
    path = pathlib.Path(name)
    if not path.exists() and "TEST_SRCDIR" in os.environ:
        path = pathlib.Path(os.environ["TEST_SRCDIR"], os.environ["TEST_WORKSPACE"], name)
    return path.absolute()


@contextlib.contextmanager
def threads(count: int) -> Iterator[None]:
    """In this context, kernels divide their work among `count` threads."""
    before = _library().op_caller_set_thread_count(ctypes.c_int64(count))
    try:
        yield
    finally:
        _library().op_caller_set_thread_count(ctypes.c_int64(before))


def set_random_seed(seed: int) -> None:
    """From now on, kernels draw the random numbers of this seed."""
    _library().op_caller_set_random_seed(ctypes.c_uint64(seed))


def take_part_count() -> int:
    """The largest number of parts into which a kernel has divided work since the last call, or 0."""
    return int(_library().op_caller_take_part_count())


@functools.cache
def _library() -> ctypes.CDLL:
    # Local symbols, because the kernels of a Python package may have the same names.
    library = ctypes.CDLL(str(library_path()), mode=os.RTLD_NOW | os.RTLD_LOCAL)
    void, pointer, integer, text = None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_char_p
    # Benchmarks also load libraries of older commits, which lack functions that only tests call.
    signatures: dict[str, tuple[Any, list[Any]]] = {
        "op_call_new": (pointer, [text]),
        "op_call_delete": (void, [pointer]),
        "op_call_push_none": (void, [pointer]),
        "op_call_push_int": (void, [pointer, integer]),
        "op_call_push_double": (void, [pointer, ctypes.c_double]),
        "op_call_push_bool": (void, [pointer, ctypes.c_bool]),
        "op_call_push_string": (void, [pointer, text, integer]),
        "op_call_push_int_list": (void, [pointer, pointer, integer]),
        "op_call_push_double_list": (void, [pointer, pointer, integer]),
        "op_call_push_bool_list": (void, [pointer, pointer, integer]),
        "op_call_push_tensor": (
            void,
            [pointer, ctypes.c_int, integer, pointer, pointer, pointer, ctypes.c_int, pointer],
        ),
        "op_call_push_tensor_list": (void, [pointer, integer]),
        "op_call_push_optional_tensor_list": (void, [pointer, integer]),
        "op_call_run": (ctypes.c_int, [pointer, integer, pointer]),
        "op_call_errors": (text, []),
        "op_call_tensor_sizes": (void, [pointer, integer, integer, pointer]),
    }
    for function, (result, arguments) in signatures.items():
        getattr(library, function).restype = result
        getattr(library, function).argtypes = arguments
    return library
