"""A program gives what PyTorch computes for the graph that it was made of, bit for bit.

The eager module itself multiplies matrices by transposed weights as they lie in memory. The graph first copies them
into the transposed order, and PyTorch then adds up the products in another one.
"""

from __future__ import annotations

import dataclasses
import os
import subprocess
from pathlib import Path

import torch
from absl.testing import absltest
from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower

from export.lower import tracing
from export.user import model_file, samples


class SameGraphTest(absltest.TestCase):
    def _check(self, example: str) -> None:
        (method,) = model_file.load(
            Path(f"examples/{example}/model.py"), "get_model", (), rule="executorch_program"
        ).methods
        config = EdgeCompileConfig(_check_ir_validity=False)
        exported = tracing.trace(method, samples.record(method).samples)
        edge = to_edge_transform_and_lower(exported, compile_config=config)
        graph = edge.exported_program().module()
        recorded = samples.record(dataclasses.replace(method, module=graph)).samples
        path = Path(self.create_tempdir().full_path) / "samples.ptd"
        path.write_bytes(samples.serialize({method.name: recorded}))
        result = subprocess.run(
            [f"examples/aten_mode/{example}_runner", f"--samples={path}", "--check", "--rtol=0", "--atol=0"],
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertRegex(result.stdout, rf"PASSED: {len(method.samples)} samples, .* allowed 0 \+ 0 ")

    def test_mobilenet_v2(self) -> None:
        self._check("mobilenet_v2")

    def test_tiny_llama(self) -> None:
        self._check("tiny_llama")


if __name__ == "__main__":
    torch.set_num_threads(1)
    absltest.main()
