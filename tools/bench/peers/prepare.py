"""Makes the peers' files of a model: the module, samples with PyTorch's outputs, ONNX, and quantized models.

    python -m tools.bench.peers.prepare MODEL FOLDER

MODEL describes the model as JSON. A file that cannot be made is left out, and a file `NAME.error` has the reason.
"""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy
import torch
from torch.utils import _pytree as pytree

from tools.bench.peers import llama_cpp_model, onnx_files

Sample = tuple[torch.Tensor, ...]

_COLOR = re.compile(r"\x1b\[[0-9;]*m")


def _model(model: dict[str, Any]) -> tuple[torch.nn.Module, list[Sample], list[Sample]]:
    """Returns the module, the samples, and the calibration inputs of a quantization."""
    content = importlib.import_module(model["file"].removesuffix(".py").replace("/", "."))
    torch.manual_seed(0)  # The same seed as in an export, so that the weights are the same.
    module, example = getattr(content, model["entry_point"])()
    samples = content.get_sample_inputs() if hasattr(content, "get_sample_inputs") else [example]
    calibration = content.get_calibration_inputs() if hasattr(content, "get_calibration_inputs") else samples
    return module.eval(), samples, calibration


def _save_samples(module: torch.nn.Module, samples: Sequence[Sample], file: Path) -> None:
    arrays: dict[str, Any] = {"count": len(samples)}
    for i, sample in enumerate(samples):
        with torch.no_grad():
            outputs = pytree.tree_leaves(module(*sample))
        for name, values in (("input", sample), ("output", outputs)):
            arrays |= {f"{name}_{i}_{j}": value.numpy() for j, value in enumerate(values)}
    numpy.savez(file, **arrays)


def _quantize_module(module: torch.nn.Module, calibration: Sequence[Sample], file: Path) -> None:
    """Quantizes to 8 bits with torchao, for torch.compile."""
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
    from torchao.quantization.pt2e.quantizer import x86_inductor_quantizer as x86

    quantizer = x86.X86InductorQuantizer().set_global(x86.get_default_x86_inductor_quantization_config())
    with torch.no_grad():
        prepared = prepare_pt2e(torch.export.export(module, calibration[0]).module(), quantizer)
        for sample in calibration:
            prepared(*sample)
        torch.export.save(torch.export.export(convert_pt2e(prepared), calibration[0]), file)


def main(model: dict[str, Any], folder: Path) -> None:
    module, samples, calibration = _model(model)

    def make(name: str, step: Callable[[], None]) -> None:
        try:
            step()
        except Exception as error:  # A failure for one peer must not affect the other peers.
            (folder / name).unlink(missing_ok=True)
            # PyTorch's messages have color codes, which do not belong into a document.
            text = next(filter(None, _COLOR.sub("", str(error)).splitlines()), "")
            (folder / f"{name}.error").write_text(f"{type(error).__name__}: {text}")

    make("samples.npz", lambda: _save_samples(module, samples, folder / "samples.npz"))
    for part in module.modules():
        vars(part).pop("extra_repr", None)  # torchao's function for print(), which cannot be stored.
    make("module.pt", lambda: torch.save(module, folder / "module.pt"))
    onnx = folder / "model.onnx"
    if model["has_gguf"]:
        decoder: Any = module
        make("model.gguf", lambda: llama_cpp_model.write(decoder.cached.model, folder / "model.gguf"))
    if "work" in model:  # A row of one operator, which is compared with PyTorch only.
        pass
    elif model["quantize"]:

        def make_onnx() -> None:
            onnx_files.export(module, samples[0], folder / "float.onnx", external_data=True)
            onnx_files.quantize(folder / "float.onnx", calibration, onnx, external_data=True)

        make("model.onnx", make_onnx)
        make("module_int8.pt2", lambda: _quantize_module(module, calibration, folder / "module_int8.pt2"))
    else:
        make("model.onnx", lambda: onnx_files.export(module, samples[0], onnx, external_data=True))
    (folder / "ready").touch()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), Path(sys.argv[2]))
