from __future__ import annotations

from absl.testing import absltest

from diagnostics.errors import InputError
from qnn import package_files

_TENSOR = "<Mandatory>true</Mandatory><Datatype>QNN_DATATYPE_FLOAT_32</Datatype><Shape><Rank>4D</Rank></Shape>"
_XML = f"""<OpDefCollection PackageName="MyPackage" Domain="aisw" Version="1.0"><OpDefList><OpDef>
<Name>ExampleCustomOp</Name><Input><Name>x</Name>{_TENSOR}</Input><Output><Name>y</Name>{_TENSOR}</Output>
<SupportedBackend>HTP</SupportedBackend></OpDef></OpDefList></OpDefCollection>"""


class PackageFilesTest(absltest.TestCase):
    def test_backend(self) -> None:
        path = self.create_tempfile(content=_XML).full_path
        self.assertEqual([op_def.name for op_def in package_files.read([path], "HTP", "//a:b")[1]], ["ExampleCustomOp"])
        with self.assertRaises(InputError) as caught:
            package_files.read([path], "CPU", "//a:b")
        self.assertEqual(caught.exception.findings[0].id, "no-op-for-backend")
        self.assertIn("//a:b: error: MyPackage has no op for CPU, only for HTP\n", str(caught.exception))

    def test_op(self) -> None:
        package, op_defs = package_files.read([self.create_tempfile(content=_XML).full_path], "HTP", "//a:b")
        self.assertIs(package_files.op(package, "ExampleCustomOp", "//a:b", "op_srcs"), op_defs[0])
        with self.assertRaises(InputError) as caught:
            package_files.op(package, "ExampelCustomOp", "//a:b", "op_srcs")
        self.assertEqual(caught.exception.findings[0].id, "unknown-op")
        self.assertIn("which MyPackage does not have; did you mean ExampleCustomOp?", str(caught.exception))

    def test_sources(self) -> None:
        _, op_defs = package_files.read([self.create_tempfile(content=_XML).full_path], "HTP", "//a:b")
        package_files.check_sources(op_defs, [], "//a:b")
        package_files.check_sources(op_defs, ["ExampleCustomOp"], "//a:b")
        with self.assertRaises(InputError) as caught:
            package_files.check_sources(op_defs, ["Other"], "//a:b")
        self.assertEqual(caught.exception.findings[0].id, "op-without-source")
        self.assertIn("//a:b: error: attribute op_srcs has no source for ExampleCustomOp\n", str(caught.exception))


if __name__ == "__main__":
    absltest.main()
