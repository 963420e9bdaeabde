from __future__ import annotations

import os
import re
from pathlib import Path

from absl.testing import absltest

from codegen.artifacts import registered_operators
from codegen.tests import case

_YAML = Path(__file__).parent / "functions.yaml"


class UndeclaredTest(case.TestCase):
    def _generate(self, yaml: str, *arguments: str) -> registered_operators.Library:
        selection = str(self.directory / "selected_operators.yaml")
        self.run_command("select", f"--output={selection}", *arguments)
        sources = ("boxed_kernels", "kernel_table", "registration", "registered_names", "native_functions", "functions")
        self.run_command(
            "generate",
            "--max_kernels=2000",
            "--label=//a:lib",
            f"--functions_yaml={self.write('functions.yaml', yaml)}",
            f"--selection={selection}",
            *(f"--{name}={self.directory / name}" for name in (*sources, "manifest")),
        )
        return registered_operators.read(str(self.directory / "manifest"))

    def _model(self) -> tuple[str, str]:
        return f"--model={os.environ['MODEL']}", "--model_name=//a:model"

    def test_the_model_reaches_every_kernel(self) -> None:
        (operator,) = self._generate(_YAML.read_text(), *self._model()).operators
        self.assertEqual(len(operator.kernels), 8)
        self.assertEqual(len([key for kernel in operator.kernels for key in kernel.keys]), 9)

    def test_without_a_default(self) -> None:
        without = re.sub(r"    - arg_meta: null\n.*\n", "", _YAML.read_text())
        self.assert_refused(lambda: self._generate(without, *self._model()), "missing-kernel-key functions.yaml:3:7")


if __name__ == "__main__":
    absltest.main()
