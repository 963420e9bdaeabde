"""Moves the constants of an emitted program to a file of their own (.ptd).

The key of a constant is `float32[64,32]@<digest>`, with a digest of the dtype, the sizes, the dim order and the
elements. So programs and methods share equal constants, whatever the names in their modules are and whatever graph pass
made them, and no program takes the weights of another one. Data of backends keeps its key, which is a digest, too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from subprocess import SubprocessError

from executorch.exir import ExecutorchBackendConfig, ExecutorchProgramManager, schema
from executorch.exir._serialize._named_data_store import NamedDataStore, NamedDataStoreOutput
from executorch.exir._serialize._serialize import serialize_for_executorch
from executorch.exir._serialize.data_serializer import DataPayload
from executorch.exir.tensor import get_scalar_type
from executorch.exir.tensor_layout import TensorLayout
from executorch.extension.flat_tensor.serialize.serialize import FlatTensorHeader, FlatTensorSerializer

from diagnostics.errors import InputError

# Smaller constants stay in the program. Their place and their key in the file would need as many bytes.
_LEAST_BYTES = 1024
_ALIGNMENT = 64  # A cache line.
_FILE = "weights"
# The header comes after a FlatBuffer's offset and identifier.
_HEADER_END = 8 + FlatTensorHeader.EXPECTED_LENGTH


def separate(executorch: ExecutorchProgramManager) -> tuple[bytes, bytes]:
    """Returns the bytes of a program (.pte) and of a file with its constants (.ptd). The program stays unchanged."""
    emitted = executorch._emitter_output
    moved = {
        index for index, buffer in enumerate(emitted.program.constant_buffer) if len(buffer.storage) >= _LEAST_BYTES
    }
    store = NamedDataStore()
    plans = [_without_constants(plan, emitted.program, moved, store) for plan in emitted.program.execution_plan]
    buffers = [
        schema.Buffer(b"") if index in moved else buffer for index, buffer in enumerate(emitted.program.constant_buffer)
    ]
    if executorch._named_data is not None:
        store.merge_named_data_store(_of_backends(executorch))
    program = replace(emitted.program, execution_plan=plans, constant_buffer=buffers)
    pte, files = serialize_for_executorch(
        replace(emitted, program=program),
        ExecutorchBackendConfig(),
        executorch._data_serializer,
        store.get_named_data_store_output(),
    )
    return bytes(pte), bytes(files[_FILE]) if files else _serialized(NamedDataStore())


def merge(files: Sequence[Path], bases: Sequence[Path] = ()) -> bytes:
    """Returns a file with the constants of several files (.ptd), equal constants once, without those of the bases.

    Raises:
        InputError: a base is damaged, or another file.
    """
    known = {key for base in bases for key in _keys(base)}
    store = NamedDataStore()
    for file in files:
        content = FlatTensorSerializer().deserialize(file.read_bytes())
        for key, entry in content.named_data.items():
            if key not in known:
                data = bytes(content.buffers[entry.buffer_index])
                store.add_named_data(key, data, _ALIGNMENT, _FILE, entry.tensor_layout)
    return _serialized(store)


def _keys(file: Path) -> Iterable[str]:
    """Returns the keys of a file. Reads no elements."""
    with file.open("rb") as opened:
        head = opened.read(_HEADER_END)
        try:
            header = FlatTensorHeader.from_bytes(head[-FlatTensorHeader.EXPECTED_LENGTH :])
            if not header.is_valid():
                raise ValueError("no header of a .ptd file")
            end = header.flatbuffer_offset + header.flatbuffer_size
            head += opened.read(end - _HEADER_END)
            if len(head) < end:
                raise ValueError("it is cut off")
            return [*FlatTensorSerializer().deserialize(head).named_data]
        except (NotImplementedError, OverflowError, RuntimeError, ValueError, SubprocessError) as error:
            raise InputError.of(
                id="damaged-program",
                where=str(file),
                found=f"the base is no file of constants ({error})",
                cause="a copy of the file was broken off, or another file was given",
                fix="give a .weights.ptd file",
            ) from error


def _serialized(store: NamedDataStore) -> bytes:
    entries = store.get_named_data_store_output().external_data.get(_FILE, {})
    return bytes(FlatTensorSerializer().serialize(DataPayload(store.buffers, entries)))


def _without_constants(
    plan: schema.ExecutionPlan, program: schema.Program, moved: set[int], store: NamedDataStore
) -> schema.ExecutionPlan:
    """Returns a method whose constants `moved` are keys of a file. Adds the constants to the store."""

    def moved_out(value: schema.EValue) -> schema.EValue:
        tensor = value.val
        if not (
            isinstance(tensor, schema.Tensor) and tensor.allocation_info is None and tensor.data_buffer_idx in moved
        ):
            return value
        content = program.constant_buffer[tensor.data_buffer_idx].storage
        layout = TensorLayout(tensor.scalar_type, [*tensor.sizes], [*tensor.dim_order])
        key = _key(layout, content)
        store.add_named_data(key, content, _ALIGNMENT, _FILE, layout)
        info = replace(
            tensor.extra_tensor_info or schema.ExtraTensorInfo(),
            fully_qualified_name=key,
            location=schema.TensorDataLocation.EXTERNAL,
        )
        return schema.EValue(replace(tensor, data_buffer_idx=0, extra_tensor_info=info))

    return replace(plan, values=[moved_out(value) for value in plan.values])


def _key(layout: TensorLayout, content: bytes) -> str:
    digest = hashlib.sha256(f"{layout}".encode())
    digest.update(content)
    dtype = str(get_scalar_type(layout.scalar_type)).removeprefix("torch.")
    return f"{dtype}[{','.join(map(str, layout.sizes))}]@{digest.hexdigest()[:16]}"


def _of_backends(executorch: ExecutorchProgramManager) -> NamedDataStoreOutput:
    """Returns the data that backends share. Large data is in the file, if its key has the SHA-256 of the data."""
    data = executorch._named_data
    entries = {**data.pte_data, **{key: entry for file in data.external_data.values() for key, entry in file.items()}}
    moved = {key: entry for key, entry in entries.items() if _is_moved(key, data.buffers[entry.buffer_index])}
    kept = {key: entry for key, entry in entries.items() if key not in moved}
    return NamedDataStoreOutput(data.buffers, kept, {_FILE: moved})


def _is_moved(key: str, data: bytes) -> bool:
    return len(data) >= _LEAST_BYTES and hashlib.sha256(data).hexdigest() in key
