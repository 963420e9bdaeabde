"""Quantizes an exported method with PyTorch's PT2E: prepare, calibrate, convert."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import replace

# The import registers the out variants of quantized_decomposed, for operators that no backend takes.
import executorch.kernels.quantized  # noqa: F401
import torch
from torchao.quantization.pt2e import quantize_pt2e

from export.lower import tracing
from export.lower.lowering import Quantization
from export.patches import batch_norm_patterns, training_patterns
from export.user.messages import SHOW_MORE, condense, text_of
from export.user.model_file import Method
from export.user.samples import Sample

_WITH_SCALARS = {
    torch.ops.aten.add.Tensor: torch.ops.aten.add.Scalar,
    torch.ops.aten.mul.Tensor: torch.ops.aten.mul.Scalar,
}


def quantize(
    method: Method, exported: torch.export.ExportedProgram, samples: Sequence[Sample], quantization: Quantization
) -> torch.export.ExportedProgram:
    """Quantizes an exported method. The outputs of the quantized method must have the nesting of the samples' outputs.

    Raises:
        InputError: the quantizer, a run on the calibration inputs or PyTorch failed.
    """
    with torch.no_grad(), _failing(method, quantization, "the quantizer"), batch_norm_patterns.skipped():
        module = exported.module()
        _keep_integers(module)
        prepared = quantize_pt2e.prepare_pt2e(module, quantization.quantizer)
    with torch.no_grad(), _failing(method, quantization, "a run on the calibration inputs"), _kept(prepared, exported):
        for inputs in quantization.calibration:
            given = inputs.separate()
            prepared(*given.args, **given.kwargs)
    with (
        torch.no_grad(),
        _failing(method, quantization, "the conversion to quantized operators"),
        training_patterns.skipped(),
    ):
        converted = quantize_pt2e.convert_pt2e(prepared)
    return tracing.trace(replace(method, module=converted), samples)


def _keep_integers(module: torch.fx.GraphModule) -> None:
    """Replaces operators of integer tensors and numbers by the overloads for scalars.

    XNNPACKQuantizer turns numbers in calls of the other overloads into float tensors. An integer result, such as an
    index into an embedding table, has to stay an integer.
    """
    for node in module.graph.nodes:
        with_scalar = _WITH_SCALARS.get(node.target)
        if with_scalar and not isinstance(node.args[1], torch.fx.Node) and not node.meta["val"].is_floating_point():
            node.target = with_scalar
    module.recompile()


@contextlib.contextmanager
def _kept(module: torch.nn.Module, exported: torch.export.ExportedProgram) -> Iterator[None]:
    """Restores the model's buffers after the block, so that the program starts with the state of the eager module.

    Buffers of batch norms that were folded into convolutions do not exist any more, and are not restored.
    """
    buffers = {name: buffer for name, buffer in module.named_buffers() if name in exported.graph_signature.buffers}
    values = {name: buffer.clone() for name, buffer in buffers.items()}
    yield
    for name, value in values.items():
        module.get_buffer(name).copy_(value)


@contextlib.contextmanager
def _failing(method: Method, quantization: Quantization, what: str) -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        raise method.source.failure(
            f"{what} of {method.name}()",
            error,
            at=quantization.at,
            cause="the quantizer does not take an operator or a dtype of the model.",
            fix=f"{SHOW_MORE}; have the quantizer leave that part of the model as it is.",
            message=condense(text_of(error)),
        ) from error
