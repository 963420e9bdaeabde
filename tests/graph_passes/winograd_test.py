"""The default tolerance accepts the rounding errors of Winograd's algorithm, and no wrong result."""

import os
import pathlib
import subprocess
from collections.abc import Callable
from typing import Any

import torch
from absl.testing import absltest
from executorch.extension.flat_tensor.serialize.serialize import FlatTensorSerializer

from export.exporter import export
from export.graph_passes.operators import winograd_convolution
from runtime.tolerances.table import TOLERANCES

_RUNNER = os.environ["RUNNER"]
# A softmax of many channels multiplies the errors of large logits, and most of its elements are small.
_MODEL = """
import torch

class Stack(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Conv2d(64, 64, 3, padding=1, bias=False) for _ in range(16))
        for layer in self.layers:
            torch.nn.init.kaiming_normal_(layer.weight)

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return torch.softmax(30 * x, 1)

def get_model():
    torch.manual_seed(0)
    return Stack(), (torch.randn(1, 64, 32, 32),)
"""
_OUTPUT = "forward/0/output/0"
_GROWTH = "forward/0/error_growth"


def _exact_output() -> bytes:
    """Returns the output without rounding errors. Those of PyTorch's convolutions differ between processors."""
    scope: dict[str, Any] = {}
    exec(_MODEL, scope)
    module, (x,) = scope["get_model"]()
    with torch.no_grad():
        output: torch.Tensor = module.double()(x.double()).float()
    return output.numpy().tobytes()


class WinogradTest(absltest.TestCase):
    folder: pathlib.Path

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = pathlib.Path(absltest.get_default_test_tmpdir())
        model = cls.folder / "model.py"
        model.write_text(_MODEL)
        for name, passes in (("model", ["all"]), ("direct", ["all", "-winograd"])):
            exported = export(model, graph_passes=passes)
            (cls.folder / f"{name}.pte").write_bytes(exported.pte)
            payload = FlatTensorSerializer().deserialize(exported.ptd)
            payload.buffers = list(payload.buffers)
            payload.buffers[payload.named_data[_OUTPUT].buffer_index] = _exact_output()
            (cls.folder / f"{name}.ptd").write_bytes(bytes(FlatTensorSerializer().serialize(payload)))

    def check(self, samples: str, *flags: str, program: str = "model.pte") -> subprocess.CompletedProcess[str]:
        program = f"--program={self.folder / program}"
        command = [_RUNNER, program, f"--samples={self.folder / samples}", "--check", *flags]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def altered(self, change: Callable[[torch.Tensor], None], *, with_growth: bool) -> str:
        """Writes samples with another output; returns the name of the file."""
        payload = FlatTensorSerializer().deserialize((self.folder / "model.ptd").read_bytes())
        buffers = [bytearray(buffer) for buffer in payload.buffers]
        change(torch.frombuffer(buffers[payload.named_data[_OUTPUT].buffer_index], dtype=torch.float32))
        payload.buffers = [bytes(buffer) for buffer in buffers]
        if not with_growth:
            del payload.named_data[_GROWTH]
        (self.folder / "altered.ptd").write_bytes(bytes(FlatTensorSerializer().serialize(payload)))
        return "altered.ptd"

    def test_passes(self) -> None:
        run = self.check("model.ptd")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertIn(
            f", for rounding errors of {winograd_convolution.ERROR_GROWTH[4]} times PyTorch's",
            run.stdout.splitlines()[-1],
        )

    def test_tolerance_of_other_programs(self) -> None:
        """Without Winograd's algorithm, the program needs no wider tolerance."""
        run = self.check(self.altered(lambda output: None, with_growth=False))
        self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
        run = self.check("direct.ptd", program="direct.pte")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertNotIn("rounding errors", run.stdout)

    def test_given_tolerance(self) -> None:
        tolerance = TOLERANCES["float32"]
        flags = [f"--atol={tolerance.atol}", f"--rtol={tolerance.rtol + tolerance.of_largest}"]
        self.assertEqual(self.check("model.ptd", *flags).returncode, 1)

    def test_wrong_result(self) -> None:
        """One element that is wrong by ten times the tolerance for the largest element."""
        tolerance, growth = TOLERANCES["float32"], winograd_convolution.ERROR_GROWTH[4]

        def change(output: torch.Tensor) -> None:
            allowed = tolerance.atol + (tolerance.rtol + tolerance.of_largest) * output.max()
            output[output.argmax()] += 10 * growth * allowed

        run = self.check(self.altered(change, with_growth=True))
        self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
        self.assertIn("    1 of 65536 elements differ", run.stdout)

    def test_wrong_growth(self) -> None:
        for growth in (0.0, 1001.0, float("nan")):
            payload = FlatTensorSerializer().deserialize((self.folder / "model.ptd").read_bytes())
            index = payload.named_data[_GROWTH].buffer_index
            payload.buffers = list(payload.buffers)
            payload.buffers[index] = torch.tensor(growth, dtype=torch.float64).numpy().tobytes()
            (self.folder / "altered.ptd").write_bytes(bytes(FlatTensorSerializer().serialize(payload)))
            run = self.check("altered.ptd")
            self.assertEqual(run.returncode, 1)
            self.assertIn(f"{_GROWTH} is no number from 1 to 1000", run.stderr)


if __name__ == "__main__":
    absltest.main()
