"""What model files that lower by a backend of the wheel import: a model, and every backend's partitioner."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import torch
from executorch.exir.backend.compile_spec_schema import CompileSpec

_BACKENDS = "executorch.backends."


class Model(torch.nn.Module):
    """Five operators: convolution, ReLU, linear layer, softmax and cumsum."""

    def __init__(self) -> None:
        super().__init__()
        self.convolution = torch.nn.Conv2d(4, 4, 3, padding=1)
        self.linear = torch.nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cumsum(torch.softmax(self.linear(torch.relu(self.convolution(x))), -1), -1)


def attribute(path: str) -> Any:
    """What a path below executorch.backends names."""
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(_BACKENDS + module), name)


def _qualcomm_specs() -> Any:
    utils = "qualcomm.utils.utils."
    return attribute(utils + "generate_qnn_executorch_compiler_spec")(
        soc_model=attribute("qualcomm.serialization.qc_schema.QcomChipset").SM8650,
        backend_options=attribute(utils + "generate_htp_compiler_spec")(use_fp16=True),
    )


# What the partitioners are constructed with; the others take nothing.
_ARGUMENTS: dict[str, Callable[[], tuple[Any, ...]]] = {
    "CudaPartitioner": lambda: (
        [attribute("cuda.cuda_backend.CudaBackend").generate_method_name_compile_spec("forward")],
    ),
    "EnnPartitioner": lambda: (
        [attribute("samsung.serialization.compile_options.gen_samsung_backend_compile_spec")("E9955")],
    ),
    "EthosUPartitioner": lambda: (attribute("arm.ethosu.EthosUCompileSpec")("ethos-u55-128"),),
    "MetalPartitioner": lambda: (
        [attribute("apple.metal.metal_backend.MetalBackend").generate_method_name_compile_spec("forward")],
    ),
    "NeuropilotPartitioner": lambda: ([],),
    "NeutronPartitioner": lambda: (
        attribute("nxp.nxp_backend.generate_neutron_compile_spec")("imxrt700"),
        attribute("nxp.backend.neutron_target_spec.NeutronTargetSpec")("imxrt700"),
    ),
    "OpenvinoPartitioner": lambda: ([CompileSpec("device", b"CPU")],),
    "QnnPartitioner": lambda: (_qualcomm_specs(),),
    "TOSAPartitioner": lambda: (attribute("arm.tosa.compile_spec.TosaCompileSpec")("TOSA-1.0+FP"),),
    "VgfPartitioner": lambda: (attribute("arm.vgf.VgfCompileSpec")(),),
}


def partitioner(path: str) -> Any:
    """A partitioner, by its path below executorch.backends."""
    return attribute(path)(*_ARGUMENTS.get(path.rpartition(".")[2], tuple)())
