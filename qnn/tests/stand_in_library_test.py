"""The example, compiled against the stand-in headers: interface and kernels. No SDK and no HTP takes part."""

import json
import os
import stat
import subprocess
from pathlib import Path

import torch
from absl.testing import absltest

from diagnostics.errors import InputError
from examples.qnn_op_package import operators  # noqa: F401  (registers the operators)
from qnn.registration import bundle
from qnn.testing.op_package import Package, Quantized

_HERE = Path(__file__).parent
_NAME = "ExampleOpPackage"
_PRECISION, _DIMENSIONS = 2, 3  # Of GraphStatus.


class InterfaceTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.package = Package(_HERE / f"stand_in.x86_64/libQnn{_NAME}.so", _NAME)

    def test_provider(self) -> None:
        for library, name in ((f"stand_in.x86_64/libQnn{_NAME}.so", "OtherPackage"), ("nothing.so", _NAME)):
            with self.assertRaises(ValueError):
                Package(_HERE / library, name)

    def test_info_between_init_and_terminate(self) -> None:
        self.assertIsNone(self.package.info())
        self.assertFalse(self.package.terminate())
        self.assertTrue(self.package.init())
        self.assertFalse(self.package.init())
        self.assertEqual(self.package.info(), [_NAME, "stand-in", "ExampleCustomOp", "ScaledHalves"])
        self.assertTrue(self.package.terminate())
        self.assertIsNone(self.package.info())

    def test_log(self) -> None:
        self.assertTrue(self.package.log(1))
        self.assertFalse(self.package.log(0))

    def test_right_nodes(self) -> None:
        self.assertTrue(self.package.validate(_NAME, "ExampleCustomOp", 1, 1))
        self.assertTrue(self.package.validate(_NAME, "ScaledHalves", 1, 2, ["factor"]))
        self.assertTrue(self.package.validate(_NAME, "ScaledHalves", 1, 2))

    def test_wrong_nodes(self) -> None:
        for node in (
            ("OtherPackage", "ExampleCustomOp", 1, 1),
            (_NAME, "OtherOp", 1, 1),
            (_NAME, "ExampleCustomOp", 2, 1),
            (_NAME, "ExampleCustomOp", 0, 1),
            (_NAME, "ExampleCustomOp", 1, 2),
            (_NAME, "ExampleCustomOp", 1, 1, ["factor"]),
            (_NAME, "ScaledHalves", 1, 1, ["factor"]),
            (_NAME, "ScaledHalves", 1, 2, ["factor", "factor"]),
            (_NAME, "ScaledHalves", 1, 2, ["scale"]),
        ):
            with self.subTest(node):
                self.assertFalse(self.package.validate(*node))


class KernelTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        torch.manual_seed(0)
        self.package = Package(_HERE / f"stand_in.x86_64/libQnn{_NAME}.so", _NAME)

    def test_mul3(self) -> None:
        for shape in ((1, 2, 3, 4), (1, 1, 1, 1), (2, 8, 8, 32)):
            x, out = torch.randn(shape), torch.empty(shape)
            self.assertEqual(self.package.run("ExampleCustomOp", [out], [x], {}), 0)
            torch.testing.assert_close(out, torch.ops.my_ops.mul3(x), rtol=0, atol=0)

    def test_quantized_mul3(self) -> None:
        x = torch.randn(1, 4, 8, 16)
        out_scale, out_zero = 0.09, 100
        quantized = torch.quantize_per_tensor(x, 0.03, 120, torch.quint8)
        out = torch.empty(x.shape, dtype=torch.uint8)
        status = self.package.run(
            "ExampleCustomOp",
            [Quantized(out, out_scale, out_zero)],
            [Quantized(quantized.int_repr(), 0.03, 120)],
            {},
        )
        self.assertEqual(status, 0)
        expected = torch.quantize_per_tensor(
            torch.ops.my_ops.mul3(quantized.dequantize()), out_scale, out_zero, torch.quint8
        )
        torch.testing.assert_close(out.int(), expected.int_repr().int(), rtol=0, atol=1)

    def test_scaled_halves(self) -> None:
        for factor in (1.5, -2.0, 0.0):
            x = torch.randn(1, 3, 4, 10)
            outputs = torch.empty(1, 3, 4, 5), torch.empty(1, 3, 4, 5)
            self.assertEqual(self.package.run("ScaledHalves", outputs, [x], {"factor": factor}), 0)
            torch.testing.assert_close(outputs, torch.ops.my_ops.scaled_halves(x, factor), rtol=0, atol=0)

    def test_default_of_a_parameter(self) -> None:
        x = torch.randn(1, 1, 2, 4)
        outputs = torch.empty(1, 1, 2, 2), torch.empty(1, 1, 2, 2)
        self.assertEqual(self.package.run("ScaledHalves", outputs, [x], {}), 0)
        torch.testing.assert_close(outputs, torch.ops.my_ops.scaled_halves(x, 1.0))

    def test_refusals(self) -> None:
        four = torch.zeros(1, 1, 1, 4)
        for op_type, outputs, inputs, status in (
            ("ExampleCustomOp", [torch.zeros(1, 1, 1, 5)], [four], _DIMENSIONS),
            ("ExampleCustomOp", [four], [four.int()], _PRECISION),
            ("ExampleCustomOp", [four.int()], [four.int()], _PRECISION),
            ("ScaledHalves", [torch.zeros(1, 1, 1, 2), four], [four], _DIMENSIONS),
            ("ScaledHalves", [torch.zeros(1, 1, 1, 2)] * 2, [four.int()], _PRECISION),
        ):
            with self.subTest(op_type, status=status):
                self.assertEqual(self.package.run(op_type, outputs, inputs, {}), status)


class CpuTest(absltest.TestCase):
    def test_package_for_the_cpu_backend(self) -> None:
        library = _HERE / "stand_in_cpu.x86_64/libQnnCpuPackage.so"
        command = [str(_HERE.parent / "testing/run_cpu_package"), str(library), "CpuPackage"]
        computed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        self.assertEqual(computed, "3 -6 1.5\n")


class BundleTest(absltest.TestCase):
    def test_files(self) -> None:
        folder = _HERE / "stand_in.device"
        libraries = [f"libQnn{_NAME}.so", f"libQnn{_NAME}_HTP.so"]
        self.assertCountEqual(os.listdir(folder), [*libraries, "push.sh", "sdk.json"])
        sdks = json.loads((folder / "sdk.json").read_text())
        self.assertEqual(
            [(sdk["library"], sdk["sdk_build_id"]) for sdk in sdks], [(each, "stand-in") for each in libraries]
        )

    def test_libraries_for_different_sdks(self) -> None:
        folders = [Path(self.create_tempdir().full_path) for _ in range(2)]
        for number, folder in enumerate(folders):
            (folder / "sdk.json").write_text(json.dumps({"library": "a.so", "sdk_build_id": f"v{number}"}))
        with self.assertRaises(InputError) as caught:
            bundle.write({}, folders, folders[0], "//a:b")
        self.assertEqual(caught.exception.findings[0].id, "several-sdks")
        self.assertIn("//a:b: error: the libraries are for different SDKs: v0, v1\n", str(caught.exception))

    def test_commands(self) -> None:
        """push.sh, with an adb that notes its arguments: what is pushed where, and how the program runs."""
        folder = Path(self.create_tempdir().full_path)
        adb, notes = folder / "adb", folder / "notes"
        adb.write_text(f'#!/bin/sh\necho "$@" >> {notes}\n')
        adb.chmod(adb.stat().st_mode | stat.S_IXUSR)
        environment = {"PATH": f"{folder}:{os.environ['PATH']}", "QNN_SDK_ROOT": "/sdk"}
        push = [str(_HERE / "stand_in.device/push.sh"), "a/program.pte", "b/qnn_executor_runner", "inputs.txt", "x.raw"]
        subprocess.run(push, env=environment, check=True)
        done = notes.read_text()
        target = "/data/local/tmp/executorch/example_op_package"
        for part in (
            f"shell mkdir -p {target}\n",
            f"libQnn{_NAME}.so {target}/\n",
            f"libQnn{_NAME}_HTP.so {target}/\n",
            f"push /sdk/lib/aarch64-android/libQnnHtpV75Stub.so {target}/\n",
            f"push /sdk/lib/hexagon-v75/unsigned/libQnnHtpV75Skel.so {target}/\n",
            f"push a/program.pte b/qnn_executor_runner inputs.txt x.raw {target}/\n",
            f"ADSP_LIBRARY_PATH='{target}' ./qnn_executor_runner --model_path program.pte --input_list_path inputs.txt",
            f"pull {target}/outputs .\n",
        ):
            self.assertIn(part, done)
        for arguments in ([], push[1:3]):
            failed = subprocess.run([push[0], *arguments], env=environment, capture_output=True, text=True)
            self.assertEqual(failed.returncode, 2)
            self.assertIn("push.sh program.pte qnn_executor_runner input_list.txt", failed.stderr)


if __name__ == "__main__":
    absltest.main()
