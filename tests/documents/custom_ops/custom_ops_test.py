"""The steps of ExecuTorch's guide to custom operators, with what //tests/documents/custom_ops builds."""

import subprocess
from pathlib import Path

import tests.documents.custom_ops.custom_ops_lib_2  # noqa: F401  (defines my_ops::mul4)
import torch
from absl.testing import absltest

_HERE = Path(__file__).parent


class CustomOpsTest(absltest.TestCase):
    def _run(self, program: str, *arguments: str) -> str:
        return subprocess.run([_HERE / program, *arguments], check=True, capture_output=True, text=True).stdout

    def test_only_what_is_selected_is_registered(self) -> None:
        for number, operator in (("1", "my_ops::mul3.out"), ("2", "my_ops::mul4.out")):
            self.assertEqual(self._run(f"executor_runner_{number}", "--list_operators").split(), [operator])

    def test_script_loads_the_library_and_exports(self) -> None:
        program = self.create_tempfile("custom_ops_2.pte").full_path
        library = str(_HERE / "libcustom_ops_aot_lib_2.so")
        printed = self._run("export_custom_ops_2", f"--so_library={library}", f"--output={program}")
        self.assertEqual(printed, "in PyTorch: mul4\n")
        run = self._run("executor_runner_2", f"--program={program}", "--input=1,2,3,4,5,6")
        self.assertIn("output 0  float32 [2, 3]: 4 8 12 16 20 24\n", run)

    def test_library_of_the_generated_library(self) -> None:
        """PyTorch gets what the runtime gets: the selected operators, with the kernels in deps."""
        x = torch.randn(2, 3)
        self.assertTrue(torch.equal(torch.ops.my_ops.mul4(x), x * 4))
        self.assertFalse(hasattr(torch.ops.my_ops, "mul3"))


if __name__ == "__main__":
    absltest.main()
