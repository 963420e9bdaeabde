"""Compares a peer's time in the harness with that of the same peer alone, used as its documentation shows."""

from __future__ import annotations

import importlib.util
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy
from absl.testing import absltest

from tools.bench.peers import contestants

_SIZE, _ROWS, _LAYERS = 1024, 256, 6
_SECONDS = 0.15
# Other load of the machine only makes a turn longer. The fastest turns are compared, and more turns bring them closer.
_LEAST_TURNS, _MOST_TURNS = 5, 20
# A peer of two threads with one processor takes about 1.9 times as long.
_MOST = 1.4

# The programs get the path of a model, and define `run`.
_ALONE = {
    "onnxruntime": """
import onnxruntime
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 2
session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
run = lambda: session.run(None, {"input": values})
""",
    "openvino": """
import openvino
compiled = openvino.compile_model(model, "CPU", {"INFERENCE_NUM_THREADS": 2, "INFERENCE_PRECISION_HINT": "f32"})
run = lambda: compiled(values)
""",
}
_INPUT = "import sys, time; import numpy; model = sys.argv[1]; values = numpy.load(sys.argv[2])"
_TIMED = f"""
run()
times = []
while sum(times) < {_SECONDS}:
    start = time.perf_counter()
    run()
    times.append(time.perf_counter() - start)
print(sorted(times)[len(times) // 2])  # As in the harness.
"""


def _write_model(folder: Path) -> None:
    """Writes a model of linear layers with activations, a sample, and the input alone."""
    onnx: Any = importlib.import_module("onnx")
    random = numpy.random.default_rng(1)
    values = random.standard_normal((_ROWS, _SIZE), dtype=numpy.float32)
    nodes, weights, name, output = [], [], "input", values
    for i in range(_LAYERS):
        weight = random.standard_normal((_SIZE, _SIZE), dtype=numpy.float32) * (2 / _SIZE) ** 0.5
        weights.append(onnx.numpy_helper.from_array(weight, f"weight_{i}"))
        nodes.append(onnx.helper.make_node("MatMul", [name, f"weight_{i}"], [f"product_{i}"]))
        nodes.append(onnx.helper.make_node("Relu", [f"product_{i}"], [name := f"output_{i}"]))
        output = numpy.maximum(output @ weight, 0)
    ports = [
        onnx.helper.make_tensor_value_info(port, onnx.TensorProto.FLOAT, [_ROWS, _SIZE]) for port in ("input", name)
    ]
    graph = onnx.helper.make_graph(nodes, "linear", ports[:1], ports[1:], weights)
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)], ir_version=9)
    onnx.save(model, folder / "model.onnx")
    numpy.save(folder / "input.npy", values)
    numpy.savez(folder / "samples.npz", count=1, input_0_0=values, output_0_0=output)


class AloneTest(absltest.TestCase):
    def test_onnxruntime(self) -> None:
        self._test_two_threads("onnxruntime")

    def test_openvino(self) -> None:
        self._test_two_threads("openvino")

    def _test_two_threads(self, column: str) -> None:
        cpus = sorted(os.sched_getaffinity(0))[:2]
        if len(cpus) < 2:
            self.skipTest("this machine has one processor")
        if importlib.util.find_spec(column) is None or importlib.util.find_spec("onnx") is None:
            self.skipTest(f"{column} or onnx is not installed")
        folder = Path(self.create_tempdir().full_path)
        _write_model(folder)
        environment = contestants.python_environment(folder, folder)
        worker = contestants.Worker(column, folder, {"tolerance": 1e-3, "min_snr": 0}, cpus, environment)
        self.addCleanup(worker.stop)
        worker.start()
        program = "\n".join([_INPUT, _ALONE[column], _TIMED])
        arguments = [program, str(folder / "model.onnx"), str(folder / "input.npy")]
        command = ["taskset", "-c", ",".join(map(str, cpus)), sys.executable, "-c", *arguments]
        in_harness = alone = math.inf
        for turn in range(1, _MOST_TURNS + 1):
            in_harness = min(in_harness, worker.turn(_SECONDS))
            alone = min(alone, float(subprocess.check_output(command, text=True, env=environment)))
            if turn >= _LEAST_TURNS and 1 / _MOST < in_harness / alone < _MOST:
                return
        self.fail(f"{column} takes {1e3 * in_harness:.1f} ms in the harness, {1e3 * alone:.1f} ms alone")


if __name__ == "__main__":
    absltest.main()
