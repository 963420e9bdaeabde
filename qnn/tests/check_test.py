"""The tool that compares a package with PyTorch's operators, as a build runs it."""

import os
import subprocess
from pathlib import Path

from absl.testing import absltest

_RUNFILES = Path(__file__).parents[2]
_XML = _RUNFILES / "examples/qnn_op_package/example_op_package.xml"


class CheckTest(absltest.TestCase):
    def check(self, *flags: str) -> tuple[int, str, str]:
        """Runs the tool; returns its status, its report and what it says of mistakes."""
        report = Path(self.create_tempdir().full_path) / "report.txt"
        command = [str(_RUNFILES / "qnn/check"), f"--xml={_XML}", "--label=//a:b", f"--report={report}", *flags]
        environment = os.environ | {"QNN_SDK_ROOT": "", "HEXAGON_SDK_ROOT": ""}
        result = subprocess.run(command, env=environment, capture_output=True, text=True)
        return result.returncode, report.read_text() if report.exists() else "", result.stderr

    def test_fits(self) -> None:
        module = "--module=examples.qnn_op_package.operators"
        status, report, _ = self.check(
            module,
            f"--import_path={_RUNFILES}",
            "--torch_op=ExampleCustomOp=my_ops::mul3",
            "--torch_op=ScaledHalves=my_ops::scaled_halves",
        )
        self.assertEqual(status, 0)
        self.assertIn(
            "ExampleOpPackage ScaledHalves: my_ops::scaled_halves(Tensor input, float factor) -> (Tensor,", report
        )

    def test_does_not_fit(self) -> None:
        # PyTorch's own operator has two tensors, and the op one.
        status, report, stderr = self.check("--torch_op=ExampleCustomOp=aten::mul.Tensor")
        self.assertEqual((status, report), (1, ""))
        self.assertRegex(stderr, r"error: .*\baten::mul\.Tensor\b.*\bExampleCustomOp\b")
        self.assertIn("docs/errors.md#op-does-not-fit", stderr)

    def test_built_in_operator(self) -> None:
        status, report, _ = self.check("--torch_op=ExampleCustomOp=aten::relu")
        self.assertEqual(status, 0)
        self.assertIn("aten::relu(Tensor self) -> Tensor", report)

    def test_unknown_operator_and_op(self) -> None:
        for torch_op, name, error_id in (
            ("ExampleCustomOp=my_ops::mul3", "my_ops::mul3", "unknown-torch-operator"),
            ("ExampelCustomOp=aten::relu", "ExampelCustomOp", "unknown-op"),
        ):
            status, _, stderr = self.check(f"--torch_op={torch_op}")
            self.assertEqual(status, 1)
            self.assertRegex(stderr, f"^//a:b: error: attribute torch_ops.*{name}")
            self.assertIn(f"docs/errors.md#{error_id}", stderr)
            self.assertNotIn("Traceback", stderr)

    def test_module_that_raises(self) -> None:
        folder = Path(self.create_tempdir().full_path)
        (folder / "raising.py").write_text("raise RuntimeError('no license')\n")
        status, _, stderr = self.check(
            "--module=raising", f"--import_path={folder}", "--torch_op=ExampleCustomOp=aten::relu"
        )
        self.assertEqual(status, 1)
        self.assertIn(
            "//a:b: error: importing raising raised RuntimeError: no license\n    raising.py:1, in <module>", stderr
        )


if __name__ == "__main__":
    absltest.main()
