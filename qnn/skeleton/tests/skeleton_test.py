"""Generated sources: what they say, that they compile against the stand-in headers, and that no file is lost."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import clang_format
from absl import flags
from absl.testing import absltest

from qnn import package_files
from qnn.opdef.model import OpDef, Package
from qnn.skeleton import files, sources

_COMPILER = flags.DEFINE_string("compiler", "g++", "The C++ compiler.")
_TESTING = Path(package_files.__file__).parent / "testing"
_HEADERS = _TESTING / "stand_in"
_RUN_CPU_PACKAGE = _TESTING / "run_cpu_package"


def _tensor(kind: str, name: str, more: str = "", rank: str = "4D", mandatory: str = "true") -> str:
    return f"""<{kind}><Name>{name}</Name><Mandatory>{mandatory}</Mandatory>
      <Datatype>QNN_DATATYPE_{"UINT_32" if rank == "SCALAR" else "FLOAT_32"}</Datatype>
      <Shape><Rank>{rank}</Rank></Shape>{more}</{kind}>"""


def _op(name: str, tensors: str, description: str = "") -> str:
    return f"""<OpDef><Name>{name}</Name><Description><Content>{description}</Content></Description>{tensors}
      <SupportedBackend>HTP</SupportedBackend><SupportedBackend>CPU</SupportedBackend></OpDef>"""


_SIMPLE = _op("ExampleCustomOp", _tensor("Input", "input") + _tensor("Output", "output"), "Multiplies by three.")
_JOINED = _op("Joined", _tensor("Input", "parts", "<Repeated>true</Repeated>") + _tensor("Output", "whole"))
_OPS = (
    _SIMPLE
    + _op(
        "Everything",
        _tensor("Input", "in[0]")
        + _tensor("Input", "in_0", mandatory="false")
        + _tensor("Output", "class")
        + _tensor("Output", "second")
        + _tensor("Parameter", "mode", "<Default>3</Default>", "SCALAR", "false")
        + _tensor("Parameter", "count", rank="SCALAR")
        + _tensor("Parameter", "scales", "<Default>[1, 2]</Default>", "1D", "false"),
        "A description that is long enough to need more than one line in the comment at the beginning of its source, "
        "and that ends in a backslash: \\\\",
    )
    + _JOINED
    + _op(
        "Both",
        _tensor("Input", "weights")
        + _tensor("Input", "parts", "<Repeated>true</Repeated>")
        + _tensor("Output", "pieces", "<Repeated>true</Repeated>")
        + _tensor("Parameter", "parts_count", rank="SCALAR"),
    )
    + _op("X" * 150, _tensor("Input", "long_input_name" * 4) + _tensor("Output", "long_output_name" * 4))
)


class SkeletonTest(absltest.TestCase):
    def package(self, ops: str, backend: str, supplement: str = "") -> tuple[Package, tuple[OpDef, ...]]:
        path = self.create_tempfile(
            content=f'<OpDefCollection PackageName="MyPackage" Domain="aisw" Version="1.0"><OpDefList>{ops}</OpDefList>'
            f"{supplement}</OpDefCollection>"
        ).full_path
        return package_files.read([path], backend, "//a:b")

    def generate(self, ops: str, backend: str = "HTP", supplement: str = "") -> dict[str, str]:
        package, op_defs = self.package(ops, backend, supplement)
        generated = {op_def.name: sources.op(backend, package, op_def) for op_def in op_defs}
        return generated | {"Interface": sources.interface(backend, package, op_defs, ["a.xml"])}

    def compile(self, generated: dict[str, str]) -> Path:
        """Compiles and links the sources, without a warning and without an undefined name; returns what comes out."""
        folder = Path(self.create_tempdir().full_path)
        for name, text in generated.items():
            (folder / f"{name[:20]}.cpp").write_text(text)
        command = [
            _COMPILER.value,
            "-std=c++17",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-fPIC",
            "-shared",
            "-Wl,--no-undefined",
        ]
        command += [f"-I{_HEADERS}", "-DTHIS_PKG_NAME=MyPackage", '-DQNN_API=__attribute__((visibility("default")))']
        result = subprocess.run(
            [*command, *map(str, sorted(folder.iterdir())), "-lstdc++", "-o", str(folder / "library.so")],
            capture_output=True,
            text=True,
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        return folder / "library.so"

    def test_compiles(self) -> None:
        for backend in sources.BACKENDS:
            self.compile(self.generate(_SIMPLE, backend))
            self.compile(self.generate(_OPS, backend))

    def test_cpu_package_computes(self) -> None:
        generated = self.generate(_SIMPLE, "CPU")
        completed = """const float* in = static_cast<const float*>(input.data);
      for (uint32_t i = 0; i < input.currentDimensions[0]; ++i) static_cast<float*>(output.data)[i] = 3 * in[i];
      return QNN_SUCCESS;"""
        unfinished = "// To write: output; then QNN_SUCCESS.\n      return QNN_OP_PACKAGE_ERROR_GENERAL;"
        self.assertIn(unfinished, generated["ExampleCustomOp"])
        generated["ExampleCustomOp"] = generated["ExampleCustomOp"].replace(unfinished, completed)
        command = [str(_RUN_CPU_PACKAGE), str(self.compile(generated)), "MyPackage"]
        self.assertEqual(subprocess.run(command, check=True, capture_output=True, text=True).stdout, "3 -6 1.5\n")

    def test_repeated_input_of_cpu_package(self) -> None:
        generated = self.generate(_JOINED.replace("Joined", "ExampleCustomOp"), "CPU")
        source = generated["ExampleCustomOp"]
        for before, after in (
            ("  (void)whole;\n  (void)parts_count;\n", ""),
            (
                "// To write: whole; then QNN_SUCCESS.\n      return QNN_OP_PACKAGE_ERROR_GENERAL;",
                """for (uint32_t i = 0; i < parts[0]->currentDimensions[0]; ++i) {
        float sum = 0;
        for (uint32_t part = 0; part < parts_count; ++part) sum += static_cast<const float*>(parts[part]->data)[i];
        static_cast<float*>(whole.data)[i] = 3 * sum;
      }
      return QNN_SUCCESS;""",
            ),
        ):
            self.assertIn(before, source)
            source = source.replace(before, after)
        generated["ExampleCustomOp"] = source
        command = [str(_RUN_CPU_PACKAGE), str(self.compile(generated)), "MyPackage"]
        for count, expected in (("1", "3 -6 1.5\n"), ("2", "6 -12 3\n")):
            run = subprocess.run([*command, count], check=True, capture_output=True, text=True)
            self.assertEqual(run.stdout, expected)

    def test_repeated(self) -> None:
        generated = self.generate(_OPS)
        for part in (
            "GraphStatus JoinedImpl(TensorType& whole, const TensorType* const* parts, size_t parts_count);\n",
            "GraphStatus JoinedOf2(TensorType& whole, const TensorType& parts_0, const TensorType& parts_1) {\n"
            "  const TensorType* const parts[] = {&parts_0, &parts_1};\n"
            "  return JoinedImpl<TensorType>(whole, parts, 2);\n",
            'DEF_PACKAGE_OP((JoinedOf4<Tensor>), "Joined")\n',
            "  switch (parts[0]->get_dtype_intfc().dtype) {\n",
        ):
            self.assertIn(part, generated["Joined"])
        for part in (
            "BothOf1(TensorType& pieces_0, const TensorType& weights, const TensorType& parts_0,",
            "  TensorType* const pieces[] = {&pieces_0};\n",
            # The op has a parameter of the name.
            "return BothImpl<TensorType>(pieces, 1, weights, parts, 1, parts_count);\n",
            "size_t parts_count_,",
        ):
            self.assertIn(part, generated["Both"])

    def test_op_without_source_does_not_link(self) -> None:
        generated = self.generate(_OPS)
        del generated["Joined"]
        with self.assertRaisesRegex(AssertionError, "undefined reference to `PKG_Joined"):
            self.compile(generated)

    def test_layout_is_that_of_clang_format(self) -> None:
        style = "{BasedOnStyle: Google, ColumnLimit: 120, SortIncludes: false}"
        ops = _SIMPLE + _JOINED
        generated = [*self.generate(ops).items(), *self.generate(ops, "CPU").items()]
        for name, text in generated:
            formatted = subprocess.run(
                [clang_format.get_executable("clang-format"), f"--style={style}", "--assume-filename=a.cpp"],
                input=text,
                capture_output=True,
                check=True,
                text=True,
            ).stdout
            with self.subTest(name):
                self.assertEqual(text, formatted)

    def test_interface(self) -> None:
        interface = self.generate(_OPS)["Interface"]
        for part in (
            "DECLARE_PKG_OPS_OPTS_LIST(PKG_ExampleCustomOp)\nDECLARE_PKG_OPS_OPTS_LIST(PKG_Everything)\n",
            '{"ExampleCustomOp", {1, 1}, {1, 1}, {0, 0}, nullptr},',
            '{"Everything", {1, 2}, {2, 2}, {1, 3}, kEverythingParams},',
            '{"Joined", {1, kAnyNumber}, {1, 1}, {0, 0}, nullptr},',
            'kEverythingParams[] = {"mode", "count", "scales"};',
            "MyPackageInterfaceProvider(QnnOpPackage_Interface_t* interface)",
        ):
            self.assertIn(part, interface)

    def test_op(self) -> None:
        op = self.generate(_OPS)["Everything"]
        for part in (
            # Outputs, inputs, parameters; names that C++ has, and no two of one name.
            "EverythingImpl(TensorType& class_, TensorType& second, const TensorType& in_0, const TensorType& in_0_,\n",
            'DEF_PACKAGE_PARAM_ORDER("Everything", "mode", false, &mode_default, "count", true, nullptr,',
            "  param.scalarParam.uint32Value = 3;\n",
            "    case DType::Float32: {\n",
        ):
            self.assertIn(part, op)

    def test_datatypes_of_the_backend_and_any_shape(self) -> None:
        any_ = _op("Any", _tensor("Input", "in[0]", rank="ND") + _tensor("Output", "out[0]", rank="ND"))
        any_ = any_.replace("QNN_DATATYPE_FLOAT_32", "BACKEND_SPECIFIC")
        datatypes = {"HTP": ("UFIXED_POINT_16", "FLOAT_16"), "CPU": ("UINT_8", "INT_32")}
        supplement = "".join(
            f'<SupplementalOpDefList Backend="{backend}"><SupplementalOpDef><Name>Any</Name>'
            + "".join(
                f"<{kind}><Name>{name}</Name>"
                + "".join(f"<Datatype>QNN_DATATYPE_{datatype}</Datatype>" for datatype in of_backend)
                + f"</{kind}>"
                for kind, name in (("Input", "in[0]"), ("Output", "out[0]"))
            )
            + "</SupplementalOpDef></SupplementalOpDefList>"
            for backend, of_backend in datatypes.items()
        )
        for backend, cases in (
            ("HTP", ["DType::QUInt16", "DType::Float16"]),
            ("CPU", ["QNN_CPU_DATATYPE_UINT_8", "QNN_CPU_DATATYPE_INT_32"]),
        ):
            generated = self.generate(any_, backend, supplement)
            self.assertEqual(re.findall(r"case (\S+):", generated["Any"]), cases)
            self.compile(generated)

    def test_files_are_kept(self) -> None:
        root = Path(self.create_tempdir().full_path)
        self.assertEqual(files.write(root, {"a/b.cpp": "one\n"}, overwrite=False), "a/b.cpp: written\n")
        self.assertEqual(files.write(root, {"a/b.cpp": "one\n"}, overwrite=False), "a/b.cpp: as generated\n")
        (root / "a/b.cpp").write_text("mine\n")
        diff = "--- a/b.cpp\n+++ a/b.cpp (generated)\n@@ -1 +1 @@\n-mine\n+one\n"
        self.assertEqual(
            files.write(root, {"a/b.cpp": "one\n", "c.cpp": "two\n"}, overwrite=False),
            f"a/b.cpp: kept; what is generated differs\n{diff}c.cpp: written\n"
            "To replace the files that were kept: -- --overwrite\n",
        )
        self.assertEqual((root / "a/b.cpp").read_text(), "mine\n")
        self.assertEqual(files.write(root, {"a/b.cpp": "one\n"}, overwrite=True), f"a/b.cpp: replaced\n{diff}")
        self.assertEqual((root / "a/b.cpp").read_text(), "one\n")


if __name__ == "__main__":
    absltest.main()
