"""Writes a model as the C of emx-onnx-cgen, and the bytes of its weights: write_peer.py mlp.py SOURCE BYTES."""

from __future__ import annotations

import importlib
import sys
import tempfile
from pathlib import Path

import torch

# Temporaries on the stack, and weights in the source.
_OPTIONS = ("--large-temp-threshold=0", "--large-weight-threshold=0")


def main() -> None:
    file, output, bytes_file = sys.argv[1:]
    module, sample = importlib.import_module(file.removesuffix(".py").replace("/", ".")).get_model()
    weights = sum(parameter.nbytes for parameter in module.parameters())
    Path(bytes_file).write_text(f"{weights}\n")
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model.onnx"
        program = torch.onnx.export(module.eval(), sample, dynamo=True, optimize=True, verbose=False)
        assert program is not None
        program.save(str(model))
        # The package has no types, and is absent if pip cannot install it.
        generator = importlib.import_module("emx_onnx_cgen.cli")
        status = generator.main(["compile", *_OPTIONS, "--model-name=model", str(model), output])
    sys.exit(status)


if __name__ == "__main__":
    main()
