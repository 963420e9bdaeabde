"""What ExecuTorch's Qualcomm backend needs around a lowering: passes of its own, one manager, a check of op packages.

to_edge_transform_and_lower_to_qnn does the first two for models that it exports itself.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from executorch.exir import EdgeProgramManager
from executorch.exir.pass_manager import PassType

from diagnostics.errors import Finding, InputError
from export.lowering import Lowering
from export.model_file import Method
from export.pytorch_message import condense
from export.user_file import text_of


def compile_specs(lowerings: Mapping[str, Lowering]) -> dict[str, list[Any]]:
    """The compile specs of the methods that the Qualcomm backend has a part in."""
    return {
        name: partitioner.compiler_specs_snapshot
        for name, lowering in lowerings.items()
        for partitioner in lowering.partitioners
        if type(partitioner).__module__.startswith("executorch.backends.qualcomm.")
    }


def prepare(
    exported: torch.export.ExportedProgram, specs: list[Any]
) -> tuple[torch.export.ExportedProgram, list[PassType]]:
    """A method for the backend, and the passes that the backend needs before its partitioner sees the graph."""
    from executorch.backends.qualcomm._passes.qnn_pass_manager import get_qnn_pass_manager_cls
    from executorch.backends.qualcomm.partition.utils import generate_qnn_executorch_option
    from executorch.backends.qualcomm.serialization.qc_schema_serialize import flatbuffer_to_option

    options = flatbuffer_to_option(generate_qnn_executorch_option(specs))
    manager = get_qnn_pass_manager_cls(options.backend_options.backend_type)()
    prepared = manager.transform_for_export_pipeline(exported)
    return prepared, manager.get_to_edge_transform_passes(exported, compiler_specs=specs)


@contextlib.contextmanager
def lowering(specs: Mapping[str, list[Any]]) -> Iterator[list[str]]:
    """Has one manager for all methods, as the backend wants, and collects what the backend says."""
    if not specs:
        yield []
        return
    # Unset, the backend downloads an SDK.
    os.environ.setdefault("QNN_SDK_ROOT", "")
    from executorch.backends.qualcomm.utils.qnn_manager_lifecycle import QnnManagerContext

    from qnn.checks import delegation

    with delegation.listening() as messages, QnnManagerContext(dict(specs)):
        yield messages


def without_sdk(method: Method, specs: Mapping[str, list[Any]], error: BaseException) -> InputError | None:
    """The error that the backend's libraries are not there, if a failure of the lowering is that."""
    if not specs or os.environ.get("QNN_SDK_ROOT") or "QNN" not in text_of(error):
        return None
    return InputError(
        Finding(
            method.at,
            f"the model is lowered to Qualcomm's backend, and there is no SDK: {condense(text_of(error))}",
            "the rule has neither `qnn_sdk = True` nor `qnn_op_packages`, or QNN_SDK_ROOT names no SDK here.",
            "set `qnn_sdk = True`, and QNN_SDK_ROOT to your copy of the SDK, which these rules do not download.",
            id="no-qnn-sdk",
        )
    )


def check(
    edge: EdgeProgramManager, methods: Mapping[str, Method], specs: Mapping[str, list[Any]], said: list[str]
) -> None:
    """Checks that the operators of op packages are in the delegate.

    Raises:
        InputError: one is not.
    """
    if not specs:
        return
    from qnn.checks import delegation

    for name, of_method in specs.items():
        packages = delegation.operators(of_method)
        delegation.check({name: edge.exported_program(name)}, packages, said, methods[name].at)
