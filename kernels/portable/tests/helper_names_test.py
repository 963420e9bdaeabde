"""Tests that kernels and the wheel's prebuilt kernels have no symbols in common, so that no binary mixes them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from absl.testing import absltest

from codegen.inputs import functions_yaml

_HERE = Path(__file__).parent
_OURS = "rules_executorch::kernels::"
# The namespaces of ExecuTorch's own helpers and kernels.
_THEIRS = ("torch::executor::", "executorch::extension::", "executorch::runtime::native::", "executorch::vec::")


def _defined(files: list[str], *options: str) -> set[str]:
    """The names of the functions and variables that files define, without their parameters."""
    command = [os.environ["NM"], "--demangle", "--defined-only", "--extern-only", *options, *files]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return {fields[2].partition("(")[0] for line in lines if len(fields := line.split(" ", 2)) == 3}


class HelperNamesTest(absltest.TestCase):
    def test_only_kernels_have_names_in_the_namespaces_of_executorch(self) -> None:
        operators = functions_yaml.read(
            str(_HERE.parent / "functions.yaml"), str(_HERE.parent / "custom_ops.yaml"), max_kernels=2000
        )
        kernels = {kernel.function for operator in operators.values() for kernel in operator.kernels}
        archives = [argument for argument in sys.argv[1:] if argument.endswith((".a", ".o"))]
        names = _defined(archives)
        self.assertEqual(sorted(kernels - names), [])
        self.assertTrue(any(name.startswith(_OURS) for name in names), "the helpers are among the archives")
        of_executorch = {name for name in names if name.startswith(_THEIRS)}
        self.assertEqual(sorted(of_executorch - kernels), [])

    def test_prebuilt_kernels_have_no_name_of_the_helpers(self) -> None:
        libraries = [argument for argument in sys.argv[1:] if "libexecutorch_kernels" in argument]
        names = _defined(libraries, "--dynamic")
        self.assertIn("torch::executor::native::abs_out", names)
        self.assertEqual([name for name in names if name.startswith(_OURS)], [])


if __name__ == "__main__":
    absltest.main(argv=sys.argv[:1])
