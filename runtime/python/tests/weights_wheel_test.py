"""Wheels have all files of constants, and run where they are unpacked."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy
import torch
from absl.testing import absltest

from examples.lora import model


class WeightsWheelTest(absltest.TestCase):
    def run_wheel(self, variable: str, code: str) -> list[str]:
        """Runs code in a folder with the wheel, without the files of the build. Returns the names of its weights."""
        folder = Path(self.create_tempdir().full_path)
        wheel = zipfile.ZipFile(os.environ[variable])
        wheel.extractall(folder)
        packages = str(Path(numpy.__file__).parents[1])
        prefix = f"import sys; sys.path += {[str(folder), packages]}\n"
        subprocess.run([sys.executable, "-I", "-c", prefix + code], check=True, cwd=folder)
        return [name.rpartition("/")[2] for name in wheel.namelist() if name.endswith(".weights.ptd")]

    def test_one_file(self) -> None:
        torch.manual_seed(0)  # As runtime/tests/weights_model.py.
        row = torch.nn.Embedding(300, 2).weight[7].tolist()
        found = self.run_wheel(
            "EXTERNAL_WEIGHTS",
            "import numpy, external_weights\n"
            f"assert external_weights.forward(numpy.full(300, 7))[5].tolist() == {row}\n",
        )
        self.assertEqual(found, ["external_weights.0.weights.ptd"])

    def test_two_files(self) -> None:
        module, (tokens,) = model.get_with_a()
        expected = module(tokens)[0].tolist()
        found = self.run_wheel(
            "ADAPTED",
            "import numpy, adapted\n"
            f"scores = adapted.forward(numpy.array({tokens.tolist()}))[0]\n"
            f"numpy.testing.assert_allclose(scores, {expected}, atol=1e-5)\n",
        )
        self.assertCountEqual(found, ["adapted.0.weights.ptd", "adapted.1.weights.ptd"])


if __name__ == "__main__":
    absltest.main()
