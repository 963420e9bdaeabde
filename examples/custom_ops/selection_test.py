"""Each library registers the operator that its selection names, and a program that needs the other is refused."""

import json
import pathlib
import subprocess

from absl.testing import absltest

_HERE = pathlib.Path(__file__).parent
_CODEGEN = _HERE.parents[1] / "codegen/codegen"


class SelectionTest(absltest.TestCase):
    def test_runner_registers_what_its_model_calls_only(self) -> None:
        for runner, operator in (("runner", "my_ops::mul3.out"), ("mul4_runner", "my_ops::mul4.out")):
            listed = subprocess.run([_HERE / runner, "--list_operators"], check=True, capture_output=True, text=True)
            self.assertEqual(listed.stdout.split(), [operator])

    def test_other_library_registers_mul4_only(self) -> None:
        manifest = json.loads((_HERE / "mul4_lib/registered.json").read_text())
        self.assertEqual([op["schema"].partition("(")[0] for op in manifest["operators"]], ["my_ops::mul4.out"])

    def test_program_that_needs_the_other_is_refused(self) -> None:
        check = subprocess.run(
            [
                _CODEGEN,
                "check",
                "--max_kernels=2000",
                "--label=//examples/custom_ops:runner_without_mul3",
                f"--program={_HERE / 'model.pte'}",
                "--program_name=//examples/custom_ops:model",
                f"--manifest={_HERE / 'mul4_lib/registered.json'}",
                f"--output={self.create_tempfile().full_path}",
            ],
            capture_output=True,
            text=True,
        )
        self.assertNotEqual(check.returncode, 0)
        self.assertIn(
            "my_ops::mul3.out, which //examples/custom_ops:model asks for, is not provided by"
            " //examples/custom_ops:mul4_lib\n",
            check.stderr,
        )


if __name__ == "__main__":
    absltest.main()
