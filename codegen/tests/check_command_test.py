from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Sequence
from unittest import mock

from absl.testing import absltest

from codegen.binaries import object_files
from codegen.model import scalar_types
from codegen.tests import case, programs
from diagnostics.errors import InputError

_TENSOR = programs.Tensor(6, (0,))
_HALF, _LONG = scalar_types.SCALAR_TYPES["Half"], scalar_types.SCALAR_TYPES["Long"]


def _call(operator: str) -> programs.Call:
    """A call of an operator that takes a tensor and returns one."""
    return programs.Call(operator, (_TENSOR, _TENSOR))


class CheckCommandTest(case.TestCase):
    def _manifest(
        self,
        label: str,
        *operators: str,
        types: str = "(Tensor x) -> Tensor",
        keys: Sequence[str] = ("default",),
        pytorchs: Sequence[str] = (),
    ) -> str:
        entries = [
            {
                "schema": operator + types,
                "location": ["a.yaml", 1, 1],
                "kernels": [
                    {"function": function, "keys": of_function, "location": ["a.yaml", 1, 1]}
                    for function, of_function in {"a::native::f": keys, "aten": pytorchs}.items()
                    if of_function
                ],
            }
            for operator in operators
        ]
        content = {"label": label, "yaml_names": ["a.yaml"], "operators": entries}
        return "--manifest=" + self.write(f"{label.rpartition(':')[2]}.json", json.dumps(content))

    def _check(self, program: bytes, *manifests: str) -> str:
        output = self.directory / "report.txt"
        path = self.write("model.pte", program)
        self.run_command(
            "check",
            "--max_kernels=2000",
            "--label=//m:runner",
            f"--program={path}",
            "--program_name=//m:m",
            f"--output={output}",
            *manifests,
        )
        return output.read_text()

    def test_every_operator_is_registered(self) -> None:
        program = programs.build(
            {"f": [[_call("my_ops::mul3.out"), _call("aten::add.out")]], "g": [["aten::sym_size.int"]]}
        )
        manifests = (
            self._manifest("//ops:aten", "aten::add.out", "aten::mul.out"),
            self._manifest("//ops:mine", "my_ops::mul3.out"),
        )
        self.assertEqual(
            self._check(program, *manifests),
            """\
The 3 operators of //m:m, and what registers them:
aten::add.out: //ops:aten
aten::sym_size.int: the runtime
my_ops::mul3.out: //ops:mine
""",
        )

    def _dtypes(self, label: str, **operators: list[str] | None) -> str:
        content = {
            "label": label,
            "kernel_sources": [f"kernels/op_{name}.cpp" for name in operators],
            "operators": {f"aten::{name}.out": dtypes for name, dtypes in operators.items()},
        }
        return "--dtypes=" + self.write(f"{label.rpartition(':')[2]}.dtypes.json", json.dumps(content))

    def test_dtypes_that_are_left_out(self) -> None:
        tensors = programs.Tensor(_HALF, (0, 1)), programs.Tensor(_LONG, (0,))
        names = ("aten::add.out", "aten::mul.out", "aten::neg.out", "aten::sub.out")
        program = programs.build({"f": [[programs.Call(name, tensors) for name in names]]})
        libraries = (
            self._manifest("//ops:all", *names),
            self._dtypes("//ops:some", add=["Half", "Float"], mul=["Long", "Half"], sub=None),
            self._dtypes("//ops:one", neg=[]),
        )
        findings = self.findings(lambda: self._check(program, *libraries))
        self.assertEqual(
            [finding.partition("\n")[0] for finding in findings],
            [
                "//m:m: error: aten::add.out is called with Long, and //ops:some has its kernel for Half, Float only",
                "//m:m: error: aten::neg.out is called with Long, Half, and //ops:one has its kernel for no dtype only",
            ],
        )
        self.assertIn("See: docs/errors.md#dtype-not-selected", findings[0])

    def test_no_kernel_for_a_call(self) -> None:
        """A call with one tensor without dimensions has the key that elsewhere stands for a dtype."""
        scalar, vector = programs.Tensor(_HALF, ()), programs.Tensor(_HALF, (0,))
        program = programs.build({"f": [[programs.Call("my_ops::count", (tensor, 1)) for tensor in (scalar, vector)]]})
        types = "(Tensor x) -> int"
        self._check(program, self._manifest("//ops:a", "my_ops::count", types=types, keys=["v1/5;", "v1/5;0"]))
        self._check(program, self._manifest("//ops:a", "my_ops::count", types=types, keys=["default", "v1/5;0"]))
        manifest = self._manifest("//ops:a", "my_ops::count", types=types, keys=["v1/5;0", "v1/6;"])
        finding = self.finding(lambda: self._check(program, manifest))
        self.assert_starts_with(finding, "//m:m: error: my_ops::count has no kernel for dtypes and dim orders that ")
        self.assertIn("\n    needed for:\n      Half[]\n    declared for:\n", finding)
        self.assert_id(finding, "missing-kernel-key")

    def test_kernels_that_two_libraries_build_for_their_dtypes(self) -> None:
        libraries = [
            self._dtypes("//ops:a", add=["Half"], mul=["Half"]),
            self._dtypes("//ops:b", add=["Float"], mul=None),
            self._dtypes("//ops:c", sub=["Half"]),
        ]
        self._check_libraries(*libraries[1:])
        finding = self.finding(lambda: self._check_libraries(*libraries))
        self.assert_starts_with(
            finding,
            "//m:runner: error: //ops:a and //ops:b build the same kernels for different dtypes, and a binary can link "
            "each kernel once only\n    kernels/op_add.cpp\n    kernels/op_mul.cpp\n",
        )
        self.assert_id(finding, "built-twice")

    def test_missing_operators(self) -> None:
        program = programs.build({"f": [[_call("my_ops::mul3.out"), _call("aten::add.out"), "aten::sub.out"]]})
        findings = self.findings(lambda: self._check(program, self._manifest("//ops:aten", "aten::add.Scalar_out")))
        self.assertEqual(
            [finding.partition("\n")[0] for finding in findings],
            [
                "//m:m: error: aten::add.out, which //m:m asks for, is not provided by //ops:aten; did you mean "
                "aten::add.Scalar_out?",
                "//m:m: error: aten::sub.out, which //m:m asks for, is not provided by //ops:aten",
                "//m:m: error: my_ops::mul3.out, which //m:m asks for, is not provided by //ops:aten",
            ],
        )
        self.assertIn("; or add @rules_executorch//runtime:kernels_optimized, ExecuTorch's own kernels", findings[1])
        self.assertNotIn("kernels_optimized", findings[2])

    def test_missing_operators_of_other_kernels_of_this_repository(self) -> None:
        program = programs.build(
            {"f": [["quantized_decomposed::quantize_per_tensor.out", "quantized_decomposed::add.out"]]}
        )
        for finding in self.findings(lambda: self._check(program, self._manifest("//ops:aten", "aten::mul.out"))):
            self.assertIn("add @rules_executorch//kernels/quantized:operators to kernel_deps", finding)
        # A library that has kernels of the namespace has that one already.
        program = programs.build({"f": [["quantized_decomposed::quantize_per_tensor.out"]]})
        there = self._manifest("//ops:q", "quantized_decomposed::add.out")
        finding = self.finding(lambda: self._check(program, there))
        self.assertNotIn("kernels/quantized:operators", finding)

    def test_operators_that_run_with_pytorchs_kernels(self) -> None:
        program = programs.build({"f": [[_call(f"aten::{name}.out") for name in ("add", "mul", "sub")]]})
        report = self._check(
            program,
            self._manifest("//ops:own", "aten::add.out"),
            self._manifest("//ops:aten", "aten::mul.out", keys=(), pytorchs=["default"]),
            self._manifest("//ops:both", "aten::sub.out", keys=["v1/6;0,1"], pytorchs=["default"]),
        )
        self.assertIn("\naten::add.out: //ops:own\n", report)
        self.assertIn("\naten::mul.out: //ops:aten, with PyTorch's kernel\n", report)
        self.assertIn("\naten::sub.out: //ops:both, with PyTorch's kernel for the other calls\n", report)

    def test_what_a_program_calls_is_not_misspelled(self) -> None:
        program = programs.build({"f": [[_call("my_ops::mul3.out")]]})
        finding = self.finding(lambda: self._check(program, self._manifest("//ops:mul4", "my_ops::mul4.out")))
        self.assertIn("is not provided by //ops:mul4\n", finding)

    def _check_libraries(self, *arguments: str) -> str:
        output = self.directory / "report.txt"
        self.run_command("check", "--max_kernels=2000", "--label=//m:runner", f"--output={output}", *arguments)
        return output.read_text()

    def _listing(self, label: str, *operators: str) -> str:
        return f"--listing={label}\t" + self.write(f"{label.rpartition(':')[2]}.operators", "\n".join(operators))

    def test_no_program(self) -> None:
        report = self._check_libraries(self._manifest("//ops:a", "aten::add.out"), self._listing("//ops:b", "my::f"))
        self.assertIn("\naten::add.out: //ops:a\n", report)
        self.assertIn("\naten::sym_numel: the runtime\n", report)
        self.assertIn("\nmy::f: //ops:b\n", report)

    def test_methods(self) -> None:
        program = programs.build({"forward": [], "decode": []})
        self._check(program, "--method=decode", "--method=forward")
        finding = self.finding(lambda: self._check(program, "--method=forward", "--method=decod"))
        self.assert_starts_with(
            finding,
            "//m:runner: error: attribute methods has decod, which //m:m does not have; did you mean decode?\n",
        )
        self.assertIn("name methods out of decode, forward, or leave out the attribute to test all", finding)
        self.assert_id(finding, "unknown-method")
        finding = self.finding(lambda: self._check(program, "--method=zip"))
        self.assertIn("error: attribute methods has zip, which //m:m does not have\n", finding)

    def test_registered_twice(self) -> None:
        arguments = (
            self._manifest("//ops:a", "aten::add.out", "aten::mul.out", "aten::sub.out"),
            self._manifest("//ops:b", "aten::add.out", "aten::sub.out"),
            self._listing("//ops:c", "aten::mul.out", "aten::sym_numel"),
        )
        first, second = self.findings(lambda: self._check_libraries(*arguments))
        self.assert_starts_with(
            first,
            "//m:runner: error: 2 kernels are registered more than once, by //ops:a and //ops:b; the binary would "
            "abort when it starts\n"
            "    aten::add.out: by //ops:a (a.yaml:1:1) and by //ops:b (a.yaml:1:1)\n"
            "    aten::sub.out: by //ops:a (a.yaml:1:1) and by //ops:b (a.yaml:1:1)\n",
        )
        self.assert_starts_with(second, "//m:runner: error: 1 kernel is registered more than once, by //ops:a and ")
        self.assertIn("\n    aten::mul.out: by //ops:a (a.yaml:1:1) and by //ops:c\n", second)
        self.assert_id(second, "registered-twice")

    def test_prim_op_registered_by_a_library(self) -> None:
        finding = self.finding(lambda: self._check_libraries(self._manifest("//ops:a", "aten::sym_numel")))
        self.assertIn("\n    aten::sym_numel: by the runtime and by //ops:a (a.yaml:1:1)\n", finding)

    def test_all_findings_at_once(self) -> None:
        arguments = (self._manifest("//ops:a", "aten::add.out"), self._manifest("//ops:b", "aten::add.out"))
        findings = self.findings(lambda: self._check(programs.build({"f": [["aten::mul.out"]]}), *arguments))
        self.assertEqual(len(findings), 2)

    def _other_schema(self, arguments: str, *values: programs.Value) -> str:
        """The finding about a call with these values and a result; empty if they fit."""
        return self._misfit(f"({arguments}) -> Tensor", *values, _TENSOR)

    def _misfit(self, types: str, *values: programs.Value) -> str:
        """The finding about a call with all of these values; empty if they fit."""
        program = programs.build({"f": [[programs.Call("my_ops::f.out", values)]]})
        manifest = self._manifest("//ops:a", "my_ops::f.out", types=types)
        try:
            self._check(program, manifest)
        except InputError:
            return self.finding(lambda: self._check(program, manifest))
        return ""

    def test_other_schema(self) -> None:
        tensors = programs.TensorList((_TENSOR,))
        for arguments, values, expected in (
            ("Tensor x, Tensor y", (_TENSOR,), "with 1 arguments, but its kernel takes 2"),
            ("Tensor x", (_TENSOR, 1), "with 2 arguments, but its kernel takes 1"),
            ("Tensor x, int n", (1, _TENSOR), "with an Int as argument 1, but its kernel takes 'Tensor x' there"),
            ("int n, float x", (1, 1), "with an Int as argument 2, but its kernel takes 'float x' there"),
            ("Tensor[] x", (_TENSOR,), "with a Tensor as argument 1, but its kernel takes 'Tensor[] x' there"),
            ("Tensor?[] x", (tensors,), "with a TensorList as argument 1, but its kernel takes 'Tensor?[] x' there"),
            ("Tensor x", (None,), "with a Null as argument 1, but its kernel takes 'Tensor x' there"),
            ("int[2]? n", (1,), "with an Int as argument 1, but its kernel takes 'int[2]? n' there"),
        ):
            with self.subTest(arguments):
                finding = self._other_schema(arguments, *values)
                self.assert_starts_with(finding, f"//m:m: error: the program calls my_ops::f.out {expected}\n")
                self.assertIn(f"\n    the schema of //ops:a: my_ops::f.out({arguments}) -> Tensor\n", finding)
                self.assertIn("Fix: make the schema at a.yaml:1:1 the one that ", finding)
                self.assert_id(finding, "other-schema")

    def test_nothing_returned(self) -> None:
        """A program may or may not have a value for it."""
        types = "(Tensor(a!) x, int n) -> ()"
        self.assertEqual(self._misfit(types, _TENSOR, 1), "")
        self.assertEqual(self._misfit(types, _TENSOR, 1, None), "")
        self.assertIn("with 1 arguments, but its kernel takes 2\n", self._misfit(types, _TENSOR))
        self.assertIn("with 3 arguments, but its kernel takes 2\n", self._misfit(types, _TENSOR, 1, 1, None))

    def test_schemas_that_fit(self) -> None:
        optional = programs.OptionalTensorList((None, _TENSOR))
        for arguments, values in (
            ("Tensor x, Tensor? y, Tensor? z", (_TENSOR, None, _TENSOR)),
            ("Scalar a, int b, SymInt c, ScalarType d, int? e, int? f", (1, 1, 1, 6, None, 1)),
            ("Tensor[] x, Tensor?[] y", (programs.TensorList((_TENSOR,)), optional)),
            ("", ()),
        ):
            with self.subTest(arguments):
                self.assertEqual(self._other_schema(arguments, *values), "")

    def test_too_many_kernels(self) -> None:
        manifest = self._manifest("//ops:a", "aten::add.out", "aten::mul.out")
        self._check_libraries(manifest, "--max_kernels=30")
        finding = self.finding(lambda: self._check_libraries(manifest, "--max_kernels=29"))
        self.assert_starts_with(
            finding, "//m:runner: error: 30 kernels are registered, but the runtime's registry holds 29; "
        )
        self.assertIn("\n    2 by //ops:a\n    28 by the runtime\n", finding)
        self.assert_id(finding, "too-many-kernels")

    def test_object_files(self) -> None:
        program = programs.build({"f": [[_call("my_ops::twice.out")]]})
        found = object_files.Registrations((object_files.Registration("my_ops::twice.out", "twice.cpp:7"),))
        with mock.patch.object(object_files, "registrations", return_value=found):
            self.assertIn("my_ops::twice.out: //ops:c\n", self._check(program, "--whole_object=//ops:c\tx.lo"))
            finding = self.finding(lambda: self._check(program, "--object=//ops:c\tx.a"))
            self.assert_starts_with(
                finding,
                "//m:m: error: my_ops::twice.out is registered by //ops:c (twice.cpp:7), which is not linked whole\n",
            )
            self.assertIn("Fix: set alwayslink = True in //ops:c\n", finding)
            self.assert_id(finding, "registration-left-out")
            finding = self.finding(
                lambda: self._check(program, "--object=//ops:c\tx.a", self._manifest("//ops:a", "my_ops::twice.out"))
            )
            self.assertIn("twice.out: by //ops:a (a.yaml:1:1) and by //ops:c (twice.cpp:7)\n", finding)

    def test_labels_and_paths_with_spaces(self) -> None:
        found = object_files.Registrations((object_files.Registration("my_ops::twice.out", "twice.cpp:7"),))
        with mock.patch.object(object_files, "registrations", return_value=found) as read:
            report = self._check_libraries("--whole_object=//odd dir:a b\todd dir/x y.lo")
        read.assert_called_once_with("odd dir/x y.lo")
        self.assertIn("my_ops::twice.out: //odd dir:a b\n", report)

    def test_registrations_that_cannot_be_read(self) -> None:
        with mock.patch.object(
            object_files, "registrations", return_value=object_files.Registrations(has_unknown=True)
        ):
            output = io.StringIO()
            with contextlib.redirect_stderr(output):
                report = self._check_libraries("--whole_object=//ops:c\ta/x.so")
            note = "x.so of //ops:c calls register_kernels(), and which kernels it registers cannot be read; "
            self.assertIn(f"//m:runner: note: {note}", report)
            self.assertIn(f"//m:runner: note: {note}", output.getvalue())
            self.assertNotIn("note", self._check_libraries("--whole_object=//ops:c\ta/x.so", "--listed=a/x.so"))
            program = programs.build({"f": [[_call("my_ops::twice.out")]]})
            finding = self.finding(lambda: self._check(program, "--whole_object=//ops:c\ta/x.so"))
            self.assertIn(f"    {note}", finding)
            self.assert_id(finding, "missing-operator")

    def test_backends(self) -> None:
        program = programs.build({"f": [["delegate"]], "g": []}, backends=("MyBackend", "OtherBackend"))
        register = b"_ZN10executorch7runtime16register_backendERKNS0_7BackendE"
        library = f"--whole_object=//ops:backend\t{self.write('b.so', register + b'MyBackend' + bytes(1))}"
        findings = self.findings(lambda: self._check(program))
        self.assertEqual(len(findings), 2)
        (finding,) = self.findings(lambda: self._check(program, library))
        self.assert_starts_with(
            finding,
            "//m:m: error: the program delegates to OtherBackend, which nothing that //m:runner links registers\n",
        )
        self.assert_id(finding, "missing-backend")
        self.assertIn("add the executorch_backend that has OtherBackend to deps of //m:runner, or", finding)
        path = self.write("other.a", register + b"OtherBackend" + bytes(1))
        report = self._check(program, library, f"--whole_object=//ops:other\t{path}")
        self.assertIn("OtherBackend, a backend: //ops:other\n", report)
        finding = self.finding(lambda: self._check(program, library, f"--object=//ops:other\t{path}"))
        self.assertIn("the backend OtherBackend is registered by //ops:other, which is not linked whole", finding)
        self.assert_id(finding, "registration-left-out")

    def test_backend_of_the_wheel(self) -> None:
        program = programs.build({"f": [["delegate"]]}, backends=("XnnpackBackend",))
        finding = self.finding(lambda: self._check(program))
        self.assertIn("add @rules_executorch//runtime:backend_xnnpack to deps of //m:runner, or", finding)
        self.assert_id(finding, "missing-backend")

    def test_declared_backends(self) -> None:
        register = b"_ZN10executorch7runtime16register_backendERKNS0_7BackendE"
        path = self.write("b.so", register + b"MyBackend" + bytes(1))
        flags = (f"--whole_object=//ops:b_code\t{path}", "--backend=//ops:b\tMyBackend")
        self._check_libraries(*flags)
        finding = self.finding(lambda: self._check_libraries(*flags, "--backend=//ops:b\tMyBackends"))
        self.assert_starts_with(
            finding, "//ops:b: error: backend_ids has MyBackends, which no file that is linked registers\n"
        )
        self.assert_id(finding, "backend-without-code")

    def test_no_libraries(self) -> None:
        finding = self.finding(lambda: self._check(programs.build({"f": [["aten::add.out"]]})))
        self.assertIn("is not provided by any library: the binary links none\n", finding)
        self.assert_id(finding, "missing-operator")

    def test_empty_program(self) -> None:
        finding = self.finding(lambda: self._check(b"", self._manifest("//ops:aten")))
        self.assert_starts_with(finding, "//m:m: error: the program is an empty file\n")
        self.assert_id(finding, "damaged-program")


if __name__ == "__main__":
    absltest.main()
