from __future__ import annotations

from absl.testing import absltest

from diagnostics.golden import case
from qnn import package_files

_TENSOR = "<Mandatory>true</Mandatory><Datatype>QNN_DATATYPE_FLOAT_32</Datatype><Shape><Rank>4D</Rank></Shape>"
_XML = f"""<OpDefCollection PackageName="MyPackage" Domain="aisw" Version="1.0"><OpDefList><OpDef>
<Name>ExampleCustomOp</Name><Input><Name>x</Name>{_TENSOR}</Input><Output><Name>y</Name>{_TENSOR}</Output>
<SupportedBackend>HTP</SupportedBackend></OpDef></OpDefList></OpDefCollection>"""


class PackageFilesTest(case.TestCase):
    def test_backend(self) -> None:
        path = self.create_tempfile(content=_XML).full_path
        self.assertEqual([op_def.name for op_def in package_files.read([path], "HTP", "//a:b")[1]], ["ExampleCustomOp"])
        self.assert_refused(lambda: package_files.read([path], "CPU", "//a:b"), "no-op-for-backend //a:b")

    def test_op(self) -> None:
        package, op_defs = package_files.read([self.create_tempfile(content=_XML).full_path], "HTP", "//a:b")
        self.assertIs(package_files.op(package, "ExampleCustomOp", "//a:b", "op_srcs"), op_defs[0])
        self.assert_refused(
            lambda: package_files.op(package, "ExampelCustomOp", "//a:b", "op_srcs"), "unknown-op //a:b"
        )

    def test_sources(self) -> None:
        _, op_defs = package_files.read([self.create_tempfile(content=_XML).full_path], "HTP", "//a:b")
        package_files.check_sources(op_defs, [], "//a:b")
        package_files.check_sources(op_defs, ["ExampleCustomOp"], "//a:b")
        self.assert_refused(lambda: package_files.check_sources(op_defs, ["Other"], "//a:b"), "op-without-source //a:b")


if __name__ == "__main__":
    absltest.main()
