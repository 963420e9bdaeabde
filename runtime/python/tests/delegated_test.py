"""A module with a backend."""

from __future__ import annotations

import numpy
from absl.testing import absltest

from runtime.python.tests import delegated, delegated_model  # type: ignore[attr-defined]


class DelegatedTest(absltest.TestCase):
    def test_equal_to_pytorch(self) -> None:
        module, (x,) = delegated_model.get_model()
        expected, index = module(x)
        for program in (delegated, delegated.Program(), delegated.Program(copy=False)):
            result, of_result = program.forward(x)
            numpy.testing.assert_allclose(result, expected.detach().numpy(), rtol=1e-4, atol=1e-5)
            numpy.testing.assert_array_equal(of_result, index.numpy())

    def test_the_backend_is_in_the_program(self) -> None:
        with open(f"{delegated._FOLDER}/delegated.pte", "rb") as file:
            self.assertIn(b"XnnpackBackend", file.read())


if __name__ == "__main__":
    absltest.main()
