"""A quantizer for Qualcomm's backend that knows my_ops::mul3: input and output are uint8."""

import torch
from executorch.backends.qualcomm.custom_op.annotator import CustomOpsQuantAnnotator, IOQuantConfig
from executorch.backends.qualcomm.quantizer.qconfig import get_8a8w_qnn_ptq_config
from executorch.backends.qualcomm.quantizer.quantizer import QnnQuantizer, QuantDtype
from executorch.backends.qualcomm.serialization.qc_schema import QcomChipset, QnnExecuTorchBackendType


def make_quantizer(soc_model: QcomChipset = QcomChipset.SM8650) -> QnnQuantizer:
    """The quantizer that export_utils.make_quantizer(custom_annotations = ...) makes, which needs pydot besides."""
    config = get_8a8w_qnn_ptq_config()
    annotator = CustomOpsQuantAnnotator().register_annotation(
        torch.ops.my_ops.mul3.default,
        IOQuantConfig({0: config.input_activation}, {0: config.output_activation}),
    )
    quantizer = QnnQuantizer(backend=QnnExecuTorchBackendType.kHtpBackend, soc_model=soc_model)
    quantizer.add_custom_quant_annotations((annotator.build_annotation_fn(),))
    quantizer.set_default_quant_config(QuantDtype.use_8a8w)
    return quantizer
