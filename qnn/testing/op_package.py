"""Loads an op package that is compiled with the stand-in headers, and calls its interface and kernels."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

_DRIVER = Path(__file__).with_name("driver.so")
_SUCCESS = 0
# The values of DType in stand_in/HTP/core/simple_reg.h.
_DTYPES = {torch.uint8: 1, torch.float32: 4, torch.int32: 5}


class _FlatTensor(ctypes.Structure):
    _fields_ = (
        ("dtype", ctypes.c_int32),
        ("scale", ctypes.c_float),
        ("offset", ctypes.c_int32),
        ("rank", ctypes.c_uint64),
        ("dims", ctypes.c_uint64 * 8),
        ("data", ctypes.c_void_p),
    )


@dataclass(frozen=True)
class Quantized:
    """A quantized tensor of uint8. An element means scale * (value - zero_point)."""

    values: torch.Tensor
    scale: float
    zero_point: int


Argument = torch.Tensor | Quantized


class Package:
    """A package's library."""

    def __init__(self, library: Path, name: str) -> None:
        """Loads the library, and gets the interface from its provider.

        Args:
            library: the file.
            name: the package's name.

        Raises:
            ValueError: the library cannot be loaded, or has no provider.
        """
        self._driver = ctypes.CDLL(str(_DRIVER))
        self._driver.driver_open.restype = ctypes.c_void_p
        self._driver.driver_info.restype = ctypes.c_char_p
        for function in ("driver_init", "driver_terminate", "driver_log", "driver_validate"):
            getattr(self._driver, function).restype = ctypes.c_uint64
        opened = self._driver.driver_open(str(library).encode(), f"{name}InterfaceProvider".encode())
        if not opened:
            raise ValueError(f"{library.name} does not load, or has no {name}InterfaceProvider")
        self._package = ctypes.c_void_p(opened)

    def init(self) -> bool:
        return bool(self._driver.driver_init(self._package) == _SUCCESS)

    def terminate(self) -> bool:
        return bool(self._driver.driver_terminate(self._package) == _SUCCESS)

    def log(self, level: int) -> bool:
        """Returns whether the package accepts a log function, and releases the function."""
        return bool(self._driver.driver_log(self._package, level) == _SUCCESS)

    def info(self) -> list[str] | None:
        """Returns the package's name, the SDK's build id and the names of the ops; None if there is no info."""
        info = self._driver.driver_info(self._package)
        return info.decode().split("\n") if info else None

    def validate(self, package: str, op_type: str, inputs: int, outputs: int, params: Sequence[str] = ()) -> bool:
        """Returns whether the package accepts a node with these numbers of inputs and outputs, and these parameters."""
        names = (ctypes.c_char_p * len(params))(*[name.encode() for name in params])
        status = self._driver.driver_validate(
            self._package, package.encode(), op_type.encode(), inputs, outputs, len(params), names
        )
        return bool(status == _SUCCESS)

    def run(
        self, op_type: str, outputs: Sequence[Argument], inputs: Sequence[Argument], params: Mapping[str, float]
    ) -> int:
        """Runs a kernel, which writes to `outputs`. Returns the kernel's GraphStatus, 0 for success."""
        flat = [_flat(argument) for argument in (*outputs, *inputs)]
        scalars = [torch.tensor(value, dtype=torch.float32).reshape(1, 1, 1, 1) for value in params.values()]
        flat_params = [_flat(scalar) for scalar in scalars]
        return int(
            self._driver.driver_run(
                self._package,
                op_type.encode(),
                len(flat),
                (_FlatTensor * len(flat))(*flat),
                len(params),
                (ctypes.c_char_p * len(params))(*[name.encode() for name in params]),
                (_FlatTensor * len(params))(*flat_params),
            )
        )


def _flat(argument: Argument) -> _FlatTensor:
    quantized = argument if isinstance(argument, Quantized) else Quantized(argument, 1.0, 0)
    values = quantized.values
    assert values.is_contiguous(), "a package knows no strides"
    dims = (ctypes.c_uint64 * 8)(*values.shape)
    return _FlatTensor(
        _DTYPES[values.dtype], quantized.scale, quantized.zero_point, values.dim(), dims, values.data_ptr()
    )
