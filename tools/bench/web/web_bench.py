"""Compares compiled programs as WebAssembly with ONNX Runtime for browsers, on one thread of node.

    tools/bazel run //tools/bench:web_bench

Writes a section of docs/benchmarks.md.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from absl import app

from tools.bench import report
from tools.bench.peers import onnx_files
from tools.bench.web import models

_MODELS = {
    "mobilenet_v2_small": ("MobileNetV2 0.35, 96", models.mobilenet_v2_small),
    "mobilenet_v2": ("MobileNetV2 1.0, 224", models.mobilenet_v2),
    "bert_layer": ("a layer of BERT, 64 tokens", models.bert_layer),
    "mobilenet_v2_int8": ("MobileNetV2 1.0, 224, int8", models.mobilenet_v2),
    "bert_layer_int8": ("a layer of BERT, 64 tokens, int8", models.bert_layer),
}
# The least signal-to-noise ratio of the outputs, in decibels. With random weights, each layer amplifies the noise of a
# quantization.
_MIN_SNR = 80
_MIN_SNR_INT8 = 3
_CODE = 10  # The number of the section.
_PEER = "ONNX Runtime"
_TEXT = """\
## ONNX Runtime for browsers

Compiled programs as WebAssembly, built by Emscripten with SIMD128, and ONNX Runtime for browsers (the npm package
`onnxruntime-web`), which run the same models with the same weights. Both run on one thread of node {node}, in turns
({processor}). A time is the median of 15 rounds of 5 calls. The first call includes the load of the program or the
model. A download is all files that a page needs, compressed by gzip: the weights and, of ONNX Runtime, {runtime} KB,
of our programs, {code} of code.

    tools/bazel run //tools/bench:web_bench

{table}
"""


def _write_peer(module: torch.nn.Module, sample: torch.Tensor, folder: Path, *, is_int8: bool) -> None:
    with torch.no_grad():
        expected = module(sample)
    model, floats = folder / "model.onnx", folder / "floats.onnx"
    if is_int8:
        onnx_files.export(module, (sample,), floats, external_data=False)
        onnx_files.quantize(floats, [(sample,)], model, external_data=False)
    else:
        onnx_files.export(module, (sample,), model, external_data=False)
    (folder / "input").write_bytes(sample.numpy().tobytes())
    (folder / "expected").write_bytes(expected.numpy().tobytes())


def _compressed(files: Sequence[Path]) -> int:
    return sum(len(gzip.compress(file.read_bytes())) for file in files)


def _compressed_code(program: Path) -> int:
    """Returns the compressed bytes of a program's section of code."""
    data = program.read_bytes()
    at = 8  # Behind the magic number and the version.
    while True:
        section, bytes_, shift = data[at], 0, 0
        while True:  # The size, 7 bits in each byte.
            at += 1
            bytes_ |= (data[at] & 0x7F) << shift
            shift += 7
            if data[at] < 0x80:
                break
        at += 1
        if section == _CODE:
            return len(gzip.compress(data[at : at + bytes_]))
        at += bytes_


def _row(program: Path, peer: Sequence[Path]) -> list[object]:
    title, get_model = _MODELS[program.stem]
    torch.manual_seed(0)  # As an export does, so that the weights are the same.
    module, (sample,) = get_model()
    is_int8 = program.stem.endswith("_int8")
    (main,) = [file for file in peer if file.name == "ort.wasm.min.mjs"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write_peer(module.eval(), sample, folder, is_int8=is_int8)
        sizes = ",".join(map(str, sample.shape))
        script = "tools/bench/web/run.mjs"
        done = subprocess.run(
            [os.environ["NODE"], script, folder, program, main.absolute(), sizes],
            check=True,
            capture_output=True,
            text=True,
        )
        measured: dict[str, dict[str, Any]] = json.loads(done.stdout)
        download = {"ours": _compressed([program]), "theirs": _compressed([folder / "model.onnx", *peer])}
    for contestant, values in measured.items():
        assert values["snr"] >= (_MIN_SNR_INT8 if is_int8 else _MIN_SNR), (title, contestant, values)
    ours, theirs = measured["ours"], measured["theirs"]
    return [
        title,
        *(f"{one:.2f}" for one in (ours["time"], theirs["time"], ours["time"] / theirs["time"])),
        *(f"{one:.0f}" for one in (ours["first"], theirs["first"])),
        *(f"{download[contestant] / 1e6:.2f}" for contestant in ("ours", "theirs")),
    ]


def main(_: Sequence[str]) -> None:
    peer = [Path(file) for file in os.environ["PEER"].split()]
    programs = {Path(file).stem: Path(file) for file in os.environ["PROGRAMS"].split()}
    rows = [_row(programs[name], peer) for name in _MODELS]
    columns = ["model", "ms", _PEER, f"ours / {_PEER}", "first call, ms", _PEER, "download, MB", _PEER]
    codes = sorted(_compressed_code(program) / 1e3 for program in programs.values())
    node = subprocess.run([os.environ["NODE"], "--version"], check=True, capture_output=True, text=True).stdout.strip()
    text = _TEXT.format(
        node=node,
        processor=report.processor(),
        code=f"{codes[0]:.0f} to {codes[-1]:.0f} KB",
        runtime=f"{_compressed(peer) / 1e3:,.0f}",
        table=report.table(columns, rows),
    )
    report.publish("web", text)


if __name__ == "__main__":
    app.run(main)
