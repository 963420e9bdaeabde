"""What ExecuTorch is told of a package, in ExecuTorch's own classes."""

from __future__ import annotations

import functools
import json
import runpy

from absl.testing import absltest
from executorch.backends.qualcomm.serialization import qc_schema

from diagnostics.errors import Location
from diagnostics.golden import case
from qnn.opdef.model import Package
from qnn.registration import registration

_PACKAGE = Package(name="MyPackage", domain="aisw", version="1.0", op_defs=(), at=Location("a.xml"))


class RegistrationTest(case.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.made = registration.make(
            _PACKAGE, "HTP", {"A": "my_ops::mul3", "B": "aten::add.Tensor"}, "/data/local/tmp/mine/", "//a:b"
        )

    def options(self, **dirs: str) -> qc_schema.QnnExecuTorchOpPackageOptions:
        module = self.create_tempfile(content=registration.module(self.made, "//a:b")).full_path
        return runpy.run_path(module)["op_package_options"](**dirs)

    def test_rows(self) -> None:
        infos = self.options().op_package_infos
        self.assertEqual(
            [(i.target.name, i.platform.name, i.op_package_path) for i in infos[::2]],
            [
                ("CPU", "X86_64", "libQnnMyPackage.so"),
                ("CPU", "AARCH64_ANDROID", "/data/local/tmp/mine/libQnnMyPackage.so"),
                ("HTP", "AARCH64_ANDROID", "/data/local/tmp/mine/libQnnMyPackage_HTP.so"),
            ],
        )
        self.assertEqual(
            [(i.custom_op_name, i.qnn_op_type_name) for i in infos[:2]],
            [("my_ops.mul3.default", "A"), ("aten.add.Tensor", "B")],
        )
        for info in infos:
            self.assertEqual(
                (info.op_package_name, info.interface_provider), ("MyPackage", "MyPackageInterfaceProvider")
            )

    def test_no_path_is_registered_for_two_targets(self) -> None:
        by_path: dict[tuple[str, str], set[str]] = {}
        for info in self.options().op_package_infos:
            by_path.setdefault((info.platform.name, info.op_package_path), set()).add(info.target.name)
        self.assertTrue(all(len(targets) == 1 for targets in by_path.values()))

    def test_folders_are_given_when_lowering(self) -> None:
        paths = {i.op_package_path for i in self.options(host_dir="/h", device_dir="/d/e").op_package_infos}
        self.assertEqual(paths, {"/h/libQnnMyPackage.so", "/d/e/libQnnMyPackage.so", "/d/e/libQnnMyPackage_HTP.so"})

    def test_json(self) -> None:
        found = json.loads(registration.to_json(self.made))
        self.assertEqual(found["ops"][0], {"type": "A", "operator": "my_ops.mul3.default"})
        self.assertEqual(found["interface_provider"], "MyPackageInterfaceProvider")
        self.assertEqual(found["device_dir"], "/data/local/tmp/mine")
        self.assertEqual([each["target"] for each in found["libraries"]], ["CPU", "CPU", "HTP"])

    def test_cpu_backend_has_no_library_for_the_dsp(self) -> None:
        made = registration.make(_PACKAGE, "CPU", {"A": "my_ops::mul3"}, "/d", "//a:b")
        self.assertEqual(
            [(each.target, each.platform) for each in made.libraries], [("CPU", "X86_64"), ("CPU", "AARCH64_ANDROID")]
        )

    def test_bad_operators(self) -> None:
        for text in ("mul3", "my_ops.mul3.default"):
            make = functools.partial(registration.make, _PACKAGE, "HTP", {"A": text}, "/d", "//a:b")
            self.assert_refused(make, "bad-operator-name //a:b")
        operators = {"A": "my_ops::mul3", "B": "my_ops::mul3"}
        self.assert_refused(lambda: registration.make(_PACKAGE, "HTP", operators, "/d", "//a:b"), "op-of-two-ops //a:b")


if __name__ == "__main__":
    absltest.main()
