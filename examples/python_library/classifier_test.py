"""The module computes what the model computes in PyTorch."""

import classifier
import torch
from absl.testing import absltest

from examples.python_library.model import get_model


class ClassifierTest(absltest.TestCase):
    def test_equal_to_pytorch(self) -> None:
        model, _ = get_model()
        for batch in (1, 64):
            x = torch.randn(batch, 8)
            # A tensor is an input by DLPack.
            torch.testing.assert_close(torch.from_numpy(classifier.forward(x)), model(x))


if __name__ == "__main__":
    absltest.main()
