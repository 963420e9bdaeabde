"""Lowers the example with the SDK that QNN_SDK_ROOT names. Skipped, and never counted as passed, without one."""

from pathlib import Path

from absl.testing import absltest
from executorch.backends.qualcomm.serialization.qc_schema import QcomChipset

from examples.qnn_op_package import lower

_LIBRARY = Path(__file__).parent / "example_op_package.x86_64"


class LowerTest(absltest.TestCase):
    def test_lowers(self) -> None:
        for quantize in (False, True):
            with self.subTest(quantize=quantize):
                program = lower.lower(QcomChipset.SM8650, str(_LIBRARY), quantize)
                self.assertIn(b"QnnBackend", program)
                self.assertNotIn(b"my_ops::", program)


if __name__ == "__main__":
    absltest.main()
