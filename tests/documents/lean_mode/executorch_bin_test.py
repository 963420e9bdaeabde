"""A binary of the user's own that depends on the runtime and on the operator library."""

import subprocess
from pathlib import Path

from absl.testing import absltest

_HERE = Path(__file__).parent
_PROGRAM = _HERE.parents[2] / "examples/lean_mode/model.pte"


class ExecutorchBinTest(absltest.TestCase):
    def test_program_runs(self) -> None:
        run = subprocess.run([_HERE / "executorch_bin", _PROGRAM], check=True, capture_output=True, text=True)
        self.assertEqual(run.stdout, "3 3 3 3 3 3 \n")  # 1 + 2 * 1, as the model has it.


if __name__ == "__main__":
    absltest.main()
