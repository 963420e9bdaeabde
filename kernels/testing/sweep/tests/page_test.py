"""docs/kernels.md has what the sweep's data say."""

import os
import pathlib

from absl.testing import absltest

from kernels.testing.sweep import page
from kernels.testing.sweep.operators import read_operators

_AGAIN = "run tools/bazel run //kernels/testing/sweep"


class PageTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.page = pathlib.Path(os.environ["KERNELS_PAGE"]).read_text()

    def test_every_operator_has_a_row(self) -> None:
        rows = [line.split("|")[1].strip() for line in self.page.splitlines() if line.startswith("| `")]
        operators = read_operators(pathlib.Path(os.environ["FUNCTIONS_YAML"]))
        self.assertEqual([name for name in operators if f"`{name}`" not in rows], [], _AGAIN)

    def test_departures(self) -> None:
        self.assertIn(page.render_departures(), self.page, _AGAIN)

    def test_tolerances(self) -> None:
        self.assertIn(page.render_tolerances(), self.page, _AGAIN)


if __name__ == "__main__":
    absltest.main()
