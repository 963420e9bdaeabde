"""Judges kernels by PyTorch: calls them as a program would, through the operator registry, and compares.

    class OpNegTest(op_tester.OpTest):
        def test_neg(self) -> None:
            self.check_unary(self.op("aten::neg.out"))

`OpTester` is for single calls, `OpTest` adds the sweeps over dtypes, shapes, dim orders and out dtypes. The shared
library that holds the kernels is named by the environment variable OP_CALLER_LIBRARY (a path, or a path in the test's
runfiles) or by --op_caller_library.
"""

import contextlib
import ctypes
import dataclasses
import faulthandler
import functools
import itertools
import os
import pathlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ClassVar

import torch
from absl import flags, logging
from absl.testing import absltest

_LIBRARY = flags.DEFINE_string("op_caller_library", None, "The library of op_caller.cpp and the kernels to test.")

faulthandler.enable()  # A kernel that crashes shows which test called it.

FLOAT_DTYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
INT_DTYPES = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
ALL_DTYPES = (*FLOAT_DTYPES, *INT_DTYPES, torch.bool)
UNSUPPORTED_DTYPES = (torch.complex64, torch.uint16)

Shape = tuple[int, ...]

SHAPES: tuple[Shape, ...] = (
    ((), (1,), (7,), (0,), (3, 5), (2, 0, 3), (2, 3, 4, 5), (1, 4, 1, 1), (2, 1, 3, 2, 2), (17, 33))
)  # fmt: skip
BROADCAST_SHAPES: tuple[tuple[Shape, Shape], ...] = (
    ((), ()),
    ((4,), ()),
    ((), (2, 3)),
    ((3, 5), (3, 5)),
    ((3, 5), (5,)),
    ((3, 1), (1, 5)),
    ((2, 1, 4), (3, 1)),
    ((0, 3), (1, 3)),
    ((0,), ()),
    ((2, 3, 4, 5), (3, 1, 1)),
    ((1,), (600,)),
)
NOT_BROADCAST_SHAPES: tuple[tuple[Shape, Shape], ...] = (((3,), (4,)), ((2, 3), (2,)), ((0,), (2,)))

_PROMOTION_SHAPES: tuple[tuple[Shape, Shape], ...] = (((2, 3), (3,)), ((4,), ()), ((), (4,)), ((), ()))

# The numbers of executorch::aten::ScalarType.
_SCALAR_TYPES = {
    torch.uint8: 0, torch.int8: 1, torch.int16: 2, torch.int32: 3, torch.int64: 4, torch.float16: 5, torch.float32: 6,
    torch.float64: 7, torch.complex64: 9, torch.bool: 11, torch.bfloat16: 15, torch.uint16: 27,
}  # fmt: skip
_MEMORY_FORMATS = {torch.contiguous_format: 0, torch.preserve_format: 1, torch.channels_last: 2}

# Relative and absolute tolerance. Half and BFloat16 results are calculated in float32 here and there: one rounding.
_TOLERANCES = {
    torch.float64: (1e-12, 1e-12),
    torch.float32: (1.3e-6, 1e-6),
    torch.float16: (1e-3, 1e-5),
    torch.bfloat16: (8e-3, 1e-5),
}

_STATIC, _DYNAMIC_BOUND = 0, 1  # TensorShapeDynamism
_GUARD = 64  # Bytes before and behind out tensors that kernels must leave alone; keeps them aligned.
_GUARD_BYTE = 0xA5


class KernelError(Exception):
    """A kernel reported failure; the message has the runtime's error code and what it logged."""


@functools.cache
def _library() -> ctypes.CDLL:
    name = (_LIBRARY.value if flags.FLAGS.is_parsed() else None) or os.environ.get("OP_CALLER_LIBRARY")
    if not name:
        raise RuntimeError("set OP_CALLER_LIBRARY to the library of op_caller.cpp and the kernels to test")
    path = pathlib.Path(name)
    if not path.exists() and "TEST_SRCDIR" in os.environ:
        path = pathlib.Path(os.environ["TEST_SRCDIR"], os.environ["TEST_WORKSPACE"], name)
    # Local symbols: the kernels' names are those of kernels that a Python package may bring.
    library = ctypes.CDLL(str(path.absolute()), mode=os.RTLD_NOW | os.RTLD_LOCAL)
    void, pointer, integer, text = None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_char_p
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
        "op_call_run": (ctypes.c_int, [pointer, integer]),
        "op_call_errors": (text, []),
        "op_call_tensor_sizes": (void, [pointer, integer, integer, pointer]),
    }
    for function, (result, arguments) in signatures.items():
        getattr(library, function).restype = result
        getattr(library, function).argtypes = arguments
    return library


def dim_order_of(tensor: torch.Tensor) -> tuple[int, ...]:
    """The dimensions from the outermost in memory to the innermost."""
    strides = tensor.stride()
    return tuple(sorted(range(tensor.dim()), key=lambda dim: -strides[dim]))


def strides_of(sizes: Sequence[int], dim_order: Sequence[int]) -> list[int]:
    """Strides of a dense tensor, in elements, as the runtime derives them."""
    strides = [0] * len(sizes)
    step = 1
    for dim in reversed(dim_order):
        strides[dim] = step
        step *= max(sizes[dim], 1)
    return strides


def with_dim_order(tensor: torch.Tensor, dim_order: Sequence[int]) -> torch.Tensor:
    """A copy of `tensor` whose memory has `dim_order`."""
    result = torch.empty_strided(tensor.shape, strides_of(tensor.shape, dim_order), dtype=tensor.dtype)
    return result.copy_(tensor)


def dim_orders(dim: int) -> list[tuple[int, ...]]:
    """Dim orders to try for a tensor of `dim` dimensions: contiguous, channels last where it exists, and reversed."""
    orders = [tuple(range(dim))]
    if dim >= 4:
        orders.append((0, *range(2, dim), 1))
    if dim >= 2:
        orders.append(tuple(reversed(range(dim))))
    return orders


def make_tensor(
    shape: Sequence[int],
    dtype: torch.dtype,
    *,
    dim_order: Sequence[int] | None = None,
    low: float = -9,
    high: float = 9,
) -> torch.Tensor:
    """A tensor of repeatable values: floats of [low, high), integers of the same range (from 0 for uint8), Bools."""
    generator = torch.Generator().manual_seed(len(shape) * 1000 + sum(shape))
    if dtype == torch.bool:
        tensor = torch.randint(0, 2, tuple(shape), generator=generator).to(dtype)
    elif dtype.is_floating_point:
        tensor = (torch.rand(tuple(shape), generator=generator, dtype=torch.float64) * (high - low) + low).to(dtype)
    else:
        start = max(int(low), 0) if dtype in (torch.uint8, torch.uint16) else int(low)
        tensor = torch.randint(start, int(high) + 1, tuple(shape), generator=generator).to(dtype)
    return tensor if dim_order is None else with_dim_order(tensor, dim_order)


def special_values(dtype: torch.dtype) -> torch.Tensor:
    """Every kind of value a function may stumble over: signed zeros, infinities, NaN, the dtype's extremes."""
    if dtype == torch.bool:
        return torch.tensor([False, True])
    if dtype.is_floating_point:
        info = torch.finfo(dtype)
        inf, nan = float("inf"), float("nan")
        values = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, -2.5, inf, -inf, nan, info.max, info.min, info.tiny, info.eps]
        return torch.tensor(values, dtype=dtype)
    bounds = torch.iinfo(dtype)
    return torch.tensor([0, 1, 2, 3, bounds.min, bounds.max, bounds.max - 1], dtype=dtype)


@dataclasses.dataclass(frozen=True)
class Options:
    """How to call a kernel, and to compare its results; given by keyword among the operator's own arguments.

    Attributes:
      out_dtype: dtype of the out tensors; default: the dtype of PyTorch's result.
      out_dim_order: of every out tensor; default: contiguous.
      static: give the kernel out tensors of exactly the shapes that are expected, which cannot be resized; default:
        tensors that are one larger in every dimension and that it has to resize.
      rtol, atol: default: of the dtype.
      exact: floats equal, too.
    """

    out_dtype: torch.dtype | None = None
    out_dim_order: Sequence[int] | None = None
    static: bool = False
    rtol: float | None = None
    atol: float | None = None
    exact: bool = False

    @classmethod
    def taken_from(cls, kwargs: dict[str, Any]) -> "Options":
        """The options among keyword arguments, which lose them."""
        names = [field.name for field in dataclasses.fields(cls)]
        return cls(**{name: kwargs.pop(name) for name in names if name in kwargs})


class OpTester:
    """Calls one operator's kernel and PyTorch with the same arguments.

    Args:
      name: the registered name with its namespace: "aten::add.out".
      schema: the operator's schema; default: PyTorch's own for that name.
      reference: computes the expected results, called with the arguments without the out arguments (all by keyword
        if given so); default: PyTorch's out variant, with out tensors of the dtypes that its functional variant gives.
    """

    def __init__(self, name: str, *, schema: str | None = None, reference: Callable[..., Any] | None = None) -> None:
        self.name = name
        self._reference = reference
        self.overload = None if schema else _torch_overload(name)
        self.functional = _functional_overload(self.overload) if self.overload else None
        self.schema = torch._C.parse_schema(schema) if schema else self.overload._schema  # type: ignore[union-attr]
        self.out_names = [argument.name for argument in self.schema.arguments if argument.is_out]
        self.accepted = 0
        self.rejected = 0

    def expect(self, *args: Any, out_dtype: torch.dtype | None = None, **kwargs: Any) -> list[torch.Tensor]:
        """PyTorch's results. Raises what PyTorch raises."""
        if self._reference is not None:
            results = _flatten(self._reference(*args, **kwargs))
            return results if out_dtype is None else [result.to(out_dtype) for result in results]
        assert self.overload is not None
        dtypes = [out_dtype] * len(self.out_names)
        out_is_list = _is_tensor_list(self.schema.arguments[-1])
        if out_dtype is None or out_is_list:
            if self.functional is None:
                raise ValueError(f"{self.name} has no functional variant to tell its results' dtypes: pass out_dtype")
            natural = _flatten(self.functional(*args, **kwargs))
            if out_is_list:
                return natural if out_dtype is None else [result.to(out_dtype) for result in natural]
            dtypes = [result.dtype for result in natural]
        outs = {name: torch.empty(0, dtype=dtype) for name, dtype in zip(self.out_names, dtypes, strict=True)}
        self.overload(*args, **kwargs, **outs)
        return list(outs.values())

    def run(self, *args: Any, outs: Sequence[torch.Tensor], **kwargs: Any) -> list[torch.Tensor]:
        """The kernel's results. Raises KernelError where it fails, AssertionError where it writes beyond its output.

        Args:
          outs: tensors of the dtypes and shapes that are expected.
          args, kwargs: the operator's arguments without the out arguments, and Options.
        """
        with self.prepare(*args, outs=outs, **kwargs) as call:
            code = call.run()
            call.check_guards()
            if code != 0:
                raise KernelError(f"error 0x{code:02x}: {call.errors()}")
            return call.results()

    @contextlib.contextmanager
    def prepare(self, *args: Any, outs: Sequence[torch.Tensor], **kwargs: Any) -> Iterator["PreparedCall"]:
        """A call of the kernel, to run as often as one likes. The arguments are those of `run`."""
        options = Options.taken_from(kwargs)
        library = _library()
        handle = library.op_call_new(self.name.encode())
        if not handle:
            raise AssertionError(f"no kernel is registered for {self.name}")
        try:
            inputs = self._bind(args, kwargs)
            keep_alive: list[Any] = []
            for argument, value in inputs:
                _push(library, handle, argument.type, value, keep_alive)
            buffers = [_OutBuffer(out, options.out_dim_order, options.static) for out in outs]
            for buffer in buffers:
                buffer.push(library, handle)
            out_is_list = _is_tensor_list(self.schema.arguments[-1])
            if out_is_list:
                library.op_call_push_tensor_list(handle, len(buffers))
            yield PreparedCall(library, handle, len(inputs), buffers, out_is_list)
        finally:
            library.op_call_delete(handle)

    def check(self, *args: Any, **kwargs: Any) -> None:
        """The kernel's results equal PyTorch's in values, dtypes and shapes: integers and Bools exactly, floats within
        tolerance. NaNs equal NaNs.

        Args:
          args, kwargs: the operator's arguments without the out arguments, and Options.
        """
        options = Options.taken_from(kwargs)
        self._compare(self.expect(*args, out_dtype=options.out_dtype, **kwargs), args, kwargs, options)

    def check_rejected(
        self,
        *args: Any,
        outs: Sequence[torch.Tensor] | None = None,
        out_dtype: torch.dtype | None = None,
        **kwargs: Any,
    ) -> None:
        """The kernel fails with an error, as PyTorch does (unless `outs` says what to give the kernel)."""
        if outs is None:
            try:
                self.expect(*args, out_dtype=out_dtype, **kwargs)
            except Exception:  # Whatever type: PyTorch refuses.
                pass
            else:
                raise AssertionError(f"PyTorch accepts {self._describe(args, kwargs)}")
            outs = self._placeholders(args, out_dtype)
        try:
            self.run(*args, outs=outs, **kwargs)
        except KernelError:
            self.rejected += 1
        else:
            raise AssertionError(f"the kernel accepts what it should reject: {self._describe(args, kwargs)}")

    def judge(self, *args: Any, **kwargs: Any) -> None:
        """`check` if PyTorch accepts the arguments, else `check_rejected`."""
        options = Options.taken_from(kwargs)
        try:
            expected = self.expect(*args, out_dtype=options.out_dtype, **kwargs)
        except Exception:  # Whatever type: PyTorch refuses.
            self.check_rejected(*args, outs=self._placeholders(args, options.out_dtype), **kwargs)
        else:
            self._compare(expected, args, kwargs, options)

    def check_rejected_or_converted(self, *args: Any, out_dtype: torch.dtype, **kwargs: Any) -> None:
        """The kernel fails, or its results are PyTorch's converted to `out_dtype`, to which they can be cast."""
        natural = self.expect(*args, **kwargs)
        expected = [result.to(out_dtype) for result in natural]
        try:
            self.run(*args, outs=expected, **kwargs)
        except KernelError:
            self.rejected += 1
            return
        if not all(torch.can_cast(result.dtype, out_dtype) for result in natural):
            raise AssertionError(f"the kernel casts its result to {out_dtype}: {self._describe(args, kwargs)}")
        self._compare(expected, args, kwargs, Options(out_dtype))

    def _compare(
        self, expected: list[torch.Tensor], args: Sequence[Any], kwargs: dict[str, Any], options: Options
    ) -> None:
        where = f"{self._describe(args, kwargs)} -> {', '.join(_describe_value(e) for e in expected)}"
        try:
            actual = self.run(
                *args, outs=expected, out_dim_order=options.out_dim_order, static=options.static, **kwargs
            )
        except KernelError as error:
            raise AssertionError(f"the kernel fails for {where}: {error}") from None
        # Where an out dtype is asked for, PyTorch rounds to the dtype that the result would have by itself, then to it.
        rounded_to: list[torch.dtype] = []
        if options.out_dtype is not None:
            with contextlib.suppress(Exception):  # Some operators have no result without an out dtype.
                rounded_to = [result.dtype for result in self.expect(*args, **kwargs)]

        def prefixed(message: str) -> str:
            return f"{where}: {message}"

        for result, wanted in zip(actual, expected, strict=True):
            dtypes = [wanted.dtype, *rounded_to]
            rtol, atol = max((0.0, 0.0) if options.exact else _TOLERANCES.get(dtype, (0.0, 0.0)) for dtype in dtypes)
            rtol = rtol if options.rtol is None else options.rtol
            atol = atol if options.atol is None else options.atol
            torch.testing.assert_close(result, wanted, rtol=rtol, atol=atol, equal_nan=True, msg=prefixed)
        self.accepted += 1

    def _placeholders(self, args: Sequence[Any], out_dtype: torch.dtype | None) -> list[torch.Tensor]:
        """Out tensors for a call that must fail: of the first tensor's dtype and shape."""
        first = next((value for value in _flatten(args) if isinstance(value, torch.Tensor)), torch.empty(1))
        return [torch.empty(first.shape, dtype=out_dtype or first.dtype) for _ in self.out_names]

    def _bind(self, args: Sequence[Any], kwargs: dict[str, Any]) -> list[tuple[Any, Any]]:
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

    def _describe(self, args: Sequence[Any], kwargs: dict[str, Any]) -> str:
        values = [_describe_value(value) for value in args]
        values += [f"{name}={_describe_value(value)}" for name, value in kwargs.items()]
        return f"{self.name}({', '.join(values)})"


class PreparedCall:
    """A kernel with its arguments in place. See `OpTester.prepare`."""

    def __init__(
        self, library: ctypes.CDLL, handle: Any, input_count: int, buffers: "Sequence[_OutBuffer]", out_is_list: bool
    ) -> None:
        self._library = library
        self._handle = handle
        self._input_count = input_count
        self._buffers = buffers
        self._out_is_list = out_is_list
        self._out_count = 1 if out_is_list else len(buffers)

    def run(self) -> int:
        """Calls the kernel and returns the runtime's error code, 0 for success."""
        return int(self._library.op_call_run(self._handle, self._out_count))

    def errors(self) -> str:
        """What the runtime logged during the last call."""
        return str(self._library.op_call_errors().decode(errors="replace").strip())

    def check_guards(self) -> None:
        """Raises AssertionError where the kernel wrote beyond its output."""
        for buffer in self._buffers:
            buffer.check_guards()

    def results(self) -> list[torch.Tensor]:
        """The out tensors, in the sizes that the last call gave them."""
        results = []
        for i, buffer in enumerate(self._buffers):
            sizes = (ctypes.c_int32 * max(len(buffer.sizes), 1))()
            index, element = (self._input_count, i) if self._out_is_list else (self._input_count + i, 0)
            self._library.op_call_tensor_sizes(self._handle, index, element, sizes)
            results.append(buffer.tensor(sizes[: len(buffer.sizes)]))
        return results


class _OutBuffer:
    """Memory for one out tensor, between guard bytes."""

    def __init__(self, expected: torch.Tensor, dim_order: Sequence[int] | None, static: bool) -> None:
        self.sizes = list(expected.shape) if static else [size + 1 for size in expected.shape]
        self.dtype = expected.dtype
        self.dim_order = list(range(expected.dim())) if dim_order is None else list(dim_order)
        self.dynamism = _STATIC if static else _DYNAMIC_BOUND
        numel = 1
        for size in self.sizes:
            numel *= size
        self.nbytes = numel * expected.element_size()
        self.memory = torch.full((self.nbytes + 2 * _GUARD,), _GUARD_BYTE, dtype=torch.uint8)

    def push(self, library: ctypes.CDLL, handle: int) -> None:
        address = self.memory.data_ptr() + _GUARD
        _push_tensor(
            library, handle, self.dtype, address, sizes=self.sizes, dim_order=self.dim_order, dynamism=self.dynamism
        )

    def tensor(self, sizes: Sequence[int]) -> torch.Tensor:
        elements = self.memory[_GUARD : _GUARD + self.nbytes].view(self.dtype)
        return torch.as_strided(elements, tuple(sizes), strides_of(sizes, self.dim_order), elements.storage_offset())

    def check_guards(self) -> None:
        guards = torch.cat([self.memory[:_GUARD], self.memory[self.nbytes + _GUARD :]])
        if not bool((guards == _GUARD_BYTE).all()):
            raise AssertionError("the kernel writes outside its out tensor")


def _push_tensor(
    library: ctypes.CDLL,
    handle: int,
    dtype: torch.dtype,
    address: int,
    *,
    sizes: Sequence[int],
    dim_order: Sequence[int],
    dynamism: int = _STATIC,
) -> None:
    rank = len(sizes)
    library.op_call_push_tensor(
        handle,
        _SCALAR_TYPES[dtype],
        rank,
        (ctypes.c_int32 * rank)(*sizes),
        (ctypes.c_uint8 * rank)(*dim_order),
        (ctypes.c_int32 * rank)(*strides_of(sizes, dim_order)),
        dynamism,
        address,
    )


def _push(library: ctypes.CDLL, handle: int, kind: Any, value: Any, keep_alive: list[Any]) -> None:
    """Appends `value` as the schema type `kind` has it; what must live until the call has ended goes to keep_alive."""
    text = str(kind)
    if isinstance(kind, torch.OptionalType):
        if value is None:
            library.op_call_push_none(handle)
        else:
            _push(library, handle, kind.getElementType(), value, keep_alive)
    elif isinstance(value, torch.Tensor) != (text == "Tensor"):
        raise TypeError(f"cannot pass {_describe_value(value)} as {text}")
    elif isinstance(value, torch.Tensor):
        order = dim_order_of(value)
        dense = strides_of(value.shape, order)
        if value.numel() and any(size > 1 and value.stride(d) != dense[d] for d, size in enumerate(value.shape)):
            raise ValueError(f"strides {tuple(value.stride())} of {tuple(value.shape)} are those of no dim order")
        keep_alive.append(value)
        _push_tensor(library, handle, value.dtype, value.data_ptr(), sizes=value.shape, dim_order=order)
    elif isinstance(value, torch.dtype):
        library.op_call_push_int(handle, _SCALAR_TYPES[value])
    elif isinstance(value, torch.memory_format):
        library.op_call_push_int(handle, _MEMORY_FORMATS[value])
    elif isinstance(value, (torch.layout, torch.device)):
        library.op_call_push_int(handle, 0)  # strided, CPU
    elif isinstance(kind, torch.ListType):
        _push_list(library, handle, kind.getElementType(), value, keep_alive)
    elif isinstance(value, str):
        data = value.encode()
        library.op_call_push_string(handle, data, len(data))
    elif isinstance(value, bool) and text != "int":
        library.op_call_push_bool(handle, value)
    elif isinstance(value, int) and text not in ("float", "double"):
        library.op_call_push_int(handle, value)
    elif isinstance(value, (int, float)):
        library.op_call_push_double(handle, value)
    else:
        raise TypeError(f"cannot pass {value!r} as {text}")


def _push_list(library: ctypes.CDLL, handle: int, element: Any, value: Any, keep_alive: list[Any]) -> None:
    text = str(element)
    values = list(value) if isinstance(value, (list, tuple)) else [value]  # `int[1] dim` takes an int, too.
    if text == "Tensor":
        for item in values:
            _push(library, handle, element, item, keep_alive)
        library.op_call_push_tensor_list(handle, len(values))
    elif text == "Optional[Tensor]":
        for item in values:
            _push(library, handle, element, item, keep_alive)
        library.op_call_push_optional_tensor_list(handle, len(values))
    elif text in ("int", "SymInt"):
        library.op_call_push_int_list(handle, (ctypes.c_int64 * len(values))(*values), len(values))
    elif text in ("float", "double"):
        library.op_call_push_double_list(handle, (ctypes.c_double * len(values))(*values), len(values))
    elif text == "bool":
        library.op_call_push_bool_list(handle, (ctypes.c_bool * len(values))(*values), len(values))
    else:
        raise TypeError(f"cannot pass a list of {text}")


def _torch_overload(name: str) -> Any:
    namespace, _, rest = name.partition("::")
    packet, _, overload = rest.partition(".")
    return getattr(getattr(getattr(torch.ops, namespace), packet), overload or "default")


def _functional_overload(overload: Any) -> Any | None:
    """The variant of an out variant that returns new tensors: same arguments without out, perhaps with dtype etc."""
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


def _is_tensor_list(argument: Any) -> bool:
    return str(argument.type) == "List[Tensor]"


def _flatten(values: Any) -> list[Any]:
    if isinstance(values, (list, tuple)):
        return [item for value in values for item in _flatten(value)]
    return [values]


def _describe_value(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        order = dim_order_of(value) if value.numel() else tuple(range(value.dim()))
        layout = "" if order == tuple(range(value.dim())) else f" dim order {list(order)}"
        return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}{layout}"
    if isinstance(value, (list, tuple)) and any(isinstance(item, torch.Tensor) for item in value):
        return f"[{', '.join(_describe_value(item) for item in value)}]"
    return repr(value)


class OpTest(absltest.TestCase):
    """Base of an operator's tests: the sweeps that the semantics of PyTorch ask of every operator of a kind.

    Every sweep lets PyTorch judge each case, and fails where none was accepted.
    """

    _testers: ClassVar[list[OpTester]] = []

    def op(self, name: str, **kwargs: Any) -> OpTester:
        """An OpTester whose cases are counted."""
        tester = OpTester(name, **kwargs)
        type(self)._testers.append(tester)
        return tester

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls._testers = []

    @classmethod
    def tearDownClass(cls) -> None:
        for name in sorted({tester.name for tester in cls._testers}):
            testers = [tester for tester in cls._testers if tester.name == name]
            accepted = sum(tester.accepted for tester in testers)
            rejected = sum(tester.rejected for tester in testers)
            logging.info("%s: %d results as PyTorch's, %d calls rejected", name, accepted, rejected)
        super().tearDownClass()

    def check_unary(
        self,
        tester: OpTester,
        *extra: Any,
        dtypes: Iterable[torch.dtype] = ALL_DTYPES,
        low: float = -9,
        high: float = 9,
        special: bool = True,
        leading: Sequence[Any] = (),
        **kwargs: Any,
    ) -> None:
        """op(*leading, tensor, *extra) over dtypes, shapes, dim orders, special values and out dtypes."""
        before = tester.accepted
        for dtype in dtypes:
            for shape in SHAPES:
                for order in dim_orders(len(shape)):
                    x = make_tensor(shape, dtype, dim_order=order, low=low, high=high)
                    tester.judge(*leading, x, *extra, **kwargs)
                    tester.judge(*leading, x, *extra, out_dim_order=order, static=True, **kwargs)
            if special:
                tester.judge(*leading, special_values(dtype), *extra, **kwargs)
            for out_dtype in ALL_DTYPES:
                # Values of one sign and no fractions: others do not convert to every dtype in one defined way.
                x = make_tensor((2, 3), dtype, low=max(low, 0), high=high)
                self.judge_out_dtype(tester, *leading, x, *extra, out_dtype=out_dtype, **kwargs)
        for dtype in UNSUPPORTED_DTYPES:
            x = torch.ones((2, 3), dtype=dtype)
            tester.check_rejected(*leading, x, *extra, outs=[x] * len(tester.out_names), **kwargs)
        x = make_tensor((2, 3), torch.float32, low=low, high=high)
        self._check_out_shape_is_judged(tester, *leading, x, *extra, **kwargs)
        self.assertGreater(tester.accepted, before, "PyTorch rejects every case")

    def check_binary(
        self,
        tester: OpTester,
        *extra: Any,
        dtypes: Iterable[torch.dtype] = ALL_DTYPES,
        low: float = -9,
        high: float = 9,
        special: bool = True,
        **kwargs: Any,
    ) -> None:
        """op(tensor, tensor, *extra) over pairs of dtypes, broadcasting, dim orders, special values and out dtypes."""
        before = tester.accepted
        dtypes = tuple(dtypes)
        for a_dtype, b_dtype in itertools.product(dtypes, dtypes):
            for a_shape, b_shape in _PROMOTION_SHAPES:
                a = make_tensor(a_shape, a_dtype, low=low, high=high)
                b = make_tensor(b_shape, b_dtype, low=low, high=high)
                # PyTorch rounds some operands to the common dtype first, kernels round once at the end: where that
                # dtype is a small one, the difference is one of the operands' last digits.
                small = a_dtype != b_dtype and torch.result_type(a, b) in (torch.float16, torch.bfloat16)
                options: dict[str, Any] = {"atol": 0.1, **kwargs} if small else kwargs
                tester.judge(a, b, *extra, **options)
        for dtype in dtypes:
            for a_shape, b_shape in BROADCAST_SHAPES:
                for a_order, b_order in itertools.product(dim_orders(len(a_shape)), dim_orders(len(b_shape))):
                    a = make_tensor(a_shape, dtype, dim_order=a_order, low=low, high=high)
                    b = make_tensor(b_shape, dtype, dim_order=b_order, low=low, high=high)
                    tester.judge(a, b, *extra, **kwargs)
            for order in dim_orders(4):
                a = make_tensor((2, 3, 4, 5), dtype, dim_order=order, low=low, high=high)
                b = make_tensor((2, 3, 4, 5), dtype, dim_order=order, low=low, high=high)
                tester.judge(a, b, *extra, out_dim_order=order, static=True, **kwargs)
            if special:
                values = special_values(dtype)
                tester.judge(values[:, None], values, *extra, **kwargs)
            for out_dtype in ALL_DTYPES:
                a = make_tensor((2, 3), dtype, low=max(low, 1), high=high)
                b = make_tensor((3,), dtype, low=max(low, 1), high=high)
                self.judge_out_dtype(tester, a, b, *extra, out_dtype=out_dtype, **kwargs)
        for a_shape, b_shape in NOT_BROADCAST_SHAPES:
            a, b = torch.ones(a_shape), torch.ones(b_shape)
            tester.check_rejected(a, b, *extra, **kwargs)
        for dtype in UNSUPPORTED_DTYPES:
            x = torch.ones((2, 3), dtype=dtype)
            tester.check_rejected(x, x, *extra, outs=[x], **kwargs)
        one = make_tensor((2, 3), torch.float32, low=low, high=high)
        self._check_out_shape_is_judged(tester, one, one, *extra, **kwargs)
        self.assertGreater(tester.accepted, before, "PyTorch rejects every case")

    def check_reduction(
        self,
        tester: OpTester,
        *extra: Any,
        dtypes: Iterable[torch.dtype] = ALL_DTYPES,
        dim_lists: bool = True,
        low: float = -9,
        high: float = 9,
        **kwargs: Any,
    ) -> None:
        """op(tensor, dim, *extra, keepdim=...) over dtypes, shapes, dims, dim orders, special values and out dtypes.

        Args:
          dim_lists: the dim argument is a list or None; else one dimension.
        """
        before = tester.accepted
        for dtype in dtypes:
            for shape in (*SHAPES, (600, 3), (3, 600)):
                rank = len(shape)
                dims: list[Any] = list(range(-rank - 1, rank + 1))
                if dim_lists:
                    dims = [None, [], [0, 0], [-1, 0], *([dim] for dim in dims), [*range(rank)], [*range(0, rank, 2)]]
                for order, dim, keepdim in itertools.product(dim_orders(rank), dims, (False, True)):
                    x = make_tensor(shape, dtype, dim_order=order, low=low, high=high)
                    tester.judge(x, dim, *extra, keepdim=keepdim, **kwargs)
            for value in special_values(dtype):
                x = torch.cat([make_tensor((40,), dtype, low=low, high=high), value[None]])
                tester.judge(x, [0] if dim_lists else 0, *extra, **kwargs)
            for out_dtype in ALL_DTYPES:
                x = make_tensor((3, 4), dtype, low=max(low, 1), high=high)
                self.judge_out_dtype(tester, x, [1] if dim_lists else 1, *extra, out_dtype=out_dtype, **kwargs)
        for dtype in UNSUPPORTED_DTYPES:
            x = torch.ones((2, 3), dtype=dtype)
            tester.check_rejected(x, [1] if dim_lists else 1, *extra, outs=[x[0]] * len(tester.out_names), **kwargs)
        x = make_tensor((2, 3), torch.float32, low=low, high=high)
        self._check_out_shape_is_judged(tester, x, [1] if dim_lists else 1, *extra, **kwargs)
        self.assertGreater(tester.accepted, before, "PyTorch rejects every case")

    def judge_out_dtype(self, tester: OpTester, *args: Any, out_dtype: torch.dtype, **kwargs: Any) -> None:
        """`judge`; but where it is only the out dtype that PyTorch refuses, the kernel may convert its result."""
        try:
            tester.expect(*args, **kwargs)
        except Exception:  # PyTorch refuses whatever the out dtype.
            pass
        else:
            try:
                tester.expect(*args, out_dtype=out_dtype, **kwargs)
            except Exception:  # Whatever type: PyTorch refuses.
                tester.check_rejected_or_converted(*args, out_dtype=out_dtype, **kwargs)
                return
        tester.judge(*args, out_dtype=out_dtype, **kwargs)

    def _check_out_shape_is_judged(self, tester: OpTester, *args: Any, **kwargs: Any) -> None:
        """Out tensors that cannot take the result's shape are an error."""
        for expected in tester.expect(*args, **kwargs)[:1]:
            wrong_rank = torch.empty((*expected.shape, 2), dtype=expected.dtype)
            tester.check_rejected(*args, outs=[wrong_rank] * len(tester.out_names), **kwargs)
