"""The Python module of an executorch_python_library, without its methods.

`codegen python_library` writes the module: this file without the docstring, and then the methods of the program.
"""

from __future__ import annotations

import ctypes
import importlib
import operator
import os
import struct
import threading
import weakref
from collections.abc import Sequence
from typing import Any

import numpy

_NAME = __name__.rpartition(".")[2]
_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), _NAME + ".libs")


def _load() -> ctypes.CDLL:
    library = ctypes.CDLL(os.path.join(_FOLDER, _NAME + ".so"))
    library.rules_executorch_open.restype = ctypes.c_void_p
    library.rules_executorch_open.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t]
    library.rules_executorch_close.argtypes = [ctypes.c_void_p]
    library.rules_executorch_run.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p]
    library.rules_executorch_use_threads.argtypes = [ctypes.c_uint32]
    library.rules_executorch_failure.restype = ctypes.c_char_p
    return library


# A call of a function runs without the GIL.
_LIBRARY = _load()


def _failure() -> str:
    text: bytes = _LIBRARY.rules_executorch_failure()
    return text.decode(errors="replace")


class _Memory:
    """The elements of a result, in memory that belongs to a program. NumPy keeps the object as the owner."""

    def __init__(self, program: _Program, interface: dict[str, Any]) -> None:
        self.program = program
        self.__array_interface__ = interface


class _Tensor:
    """A tensor of a method's inputs or outputs."""

    def __init__(
        self,
        dtype: str,
        sizes: tuple[int, ...],
        dim_order: tuple[int, ...],
        *,
        is_dynamic: bool = False,
        is_written: bool = False,
    ) -> None:
        """Initializes the tensor.

        Args:
            dtype: the dtype.
            sizes: the sizes; of a tensor with dynamic sizes, the upper bounds.
            dim_order: the dimensions from the outermost to the innermost in memory.
            is_dynamic: whether sizes may be less.
            is_written: whether the program may write to an input. The program then gets a copy.
        """
        self._name = dtype
        is_numpys = dtype != "bfloat16"
        self._dtype = numpy.dtype(dtype if is_numpys else importlib.import_module("ml_dtypes").bfloat16)
        self._sizes = sizes
        self._dim_order = dim_order
        self._is_dynamic = is_dynamic
        self._is_written = is_written
        self._is_contiguous = dim_order == tuple(range(len(sizes)))
        self.numbers = 1 + len(sizes)

    def __str__(self) -> str:
        at_most = "at most " if self._is_dynamic else ""
        return f"{self._name} {at_most}[{', '.join(map(str, self._sizes))}]"

    def put(self, where: str, value: Any, numbers: list[int]) -> Any:
        """Adds the address and the sizes of an array to the numbers of a call. Returns the array, which has to stay."""
        array = value if isinstance(value, numpy.ndarray) else self._imported(where, value)
        sizes = array.shape
        if array.dtype != self._dtype or not (sizes == self._sizes or self._are_possible(sizes)):
            raise self._wrong(where, array)
        if not self._is_usable(array):
            ordered = numpy.array(array.transpose(self._dim_order), self._dtype, order="C")
            array = ordered.transpose(sorted(range(len(self._dim_order)), key=self._dim_order.__getitem__))
        numbers += array.ctypes.data, *sizes
        return array

    def _imported(self, where: str, value: Any) -> Any:
        try:
            return numpy.from_dlpack(value)
        except (AttributeError, BufferError, RuntimeError, TypeError, ValueError) as error:
            raise TypeError(
                f"{where}: expected {self}; got {type(value).__name__}, of which NumPy makes no array: {error}\n\n"
                "Likely cause: the value is no array, is not in the CPU's memory, or has a dtype of PyTorch alone.\n"
                "Fix: give a NumPy array, or an object with __dlpack__ in the memory of the CPU.\n"
                "See: docs/errors.md#wrong-input"
            ) from error

    def _are_possible(self, sizes: tuple[int, ...]) -> bool:
        return self._is_dynamic and len(sizes) == len(self._sizes) and all(map(operator.le, sizes, self._sizes))

    def _wrong(self, where: str, array: Any) -> Exception:
        found = f"{where}: expected {self}; got {array.dtype} [{', '.join(map(str, array.shape))}].\n\n"
        if array.dtype != self._dtype:
            return TypeError(
                found
                + "Likely cause: NumPy makes float64 and int64 of Python's numbers, and float64 of random numbers.\n"
                f'Fix: give x.astype("{self._name}").\n'
                "See: docs/errors.md#wrong-input"
            )
        return ValueError(
            found
            + "Likely cause: a dimension is missing, such as that of the batch, or the program is for other sizes.\n"
            "Fix: give an array of these sizes; for other sizes, export with get_dynamic_shapes() of the model file.\n"
            "See: docs/errors.md#wrong-input"
        )

    def _is_usable(self, array: Any) -> bool:
        """Returns whether the program can read the memory of an array."""
        if self._is_written or not array.flags.aligned:
            return False
        ordered = array if self._is_contiguous else array.transpose(self._dim_order)
        return bool(ordered.flags.c_contiguous)

    def take(self, program: _Program, numbers: Sequence[int], *, copy: bool) -> Any:
        """Returns the array of a result."""
        address, sizes = numbers[0], tuple(numbers[1:])
        if 0 in sizes:
            return numpy.empty(sizes, self._dtype)
        strides = [0] * len(sizes)
        step = self._dtype.itemsize
        for dimension in reversed(self._dim_order):
            strides[dimension] = step
            step *= sizes[dimension]
        interface = {
            "version": 3,
            "data": (address, not copy),
            "shape": sizes,
            "strides": tuple(strides),
            "typestr": self._dtype.str,
        }
        array = numpy.asarray(_Memory(program, interface)).view(self._dtype)
        return array.copy(order="K") if copy else array


class _Value:
    """An input or an output that is no tensor."""

    numbers = 1

    def __init__(self, value: bool | int | float | str | None) -> None:
        """Initializes the value.

        Args:
            value: the value that the export compiled into the program; of an output, any value of the type.
        """
        self._value = value

    def __str__(self) -> str:
        return repr(self._value)

    def put(self, where: str, value: Any, numbers: list[int]) -> Any:
        if type(value) is not type(self._value) or value != self._value:
            raise ValueError(
                f"{where}: expected {self}; got {value!r}.\n\n"
                "Likely cause: torch.export compiles inputs that are not tensors into the program.\n"
                "Fix: give the value of the export, or make the input a tensor in the model file.\n"
                "See: docs/errors.md#wrong-input"
            )
        if isinstance(value, float):
            numbers += struct.unpack("q", struct.pack("d", value))
        else:
            numbers.append(int(value) if isinstance(value, int) else 0)
        return value

    def take(self, _: _Program, numbers: Sequence[int], *, copy: bool) -> Any:
        if isinstance(self._value, float):
            return struct.unpack("d", struct.pack("q", *numbers))[0]
        return None if self._value is None else type(self._value)(numbers[0])


class _Method:
    """A method of the program."""

    def __init__(self, name: str, inputs: Sequence[_Tensor | _Value], outputs: Sequence[_Tensor | _Value]) -> None:
        self.where = f"{__name__}.{name}"
        self.encoded = name.encode()
        self.inputs = inputs
        self.outputs = outputs
        self.results = ctypes.c_int64 * sum(output.numbers for output in outputs)


class _Program:
    """The program with a state of its own."""

    def __init__(self, *, copy: bool = True) -> None:
        with _starting:
            _programs.has_any = True
        self._copy = copy
        self._lock = threading.Lock()
        program = os.fsencode(os.path.join(_FOLDER, _NAME + ".pte"))
        names = [name for name in sorted(os.listdir(_FOLDER)) if name.endswith(".weights.ptd")]
        weights = (ctypes.c_char_p * len(names))(*(os.fsencode(os.path.join(_FOLDER, name)) for name in names))
        self._address = _LIBRARY.rules_executorch_open(program, weights, len(names))
        # Not at the end of the process: daemon threads may be in the program.
        weakref.finalize(self, _LIBRARY.rules_executorch_close, self._address).atexit = False

    def _run(self, method: _Method, inputs: Sequence[Any]) -> Any:
        if len(inputs) != len(method.inputs):
            expected = ", ".join(map(str, method.inputs))
            raise TypeError(
                f"{method.where}: expected {len(method.inputs)} inputs ({expected}); got {len(inputs)}.\n\n"
                "Likely cause: an input is missing, or inputs are in a tuple or a dict; a program takes each alone.\n"
                "Fix: give each input by itself, in the order of torch.utils._pytree.tree_flatten.\n"
                "See: docs/errors.md#wrong-input"
            )
        numbers: list[int] = []
        arrays = [
            expected.put(f"{method.where}: input {i}", value, numbers)
            for i, (expected, value) in enumerate(zip(method.inputs, inputs, strict=True))
        ]
        arguments = (ctypes.c_int64 * len(numbers))(*numbers)
        results = method.results()
        with self._lock:
            if not _LIBRARY.rules_executorch_run(self._address, method.encoded, arguments, results):
                raise RuntimeError(f"{method.where}: {_failure()}")
            del arrays  # The program has read them.
            taken, begin = [], 0
            for output in method.outputs:
                end = begin + output.numbers
                taken.append(output.take(self, results[begin:end], copy=self._copy))
                begin = end
        return taken[0] if len(taken) == 1 else tuple(taken)


class _Programs:
    """The programs of the module."""

    def __init__(self) -> None:
        self.has_any = False
        self.default: _Program | None = None


_programs = _Programs()
_starting = threading.Lock()


def _default_program() -> _Program:
    """Returns the instance that the functions of the module use."""
    if _programs.default is None:
        program = _Program()
        with _starting:
            _programs.default = _programs.default or program
    return _programs.default


def set_threads(count: int) -> None:
    """Sets the number of threads of one run. Default: one for each processor."""
    if count < 1:
        raise ValueError(f"{__name__}.set_threads: expected at least 1; got {count}.")
    with _starting:
        if _programs.has_any:
            raise RuntimeError(
                f"{__name__}.set_threads: expected a call before the first run; got one after a program was loaded.\n\n"
                "Likely cause: a function of the module was called before, or Program().\n"
                "Fix: call set_threads() after the import.\n"
                "See: docs/errors.md#late-threads"
            )
        if not _LIBRARY.rules_executorch_use_threads(count):
            raise RuntimeError(
                f"{__name__}.set_threads: expected {count} threads; the runtime starts no such number.\n\n"
                "Likely cause: the system starts no more threads, or the runtime was built without ExecuTorch's pool.\n"
                "Fix: give a smaller number.\n"
                "See: docs/errors.md#late-threads"
            )
