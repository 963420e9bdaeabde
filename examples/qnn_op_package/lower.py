"""Lowers the model to Qualcomm's HTP: needs the SDK that QNN_SDK_ROOT names, and the x86 library of the op package."""

from collections.abc import Sequence
from pathlib import Path

import torch
from absl import app, flags
from examples.qnn_op_package.example_op_package import op_package_options
from executorch.backends.qualcomm.serialization.qc_schema import QcomChipset
from executorch.backends.qualcomm.utils.utils import (
    generate_htp_compiler_spec,
    generate_qnn_executorch_compiler_spec,
    to_edge_transform_and_lower_to_qnn,
)
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from examples.qnn_op_package import model, quantization
from qnn.checks import delegation

_HOST_DIR = flags.DEFINE_string(
    "host_dir", "", "Folder of the x86 library. Default: LD_LIBRARY_PATH finds the library."
)
_OUTPUT = flags.DEFINE_string("output", "example.pte", "Where to write the program.")
_QUANTIZE = flags.DEFINE_bool("quantize", False, "Quantize the model: uint8 in place of float16.")
_SOC_MODEL = flags.DEFINE_string("soc_model", "SM8650", "The chip of the phone.")


def lower(soc_model: QcomChipset, host_dir: str, quantize: bool) -> bytes:
    """The program.

    Args:
        soc_model: the chip of the phone.
        host_dir: folder of the x86 library; empty where LD_LIBRARY_PATH finds the library.
        quantize: whether to quantize the model.

    Raises:
        InputError: an operator of the op package is not in the delegate.
    """
    module, inputs = model.get_model()
    if quantize:
        exported = torch.export.export(module, inputs, strict=True).module()
        prepared = prepare_pt2e(exported, quantization.make_quantizer(soc_model))
        prepared(*inputs)
        module = convert_pt2e(prepared)
    compile_spec = generate_qnn_executorch_compiler_spec(
        soc_model=soc_model,
        backend_options=generate_htp_compiler_spec(use_fp16=not quantize),
        op_package_options=op_package_options(host_dir=host_dir),
    )
    with delegation.listening() as messages:
        edge = to_edge_transform_and_lower_to_qnn(module, inputs, compile_spec)
    programs = {"forward": edge.exported_program()}
    delegation.check(programs, delegation.operators(compile_spec), messages, "//examples/qnn_op_package:lower")
    return bytes(edge.to_executorch().buffer)


def main(argv: Sequence[str]) -> None:
    del argv
    program = lower(QcomChipset[_SOC_MODEL.value], _HOST_DIR.value, _QUANTIZE.value)
    Path(_OUTPUT.value).write_bytes(program)


if __name__ == "__main__":
    app.run(main)
