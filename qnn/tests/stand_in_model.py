"""A model file that lowers the example to Qualcomm's backend, with a stand-in for the manager."""

import ctypes
from unittest import mock

from examples.qnn_op_package.example_op_package import op_package_options
from executorch.backends.qualcomm.partition.qnn_partitioner import QnnPartitioner
from executorch.backends.qualcomm.serialization.qc_schema import QcomChipset, QnnExecuTorchOpPackagePlatform
from executorch.backends.qualcomm.utils import qnn_manager_lifecycle
from executorch.backends.qualcomm.utils.utils import (
    generate_htp_compiler_spec,
    generate_qnn_executorch_compiler_spec,
)
from torchao.quantization.pt2e.quantizer import Quantizer

from examples.qnn_op_package import quantization
from examples.qnn_op_package.model import get_model  # noqa: F401  (the entry point)
from qnn.testing.stand_in_manager import StandInManager

TAKES = {"ExampleCustomOp": True, "ScaledHalves": True}


def get_partitioners() -> list[QnnPartitioner]:
    """With an SDK, the manager is the backend's own, and the lines of the stand-in are not there."""
    op_packages = op_package_options()
    for info in op_packages.op_package_infos:
        if info.platform == QnnExecuTorchOpPackagePlatform.X86_64:
            ctypes.CDLL(info.op_package_path)  # As the manager does: LD_LIBRARY_PATH has to find the library.
    manager = StandInManager(TAKES)
    mock.patch.object(qnn_manager_lifecycle.PyQnnManager, "QnnManager", lambda option: manager).start()
    compile_spec = generate_qnn_executorch_compiler_spec(
        soc_model=QcomChipset.SM8650,
        backend_options=generate_htp_compiler_spec(use_fp16=False),
        op_package_options=op_packages,
    )
    return [QnnPartitioner(compile_spec)]


def get_quantizer() -> Quantizer:
    """The quantizer with the annotation of my_ops::mul3."""
    return quantization.make_quantizer()
