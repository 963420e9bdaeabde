"""A process that runs one model on request, with one of the peers that have a Python API.

    python -m tools.bench.peers.worker COLUMN FOLDER MODEL THREADS

FOLDER is the folder that prepare.py wrote. MODEL describes the model as JSON. The process has one number of threads,
and its parent gives it as many processors: some peers count the processors only when they are imported. The process
writes a line of JSON after the first inference, and a line for each line of the standard input. The first input line
requests the difference of the outputs to PyTorch's, and the time of one more inference. Each other input line,
`{"seconds": 0.5}`, requests the median time of an inference in this duration.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import signal
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

_PR_SET_PDEATHSIG = 1

Outputs = Sequence[Any]
# Runs one sample.
Run = Callable[[int], Outputs]


class Session:
    """A model loaded by a peer."""

    def __init__(self, folder: Path, model: dict[str, Any], threads: int) -> None:
        """Imports the peer, and reads the model for a number of threads."""
        import numpy

        self.folder = folder
        self.model = model
        with numpy.load(folder / "samples.npz") as file:
            samples = int(file["count"])
            self.inputs = [_numbered(file, f"input_{i}_") for i in range(samples)]
            self.expected = [_numbered(file, f"output_{i}_") for i in range(samples)]

    def run(self, sample: int) -> Outputs:
        """Runs a sample."""
        raise NotImplementedError


def _numbered(file: Any, prefix: str) -> list[Any]:
    names = [name for name in file.files if name.startswith(prefix)]
    return [file[f"{prefix}{i}"] for i in range(len(names))]


class Eager(Session):
    """PyTorch's eager module."""

    def __init__(self, folder: Path, model: dict[str, Any], threads: int) -> None:
        super().__init__(folder, model, threads)
        import torch

        # If PyTorch ignored the variable, PyTorch would use a wider set than allowed.
        set_for_pytorch = os.environ.get("ATEN_CPU_CAPABILITY")
        found = torch.backends.cpu.get_cpu_capability().lower()
        if set_for_pytorch not in (None, found):
            raise RuntimeError(f"PyTorch's kernels are those for {found}, not for {set_for_pytorch}")
        torch.set_num_threads(threads)
        self.torch = torch
        self.tensors = [[torch.from_numpy(array) for array in sample] for sample in self.inputs]
        self.module = self.load()

    def load(self) -> Any:
        return self.torch.load(self.folder / "module.pt", weights_only=False, mmap=True)

    def run(self, sample: int) -> Outputs:
        with self.torch.no_grad():
            outputs = self.module(*self.tensors[sample])
        return outputs if isinstance(outputs, tuple) else (outputs,)


class Compiled(Eager):
    """torch.compile. A quantized model is quantized by torchao for this processor, and has constant weights."""

    def load(self) -> Any:
        if not self.model["quantize"]:
            return self.torch.compile(super().load())
        import torch._inductor.config as inductor
        import torchao.quantization.pt2e.quantizer.x86_inductor_quantizer  # noqa: F401  (registers its operators)

        inductor.freezing = True
        return self.torch.compile(self.torch.export.load(self.folder / "module_int8.pt2").module())


class OnnxRuntime(Session):
    """ONNX Runtime with all its optimizations."""

    def __init__(self, folder: Path, model: dict[str, Any], threads: int) -> None:
        super().__init__(folder, model, threads)
        onnxruntime = importlib.import_module("onnxruntime")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(folder / "model.onnx", options, providers=["CPUExecutionProvider"])
        names = [value.name for value in self.session.get_inputs()]
        self.feeds = [dict(zip(names, sample, strict=True)) for sample in self.inputs]

    def run(self, sample: int) -> Outputs:
        outputs: Outputs = self.session.run(None, self.feeds[sample])
        return outputs


class OpenVino(Session):
    """OpenVINO's CPU plugin, in float32 even if the processor supports bfloat16."""

    def __init__(self, folder: Path, model: dict[str, Any], threads: int) -> None:
        super().__init__(folder, model, threads)
        settings = {
            "ENABLE_CPU_PINNING": False,  # taskset pins.
            "INFERENCE_NUM_THREADS": threads,
            "INFERENCE_PRECISION_HINT": "f32",
            "PERFORMANCE_HINT": "LATENCY",
        }
        core = importlib.import_module("openvino").Core()
        self.request = core.compile_model(folder / "model.onnx", "CPU", settings).create_infer_request()

    def run(self, sample: int) -> Outputs:
        results = self.request.infer(self.inputs[sample], share_inputs=True, share_outputs=True)
        return list(results.values())


class LlamaCpp(Session):
    """llama.cpp with a GGUF file. The sample is a token and its position, after the prompt of llama.py in the cache.

    Each run adds the token to the cache, and removes it again.
    """

    def __init__(self, folder: Path, model: dict[str, Any], threads: int) -> None:
        super().__init__(folder, model, threads)
        self.api = api = importlib.import_module("llama_cpp")
        api.llama_backend_init()
        loaded = api.llama_model_load_from_file(bytes(folder / "model.gguf"), api.llama_model_default_params())
        if not loaded:
            raise RuntimeError("llama.cpp does not load the file")
        settings = api.llama_context_default_params()
        settings.n_ctx = 0  # As many tokens as the file says.
        settings.n_threads = settings.n_threads_batch = threads
        self.context = api.llama_init_from_model(loaded, settings)
        self.vocabulary = api.llama_vocab_n_tokens(api.llama_model_get_vocab(loaded))
        self.token, self.position = (int(array.item()) for array in self.inputs[0])
        self.decode(list(range(self.position)))

    def run(self, sample: int) -> Outputs:
        import numpy

        # The next call writes to the same memory.
        logits = numpy.ctypeslib.as_array(self.decode([self.token]), (1, self.vocabulary))
        self.api.llama_memory_seq_rm(self.api.llama_get_memory(self.context), 0, self.position, -1)
        return [logits]

    def decode(self, tokens: list[int]) -> Any:
        """Adds tokens to the cache. Returns the logits after the last one."""
        array = (self.api.llama_token * len(tokens))(*tokens)  # The batch has a pointer to the array.
        batch = self.api.llama_batch_get_one(array, len(tokens))
        if self.api.llama_decode(self.context, batch) != 0:
            raise RuntimeError("llama.cpp does not decode the tokens")
        return self.api.llama_get_logits(self.context)


SESSIONS: dict[str, type[Session]] = {
    "compile": Compiled,
    "eager": Eager,
    "llama_cpp": LlamaCpp,
    "onnxruntime": OnnxRuntime,
    "openvino": OpenVino,
}


def difference(expected: Sequence[Any], outputs: Sequence[Any], *, tolerance: float, min_snr: float) -> str:
    """Returns the difference of a sample's outputs to PyTorch's; empty if they are equal within the tolerance."""
    import numpy

    if len(expected) != len(outputs):
        return f"{len(outputs)} outputs, PyTorch {len(expected)}"
    for index, (right, given) in enumerate(zip(expected, outputs, strict=True)):
        found = numpy.asarray(given)
        if found.shape != right.shape:
            return f"output {index} has the shape {list(found.shape)}, PyTorch's {list(right.shape)}"
        noise = found.astype(numpy.float64) - right
        if min_snr:
            snr = 10 * numpy.log10((right.astype(numpy.float64) ** 2).sum() / max((noise**2).sum(), 1e-30))
            if not snr >= min_snr:
                return f"output {index} has an SNR of {snr:.1f} dB, at least {min_snr} are asked for"
        elif not (abs(noise) <= tolerance + tolerance * abs(right)).all():
            return f"output {index} is off by up to {abs(noise).max():.2g}"
    return ""


def _say(**message: object) -> None:
    print(json.dumps(message), flush=True)


def median_seconds(inputs: Sequence[Sequence[Any]], run: Run, seconds: float) -> float:
    """Returns the time of an inference, as the median of as many runs of all samples as fit.

    As in a runner, the inputs are copied to the model's inputs before the timed part, and the outputs are copied away
    after the timed part. Otherwise, the state of the caches would differ from that in a runner.
    """
    import numpy

    sources = [[array.copy() for array in sample] for sample in inputs]
    times: list[float] = []
    end = time.perf_counter() + seconds
    while not times or time.perf_counter() < end:
        taken = 0.0
        for sample, arrays in enumerate(sources):
            for array, source in zip(inputs[sample], arrays, strict=True):
                numpy.copyto(array, source)
            start = time.perf_counter()
            outputs = run(sample)
            taken += time.perf_counter() - start
            for output in outputs:
                numpy.array(output)
        times.append(taken / len(sources))
    return statistics.median(times)


def main(column: str, folder: Path, model: dict[str, Any], threads: int) -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)  # Ends this process if the parent process is killed.
    start = time.perf_counter()
    session = SESSIONS[column](folder, model, threads)
    outputs = [session.run(0)]
    end = time.perf_counter()
    _say(start=end - start)
    sys.stdin.readline()  # The parent first reads the memory of this process.
    outputs += [session.run(sample) for sample in range(1, len(session.inputs))]
    wrong = [
        difference(right, found, tolerance=model["tolerance"], min_snr=model["min_snr"])
        for right, found in zip(session.expected, outputs, strict=True)
    ]
    _say(different=next(filter(None, wrong), ""), seconds=median_seconds(session.inputs, session.run, 0))
    for line in sys.stdin:
        session.run(0)  # Warms the caches.
        _say(seconds=median_seconds(session.inputs, session.run, json.loads(line)["seconds"]))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), json.loads(sys.argv[3]), int(sys.argv[4]))
