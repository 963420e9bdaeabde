"""The toolchain's PyTorch for C++ is the one that Python imports."""

import pathlib

import torch
from absl.testing import absltest


class TorchVersionTest(absltest.TestCase):
    def test_version_is_python_s(self) -> None:
        version = pathlib.Path(__file__).with_name("torch_version.txt").read_text()
        self.assertEqual(version, torch.__version__.partition("+")[0])


if __name__ == "__main__":
    absltest.main()
