"""The example, compiled against the stand-in headers: interface and kernels. No SDK and no HTP takes part."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import torch
from absl.testing import absltest
from executorch.backends.qualcomm.serialization.qc_schema import QnnExecuTorchBackendType

from diagnostics.errors import InputError
from examples.qnn_op_package import operators  # noqa: F401  (registers the operators)
from qnn.registration import bundle
from qnn.testing.op_package import Package, Quantized

# ExecuTorch's list of what a device needs; the debugger beside it imports packages that the list does not need.
sys.modules["executorch.backends.qualcomm.debugger.qnn_intermediate_debugger"] = mock.MagicMock()
from executorch.backends.qualcomm import export_utils  # noqa: E402

_HERE = Path(__file__).parent
_NAME = "ExampleOpPackage"
_LIBRARIES = [_HERE / "stand_in.aarch64_android", _HERE / "stand_in.hexagon"]
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
        folder = _HERE / "stand_in.device_v79"
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
            bundle.write({}, folders, "v79", folders[0], "//a:b")
        (finding,) = caught.exception.findings
        self.assertEqual((finding.id, finding.where), ("several-sdks", "//a:b"))
        self.assertIn("v0, v1", finding.found)

    def test_pushes_what_executorch_pushes(self) -> None:
        """push.sh, with an adb that notes its arguments: the files are those of ExecuTorch's own list."""
        registration = {"package": _NAME, "device_dir": "/data/local/tmp/mine"}
        for arch, soc_model in (("v73", "SM8550"), ("v75", "SM8650"), ("v79", "SM8750"), ("v81", "SM8850")):
            with self.subTest(arch):
                bundled = Path(self.create_tempdir().full_path)
                bundle.write(registration, _LIBRARIES, arch, bundled, "//a:b")
                device = _Device(self, soc_model)
                ours = [str(bundled / f"libQnn{_NAME}{suffix}.so") for suffix in ("", "_HTP")]
                device.run(bundled / "push.sh")
                self.assertEqual(device.adb_pushes(), sorted([*device.files, *device.given, *ours]))
                self.assertIn(
                    "LD_LIBRARY_PATH='/data/local/tmp/mine' ADSP_LIBRARY_PATH='/data/local/tmp/mine' "
                    "./qnn_executor_runner "
                    "--model_path program.pte --input_list_path inputs.txt --output_folder_path outputs\n",
                    device.notes.read_text(),
                )
                self.assertIn("\npull /data/local/tmp/mine/outputs .\n", device.notes.read_text())

    def test_rule_gives_the_arch(self) -> None:
        device = _Device(self, "SM8750")
        device.run(_HERE / "stand_in.device_v79/push.sh")
        self.assertContainsSubset(device.files, device.adb_pushes())

    def test_another_device(self) -> None:
        device = _Device(self, "SM8650")
        device.run(_HERE / "stand_in.device_v79/push.sh", HEXAGON_ARCH="v75")
        self.assertContainsSubset(device.files, device.adb_pushes())

    def test_nothing_is_pushed_where_a_file_is_missing(self) -> None:
        for missing in ("libqnn_executorch_backend.so", "qnn_executor_runner", "libQnnHtpV79Skel.so", "program.pte"):
            device = _Device(self, "SM8750")
            (path,) = (file for file in (*device.files, *device.given) if file.endswith(missing))
            Path(path).unlink()
            failed = device.run(_HERE / "stand_in.device_v79/push.sh", check=False)
            self.assertEqual(failed.returncode, 1)
            self.assertIn(f"there is no file {path}\n", failed.stderr)
            self.assertFalse(device.notes.exists())

    def test_usage(self) -> None:
        device = _Device(self, "SM8750")
        device.given = device.given[:1]
        failed = device.run(_HERE / "stand_in.device_v79/push.sh", check=False)
        self.assertEqual(failed.returncode, 2)
        self.assertIn("push.sh program.pte build-android input_list.txt", failed.stderr)


class _Device:
    """A folder with an adb that notes its arguments, and with the files that ExecuTorch pushes for a chip."""

    def __init__(self, test: absltest.TestCase, soc_model: str) -> None:
        self.folder = Path(test.create_tempdir().full_path)
        self.notes = self.folder / "notes"
        adb = self.folder / "adb"
        adb.write_text(f'#!/bin/sh\necho "$@" >> {self.notes}\n')
        adb.chmod(0o755)
        with mock.patch.dict(os.environ, QNN_SDK_ROOT=f"{self.folder}/sdk"):
            adb_of_executorch = export_utils.SimpleADB(
                SimpleNamespace(
                    build_folder=f"{self.folder}/build-android",
                    device=None,
                    direct_build_folder=None,
                    dump_intermediate_outputs=False,
                    host=None,
                    pre_gen_pte=None,
                    shared_buffer=False,
                    skip_push=False,
                    soc_model=soc_model,
                    target="aarch64-android",
                ),
                "program.pte",
                "/data/local/tmp/mine",
            )
        self.files = [
            f"{self.folder}/build-android/{adb_of_executorch.runner}",
            *adb_of_executorch.backend_library_paths[QnnExecuTorchBackendType.kHtpBackend],
        ]
        self.given = [f"{self.folder}/{name}" for name in ("program.pte", "inputs.txt", "x.raw")]
        for file in (*self.files, *self.given):
            Path(file).parent.mkdir(exist_ok=True, parents=True)
            Path(file).touch()

    def run(self, script: Path, check: bool = True, **environment: str) -> subprocess.CompletedProcess[str]:
        program, *inputs = self.given
        return subprocess.run(
            [str(script), program, f"{self.folder}/build-android", *inputs],
            env={"PATH": f"{self.folder}:{os.environ['PATH']}", "QNN_SDK_ROOT": f"{self.folder}/sdk"} | environment,
            check=check,
            capture_output=True,
            text=True,
        )

    def adb_pushes(self) -> list[str]:
        """The files of adb's pushes."""
        pushes = [line.split()[1:-1] for line in self.notes.read_text().splitlines() if line.startswith("push ")]
        return sorted(file for push in pushes for file in push)


if __name__ == "__main__":
    absltest.main()
