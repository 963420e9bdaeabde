"""Support for ExecuTorch's Qualcomm backend: the backend's passes, one manager, and a check of op packages.

ExecuTorch's to_edge_transform_and_lower_to_qnn runs the passes and makes the manager, but exports the model itself.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from executorch.exir import EdgeProgramManager
from executorch.exir.pass_manager import PassType

from diagnostics.errors import InputError
from export.lower.lowering import Lowering
from export.user.messages import condense, text_of
from export.user.model_file import Method


def compile_specs(lowerings: Mapping[str, Lowering]) -> dict[str, list[Any]]:
    """Returns the compile specs of all methods with a Qualcomm partitioner."""
    return {
        name: partitioner.compiler_specs_snapshot
        for name, lowering in lowerings.items()
        for partitioner in lowering.partitioners
        if type(partitioner).__module__.startswith("executorch.backends.qualcomm.")
    }


def prepare(
    exported: torch.export.ExportedProgram, specs: list[Any]
) -> tuple[torch.export.ExportedProgram, list[PassType]]:
    """Prepares a method for the backend. Returns the method, and the passes to run before the partitioner."""
    from executorch.backends.qualcomm._passes.qnn_pass_manager import get_qnn_pass_manager_cls
    from executorch.backends.qualcomm.partition.utils import generate_qnn_executorch_option
    from executorch.backends.qualcomm.serialization.qc_schema_serialize import flatbuffer_to_option

    options = flatbuffer_to_option(generate_qnn_executorch_option(specs))
    manager = get_qnn_pass_manager_cls(options.backend_options.backend_type)()
    prepared = manager.transform_for_export_pipeline(exported)
    return prepared, manager.get_to_edge_transform_passes(exported, compiler_specs=specs)


@contextlib.contextmanager
def lowering(specs: Mapping[str, list[Any]]) -> Iterator[list[str]]:
    """Makes one manager for all methods, which the backend requires, and collects the backend's log messages."""
    if not specs:
        yield []
        return
    # If the variable is not set, the backend downloads an SDK.
    os.environ.setdefault("QNN_SDK_ROOT", "")
    from executorch.backends.qualcomm.utils.qnn_manager_lifecycle import QnnManagerContext

    from qnn.checks import delegation

    with delegation.listening() as messages, QnnManagerContext(dict(specs)):
        yield messages


def without_sdk(method: Method, specs: Mapping[str, list[Any]], error: BaseException) -> InputError | None:
    """Returns the error about missing libraries of the SDK, if these caused a failure of the lowering; else None."""
    if not specs or os.environ.get("QNN_SDK_ROOT") or "QNN" not in text_of(error):
        return None
    return InputError.of(
        method.at,
        f"the model is lowered to Qualcomm's backend, and there is no SDK: {condense(text_of(error))}",
        "the rule has neither `qnn_sdk = True` nor `qnn_op_packages`, or QNN_SDK_ROOT names no SDK here.",
        "set `qnn_sdk = True`, and QNN_SDK_ROOT to your copy of the SDK, which these rules do not download.",
        id="no-qnn-sdk",
    )


def check(
    edge: EdgeProgramManager, methods: Mapping[str, Method], specs: Mapping[str, list[Any]], said: list[str]
) -> None:
    """Checks that all operators of op packages were delegated.

    Raises:
        InputError: an operator was not delegated.
    """
    if not specs:
        return
    from qnn.checks import delegation

    for name, of_method in specs.items():
        packages = delegation.operators(of_method)
        delegation.check({name: edge.exported_program(name)}, packages, said, methods[name].at)
