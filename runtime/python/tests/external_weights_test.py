"""A module of a program whose constants are in a file of their own."""

from __future__ import annotations

import numpy
import torch
from absl.testing import absltest

from runtime.python.tests import external_weights  # type: ignore[attr-defined]  # a build writes the module


class ExternalWeightsTest(absltest.TestCase):
    def test_results_are_those_of_pytorch(self) -> None:
        torch.manual_seed(0)  # As runtime/tests/weights_model.py.
        table = torch.nn.Embedding(300, 2).weight.detach().numpy()
        numbers = numpy.arange(300)[::-1].copy()
        numpy.testing.assert_array_equal(external_weights.forward(numbers), table[numbers])


if __name__ == "__main__":
    absltest.main()
