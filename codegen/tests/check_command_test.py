from __future__ import annotations

import contextlib
import functools
import io
import json
from collections.abc import Sequence
from unittest import mock

from absl.testing import absltest

from codegen.binaries import object_files
from codegen.model import scalar_types
from codegen.tests import case, programs

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
        self.assert_refused(lambda: self._check(program, *libraries), *["dtype-not-selected //m:m"] * 2)

    def test_no_kernel_for_a_call(self) -> None:
        """A call with one tensor without dimensions has the key that elsewhere stands for a dtype."""
        scalar, vector = programs.Tensor(_HALF, ()), programs.Tensor(_HALF, (0,))
        program = programs.build({"f": [[programs.Call("my_ops::count", (tensor, 1)) for tensor in (scalar, vector)]]})
        types = "(Tensor x) -> int"
        self._check(program, self._manifest("//ops:a", "my_ops::count", types=types, keys=["v1/5;", "v1/5;0"]))
        self._check(program, self._manifest("//ops:a", "my_ops::count", types=types, keys=["default", "v1/5;0"]))
        manifest = self._manifest("//ops:a", "my_ops::count", types=types, keys=["v1/5;0", "v1/6;"])
        self.assert_refused(lambda: self._check(program, manifest), "missing-kernel-key //m:m")

    def test_kernels_that_two_libraries_build_for_their_dtypes(self) -> None:
        libraries = [
            self._dtypes("//ops:a", add=["Half"], mul=["Half"]),
            self._dtypes("//ops:b", add=["Float"], mul=None),
            self._dtypes("//ops:c", sub=["Half"]),
        ]
        self._check_libraries(*libraries[1:])
        self.assert_refused(lambda: self._check_libraries(*libraries), "built-twice //m:runner")

    def test_missing_operators(self) -> None:
        program = programs.build({"f": [[_call("my_ops::mul3.out"), _call("aten::add.out"), "aten::sub.out"]]})
        self.assert_refused(
            lambda: self._check(program, self._manifest("//ops:aten", "aten::add.Scalar_out")),
            *["missing-operator //m:m"] * 3,
        )

    def test_missing_operators_of_other_kernels_of_this_repository(self) -> None:
        program = programs.build(
            {"f": [["quantized_decomposed::quantize_per_tensor.out", "quantized_decomposed::add.out"]]}
        )
        self.assert_refused(
            lambda: self._check(program, self._manifest("//ops:aten", "aten::mul.out")),
            *["missing-operator //m:m"] * 2,
        )
        # A library that has kernels of the namespace has that one already.
        program = programs.build({"f": [["quantized_decomposed::quantize_per_tensor.out"]]})
        there = self._manifest("//ops:q", "quantized_decomposed::add.out")
        self.assert_refused(lambda: self._check(program, there), "missing-operator //m:m")

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
        self.assert_refused(
            lambda: self._check(program, self._manifest("//ops:mul4", "my_ops::mul4.out")), "missing-operator //m:m"
        )

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
        for methods in (("--method=forward", "--method=decod"), ("--method=zip",)):
            self.assert_refused(functools.partial(self._check, program, *methods), "unknown-method //m:runner")

    def test_registered_twice(self) -> None:
        arguments = (
            self._manifest("//ops:a", "aten::add.out", "aten::mul.out", "aten::sub.out"),
            self._manifest("//ops:b", "aten::add.out", "aten::sub.out"),
            self._listing("//ops:c", "aten::mul.out", "aten::sym_numel"),
        )
        self.assert_refused(lambda: self._check_libraries(*arguments), *["registered-twice //m:runner"] * 2)

    def test_prim_op_registered_by_a_library(self) -> None:
        self.assert_refused(
            lambda: self._check_libraries(self._manifest("//ops:a", "aten::sym_numel")), "registered-twice //m:runner"
        )

    def test_all_findings_at_once(self) -> None:
        arguments = (self._manifest("//ops:a", "aten::add.out"), self._manifest("//ops:b", "aten::add.out"))
        self.assert_refused(
            lambda: self._check(programs.build({"f": [["aten::mul.out"]]}), *arguments),
            "registered-twice //m:runner",
            "missing-operator //m:m",
        )

    def _check_call(self, types: str, *values: programs.Value) -> None:
        """Checks a call with these values, among them the result."""
        program = programs.build({"f": [[programs.Call("my_ops::f.out", values)]]})
        self._check(program, self._manifest("//ops:a", "my_ops::f.out", types=types))

    def _assert_misfit(self, types: str, *values: programs.Value) -> None:
        self.assert_refused(lambda: self._check_call(types, *values), "other-schema //m:m")

    def test_other_schema(self) -> None:
        tensors = programs.TensorList((_TENSOR,))
        for arguments, values in (
            ("Tensor x, Tensor y", (_TENSOR,)),
            ("Tensor x", (_TENSOR, 1)),
            ("Tensor x, int n", (1, _TENSOR)),
            ("int n, float x", (1, 1)),
            ("Tensor[] x", (_TENSOR,)),
            ("Tensor?[] x", (tensors,)),
            ("Tensor x", (None,)),
            ("int[2]? n", (1,)),
        ):
            with self.subTest(arguments):
                self._assert_misfit(f"({arguments}) -> Tensor", *values, _TENSOR)

    def test_nothing_returned(self) -> None:
        """A program may or may not have a value for it."""
        types = "(Tensor(a!) x, int n) -> ()"
        self._check_call(types, _TENSOR, 1)
        self._check_call(types, _TENSOR, 1, None)
        self._assert_misfit(types, _TENSOR)
        self._assert_misfit(types, _TENSOR, 1, 1, None)

    def test_schemas_that_fit(self) -> None:
        optional = programs.OptionalTensorList((None, _TENSOR))
        for arguments, values in (
            ("Tensor x, Tensor? y, Tensor? z", (_TENSOR, None, _TENSOR)),
            ("Scalar a, int b, SymInt c, ScalarType d, int? e, int? f", (1, 1, 1, 6, None, 1)),
            ("Tensor[] x, Tensor?[] y", (programs.TensorList((_TENSOR,)), optional)),
            ("", ()),
        ):
            with self.subTest(arguments):
                self._check_call(f"({arguments}) -> Tensor", *values, _TENSOR)

    def test_too_many_kernels(self) -> None:
        manifest = self._manifest("//ops:a", "aten::add.out", "aten::mul.out")
        self._check_libraries(manifest, "--max_kernels=30")
        self.assert_refused(lambda: self._check_libraries(manifest, "--max_kernels=29"), "too-many-kernels //m:runner")

    def test_object_files(self) -> None:
        program = programs.build({"f": [[_call("my_ops::twice.out")]]})
        found = object_files.Registrations((object_files.Registration("my_ops::twice.out", "twice.cpp:7"),))
        with mock.patch.object(object_files, "registrations", return_value=found):
            self.assertIn("my_ops::twice.out: //ops:c\n", self._check(program, "--whole_object=//ops:c\tx.lo"))
            self.assert_refused(lambda: self._check(program, "--object=//ops:c\tx.a"), "registration-left-out //m:m")
            self.assert_refused(
                lambda: self._check(program, "--object=//ops:c\tx.a", self._manifest("//ops:a", "my_ops::twice.out")),
                "registered-twice //m:runner",
            )

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
            self.assert_refused(
                lambda: self._check(program, "--whole_object=//ops:c\ta/x.so"), "missing-operator //m:m"
            )

    def test_backends(self) -> None:
        program = programs.build({"f": [["delegate"]], "g": []}, backends=("MyBackend", "OtherBackend"))
        register = b"_ZN10executorch7runtime16register_backendERKNS0_7BackendE"
        library = f"--whole_object=//ops:backend\t{self.write('b.so', register + b'MyBackend' + bytes(1))}"
        self.assert_refused(lambda: self._check(program), *["missing-backend //m:m"] * 2)
        self.assert_refused(lambda: self._check(program, library), "missing-backend //m:m")
        path = self.write("other.a", register + b"OtherBackend" + bytes(1))
        report = self._check(program, library, f"--whole_object=//ops:other\t{path}")
        self.assertIn("OtherBackend, a backend: //ops:other\n", report)
        self.assert_refused(
            lambda: self._check(program, library, f"--object=//ops:other\t{path}"), "registration-left-out //ops:other"
        )

    def test_backend_of_the_wheel(self) -> None:
        program = programs.build({"f": [["delegate"]]}, backends=("XnnpackBackend",))
        self.assert_refused(lambda: self._check(program), "missing-backend //m:m")

    def test_declared_backends(self) -> None:
        register = b"_ZN10executorch7runtime16register_backendERKNS0_7BackendE"
        path = self.write("b.so", register + b"MyBackend" + bytes(1))
        flags = (f"--whole_object=//ops:b_code\t{path}", "--backend=//ops:b\tMyBackend")
        self._check_libraries(*flags)
        self.assert_refused(
            lambda: self._check_libraries(*flags, "--backend=//ops:b\tMyBackends"), "backend-without-code //ops:b"
        )

    def _check_weights(self, **files: dict[str, programs.Tensor]) -> str:
        """Checks a program that needs `table` and `scale`, with files of weights."""
        table, scale = (
            programs.Tensor(6, (0, 1), (4, 2), external="float32[4,2]@1"),
            programs.Tensor(5, (1, 0), (8, 3), external="float16[8,3]@2"),
        )
        out = programs.Tensor(6, (0,), (4,), place=(1, 0))
        calls = [programs.Call("aten::a.out", (table, out)), programs.Call("aten::b.out", (scale, out))]
        program = programs.build({"forward": programs.Method(calls, (), (out,), (16,))})
        content = {
            # The values of the program are in the order of the calls.
            "constants": {"forward": {"0": "embed.table"}},
            "frames": [["model.py", 12, "forward", "return self.embed(x)"]],
            "methods": {"forward": {"0": {"operator": "aten::a.out", "module": "embed", "stack": [0]}}},
        }
        return self._check(
            program,
            self._manifest("//ops:aten", "aten::a.out", "aten::b.out"),
            f"--origins={self.write('model.origins.json', json.dumps(content))}",
            *(f"--weights={self.write(f'{name}.ptd', programs.tensor_data(file))}" for name, file in files.items()),
        )

    def test_weights(self) -> None:
        table = {"float32[4,2]@1": programs.Tensor(6, (0, 1), (4, 2), bytes(32))}
        scale = {"float16[8,3]@2": programs.Tensor(5, (1, 0), (8, 3), bytes(48))}
        self._check_weights(both=table | scale)
        self._check_weights(base=table, over=scale, other={"x": programs.Tensor(6, (0,), (1,), bytes(4))})
        self.assert_refused(self._check_weights, "missing-constant //m:runner")
        self.assert_refused(lambda: self._check_weights(base=table), "missing-constant //m:runner")
        # Another dtype, other sizes, another dim order.
        for other in (
            programs.Tensor(7, (0, 1), (4, 2), bytes(64)),
            programs.Tensor(6, (0, 1), (2, 4), bytes(32)),
            programs.Tensor(6, (1, 0), (4, 2), bytes(32)),
        ):
            check = functools.partial(self._check_weights, base={"float32[4,2]@1": other}, over=scale)
            self.assert_refused(check, "missing-constant //m:runner")
        self.assert_refused(
            lambda: self._check_weights(base=table | scale, over=table), "constant-in-two-files //m:runner"
        )
        samples = {"forward/0/input/0": programs.Tensor(6, (0,), (1,), bytes(4))}
        self.assert_refused(lambda: self._check_weights(samples=samples), "missing-constant //m:runner")

    def test_damaged_weights(self) -> None:
        weights = f"--weights={self.write('model.weights.ptd', bytes(100))}"
        constant = programs.Tensor(6, (0,), (4,), external="key")
        out = programs.Tensor(6, (0,), (4,), place=(1, 0))
        method = programs.Method([programs.Call("aten::a.out", (constant, out))], (), (out,), (16,))
        program = programs.build({"forward": method})
        manifest = self._manifest("//ops:aten", "aten::a.out")
        self.assert_refused(lambda: self._check(program, manifest, weights), "damaged-program model.weights.ptd")
        # A program with all its constants needs no file.
        self._check(programs.build({"f": [[_call("aten::a.out")]]}), manifest, weights)

    def test_no_libraries(self) -> None:
        self.assert_refused(lambda: self._check(programs.build({"f": [["aten::add.out"]]})), "missing-operator //m:m")

    def test_empty_program(self) -> None:
        self.assert_refused(lambda: self._check(b"", self._manifest("//ops:aten")), "damaged-program //m:m")


if __name__ == "__main__":
    absltest.main()
