"""ONNX files of models, in floats and quantized."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch


def export(module: torch.nn.Module, sample: tuple[torch.Tensor, ...], file: Path, *, external_data: bool) -> None:
    """Writes a module as ONNX.

    Args:
        module: the module.
        sample: its inputs.
        file: the file.
        external_data: whether the weights are in a file of their own, beside the file.
    """
    with torch.no_grad():
        program = torch.onnx.export(module, sample, dynamo=True, optimize=True, verbose=False)
    assert program is not None
    program.save(str(file), external_data=external_data)


def quantize(source: Path, calibration: Sequence[tuple[torch.Tensor, ...]], file: Path, *, external_data: bool) -> None:
    """Quantizes an ONNX file to 8 bits with ONNX Runtime. OpenVINO reads the result, too.

    Args:
        source: the file in floats.
        calibration: the inputs for which ranges of values are observed.
        file: the quantized file.
        external_data: as in `export`.
    """
    runtime, quantization = (importlib.import_module(name) for name in ("onnxruntime", "onnxruntime.quantization"))
    names = [value.name for value in runtime.InferenceSession(source).get_inputs()]
    feeds = iter([{name: value.numpy() for name, value in zip(names, sample, strict=True)} for sample in calibration])

    class Reader(quantization.CalibrationDataReader):  # type: ignore[misc, name-defined]
        def get_next(self) -> dict[str, Any] | None:
            return next(feeds, None)

    quantization.quantize_static(source, file, Reader(), per_channel=True, use_external_data_format=external_data)
