from __future__ import annotations

import torch
from absl.testing import absltest

from runtime.tolerances.table import TOLERANCES


class TableTest(absltest.TestCase):
    def test_tolerances_of_pytorch(self) -> None:
        for name, tolerance in TOLERANCES.items():
            x = torch.tensor(1.0, dtype=getattr(torch, name))
            # The default tolerances are part of the message.
            with self.assertRaises(AssertionError) as raised:
                torch.testing.assert_close(x, x * 2)
            self.assertIn(f"(up to {tolerance.atol} allowed)", str(raised.exception))
            self.assertIn(f"(up to {tolerance.rtol} allowed)", str(raised.exception))

    def test_all_floats_have_tolerances(self) -> None:
        self.assertCountEqual(TOLERANCES, ["float64", "float32", "float16", "bfloat16"])


if __name__ == "__main__":
    absltest.main()
