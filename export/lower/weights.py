"""Moves the constants of an emitted program to a file of their own (.ptd).

The key of a constant is `<name>@<digest>`: the name in the module, and a digest of the dtype, the sizes, the dim order
and the elements. So programs and methods can share one file, in which equal elements are stored once, and no program
takes the weights of another one. Data of backends keeps its key, which is a digest, too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from executorch.exir import ExecutorchBackendConfig, ExecutorchProgramManager, schema
from executorch.exir._serialize._named_data_store import NamedDataStore, NamedDataStoreOutput
from executorch.exir._serialize._serialize import serialize_for_executorch
from executorch.exir._serialize.data_serializer import DataPayload
from executorch.exir.tensor_layout import TensorLayout
from executorch.extension.flat_tensor.serialize.serialize import FlatTensorSerializer

from export.patches.recorded_emission import Emission

# Smaller constants stay in the program. Their place and their key in the file would need as many bytes.
_LEAST_BYTES = 1024
_ALIGNMENT = 64  # A cache line.
_FILE = "weights"


@dataclass(frozen=True)
class Separated:
    """A program and its constants.

    Attributes:
        pte: the bytes of the program's file.
        ptd: the bytes of the file with the constants.
    """

    pte: bytes
    ptd: bytes


def separate(executorch: ExecutorchProgramManager, emissions: Mapping[str, Emission]) -> Separated:
    """Serializes a program, and its constants as a file of their own.

    Args:
        executorch: the program. It stays unchanged.
        emissions: the record of the emission of each method.
    """
    emitted = executorch._emitter_output
    moved = {
        index for index, buffer in enumerate(emitted.program.constant_buffer) if len(buffer.storage) >= _LEAST_BYTES
    }
    store = NamedDataStore()
    plans = [
        _without_constants(plan, dict(_names(executorch, emissions, plan.name)), emitted.program, moved, store)
        for plan in emitted.program.execution_plan
    ]
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
    return Separated(bytes(pte), bytes(files[_FILE]) if files else _serialized(NamedDataStore()))


def merge(files: Sequence[bytes]) -> bytes:
    """Returns a file with the constants of several files (.ptd), equal constants once."""
    store = NamedDataStore()
    for file in files:
        content = FlatTensorSerializer().deserialize(file)
        for key, entry in content.named_data.items():
            data = bytes(content.buffers[entry.buffer_index])
            store.add_named_data(key, data, _ALIGNMENT, _FILE, entry.tensor_layout)
    return _serialized(store)


def _serialized(store: NamedDataStore) -> bytes:
    entries = store.get_named_data_store_output().external_data.get(_FILE, {})
    return bytes(FlatTensorSerializer().serialize(DataPayload(store.buffers, entries)))


def _names(
    executorch: ExecutorchProgramManager, emissions: Mapping[str, Emission], method: str
) -> Iterator[tuple[int, str]]:
    """Yields the values of a method that have a name in the module, with the name."""
    if method not in emissions:
        return
    signature = executorch.exported_program(method).graph_signature
    targets = {
        **signature.inputs_to_parameters,
        **signature.inputs_to_buffers,
        **signature.inputs_to_lifted_tensor_constants,
    }
    for placeholder, value in emissions[method].placeholders.items():
        if placeholder in targets:
            yield value, targets[placeholder]


def _without_constants(
    plan: schema.ExecutionPlan,
    names: Mapping[int, str],
    program: schema.Program,
    moved: set[int],
    store: NamedDataStore,
) -> schema.ExecutionPlan:
    """Returns a method whose constants `moved` are keys of a file. Adds the constants to the store."""

    def moved_out(index: int, value: schema.EValue) -> schema.EValue:
        tensor = value.val
        if not (
            isinstance(tensor, schema.Tensor) and tensor.allocation_info is None and tensor.data_buffer_idx in moved
        ):
            return value
        content = program.constant_buffer[tensor.data_buffer_idx].storage
        layout = TensorLayout(tensor.scalar_type, [*tensor.sizes], [*tensor.dim_order])
        digest = hashlib.sha256(f"{layout}".encode())
        digest.update(content)
        key = f"{names.get(index, 'constant')}@{digest.hexdigest()[:16]}"
        store.add_named_data(key, content, _ALIGNMENT, _FILE, layout)
        info = replace(
            tensor.extra_tensor_info or schema.ExtraTensorInfo(),
            fully_qualified_name=key,
            location=schema.TensorDataLocation.EXTERNAL,
        )
        return schema.EValue(replace(tensor, data_buffer_idx=0, extra_tensor_info=info))

    return replace(plan, values=[moved_out(index, value) for index, value in enumerate(plan.values)])


def _of_backends(executorch: ExecutorchProgramManager) -> NamedDataStoreOutput:
    """Returns the data that backends share. Large data is in the file, if its key has the SHA-256 of the data."""
    data = executorch._named_data
    entries = {**data.pte_data, **{key: entry for file in data.external_data.values() for key, entry in file.items()}}
    moved = {key: entry for key, entry in entries.items() if _is_moved(key, data.buffers[entry.buffer_index])}
    kept = {key: entry for key, entry in entries.items() if key not in moved}
    return NamedDataStoreOutput(data.buffers, kept, {_FILE: moved})


def _is_moved(key: str, data: bytes) -> bool:
    return len(data) >= _LEAST_BYTES and hashlib.sha256(data).hexdigest() in key
