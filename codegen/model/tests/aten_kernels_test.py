from __future__ import annotations

import contextlib
import functools
import io
import json
import re
from collections.abc import Sequence
from pathlib import Path

from absl.testing import absltest

from codegen.inputs import functions_yaml
from codegen.model import aten_kernels, aten_operators, schema
from codegen.tests import case

_OUTPUTS = {
    "kernel_table": "KernelTable.cpp",
    "registration": "RegisterKernels.cpp",
    "registered_names": "RegisteredNames.cpp",
    "native_functions": "NativeFunctions.h",
    "functions": "Functions.h",
    "manifest": "registered.json",
    "aten_source": "AtenKernels.cpp",
}
_MUL3 = "my_ops::mul3.out(Tensor input, *, Tensor(a!) output) -> Tensor(a!)"
_CUSTOM_OPS = f"""
- func: {_MUL3}
  kernels:
    - arg_meta: null
      kernel_name: custom::mul3_out
"""
_SUB = """
- op: sub.out
  kernels:
    - arg_meta: null
      kernel_name: portable::sub_out
"""
# Float tensors of two dimensions only.
_FLOAT_MUL = """
- op: mul.out
  type_alias: {T0: [Float]}
  dim_order_alias: {D0: [0, 1]}
  kernels:
    - arg_meta: {self: [T0, D0], other: [T0, D0], out: [T0, D0]}
      kernel_name: fast::mul_out
"""


class AtenKernelsTest(case.TestCase):
    def _generate(self, *ops: str, flags: Sequence[str] = ()) -> dict[str, str]:
        """The texts of the outputs for a library with PyTorch's own kernels."""
        selection = self.directory / "selected_operators.yaml"
        names = [f"--ops={op}" for op in ops] or ["--include_all_operators"]
        self.run_command("select", f"--output={selection}", "--label=//ops:selected", *names)
        boxed_kernels = self.directory / "boxed_kernels"
        self.run_command(
            "generate",
            "--max_kernels=2000",
            "--label=//ops:lib",
            "--aten_kernels",
            f"--selection={selection}",
            f"--boxed_kernels={boxed_kernels}",
            *(f"--{flag}={self.directory / name}" for flag, name in _OUTPUTS.items()),
            *flags,
        )
        sources = [self.directory / name for name in _OUTPUTS.values()] + sorted(boxed_kernels.iterdir())
        return {source.name: source.read_text() for source in sources}

    def _kernels(self, outputs: dict[str, str]) -> dict[str, list[str]]:
        manifest = json.loads(outputs["registered.json"])
        return {
            operator["schema"].partition("(")[0]: [kernel["function"] for kernel in operator["kernels"]]
            for operator in manifest["operators"]
        }

    def test_pytorchs_own_kernel(self) -> None:
        outputs = self._generate("aten::add.out", "aten::_local_scalar_dense")
        self.assertEqual(self._kernels(outputs), {"aten::add.out": ["aten"]})
        boxed = outputs["KernelTable.cpp"]
        self.assertIn('#include "runtime/aten/aten_operator.h"\n', boxed)
        self.assertIn('AtenOperator aten_operator("aten::add.out", "aten::add", "out");\n', boxed)
        self.assertNotIn("!takes_values(", boxed)
        self.assertNotIn("add_out", outputs["NativeFunctions.h"].partition("#pragma")[2])
        for text in outputs.values():
            self.assertNotIn("#include <ATen/", text)

    def test_functional_operator(self) -> None:
        self.assert_refused(
            lambda: self._generate("aten::add.Tensor", "aten::mul.out"), "no-aten-out-variant //ops:lib"
        )

    def test_operator_without_an_out_variant(self) -> None:
        self.assert_refused(lambda: self._generate("aten::chunk"), "no-aten-out-variant //ops:lib")

    def test_unknown_operator(self) -> None:
        self.assert_refused(lambda: self._generate("aten::addd.out"), "missing-operator //ops:lib")

    def test_a_fallback_with_nothing_to_do(self) -> None:
        functions = f"--functions_yaml={self.write('functions.yaml', _SUB + _FLOAT_MUL)}"
        of_pytorch = f"--aten_custom_ops_yaml={self.write('custom_ops.yaml', _CUSTOM_OPS)}"
        for flag, ops, is_idle in (
            (functions, ["aten::sub.out"], True),
            (functions, ["aten::sub.out", "aten::add.out"], False),
            (functions, ["aten::mul.out"], False),
            (of_pytorch, ["my_ops::mul3.out"], False),
        ):
            with contextlib.redirect_stderr(io.StringIO()) as said:
                self._generate(*ops, flags=[flag])
            note = '//ops:lib: note: fallback = "aten" has nothing to do, since the YAMLs have a kernel for every '
            self.assertEqual(note in said.getvalue(), is_idle, ops)

    def test_kernel_with_pytorchs_tensors(self) -> None:
        custom_ops = self.write("custom_ops.yaml", _CUSTOM_OPS)
        outputs = self._generate("my_ops::mul3.out", flags=[f"--aten_custom_ops_yaml={custom_ops}"])
        self.assertEqual(self._kernels(outputs), {"my_ops::mul3.out": ["custom::native::mul3_out"]})
        source = outputs["AtenKernels.cpp"]
        self.assertIn(
            "\nnamespace custom::native {\n\nat::Tensor& mul3_out(const at::Tensor& input, at::Tensor& output);\n",
            source,
        )
        self.assertIn('"my_ops_mul3_out(Tensor input, *, Tensor(a!) output) -> Tensor(a!)"', source)
        self.assertRegex(source, r'aten_operator\(\s+"my_ops::mul3.out",\s+"lib_\w+::my_ops_mul3_out",\s+""\);\n')
        self.assertNotIn("mul3_out(context, input", outputs["KernelTable.cpp"])

    def test_new_tensor_of_a_kernel_with_pytorchs_tensors(self) -> None:
        # A view, too, is a tensor that PyTorch allocates.
        for text in ("my_ops::mul3(Tensor input) -> Tensor", "my_ops::mul3(Tensor(a) input) -> Tensor(a)"):
            flag = f"--aten_custom_ops_yaml={self.write('custom_ops.yaml', _CUSTOM_OPS.replace(_MUL3, text))}"
            generate = functools.partial(self._generate, "my_ops::mul3", flags=[flag])
            self.assert_refused(generate, "unsupported-return custom_ops.yaml:2:9")

    def test_own_kernels_come_first(self) -> None:
        functions = self.write("functions.yaml", _SUB + _FLOAT_MUL)
        flags = [f"--functions_yaml={functions}"]
        outputs = self._generate("aten::add.out", "aten::mul.out", "aten::sub.out", flags=flags)
        self.assertEqual(
            self._kernels(outputs),
            {
                "aten::add.out": ["aten"],
                "aten::mul.out": ["fast::native::mul_out", "aten"],
                "aten::sub.out": ["portable::native::sub_out"],
            },
        )
        self.assertIn("portable::native::sub_out(context, ", outputs["KernelTable.cpp"])
        self.assertIn('Kernel("aten::mul.out", guarded<aten_mul_out_by_aten>)', outputs["KernelTable.cpp"])

    def test_fallback_for_what_no_other_has(self) -> None:
        fallback = self.write("dim_order_ops.yaml", _CUSTOM_OPS)
        custom_ops = self.write("custom_ops.yaml", _CUSTOM_OPS.replace("custom::mul3", "lean::mul3"))
        flags = [f"--aten_fallback_yaml={fallback}"]
        self.assertEqual(
            self._kernels(self._generate("my_ops::mul3.out", flags=flags)),
            {"my_ops::mul3.out": ["custom::native::mul3_out"]},
        )
        flags.append(f"--custom_ops_yaml={custom_ops}")
        self.assertEqual(
            self._kernels(self._generate("my_ops::mul3.out", flags=flags)),
            {"my_ops::mul3.out": ["lean::native::mul3_out"]},
        )

    def test_all_operators(self) -> None:
        notes = io.StringIO()
        with contextlib.redirect_stderr(notes):
            outputs = self._generate()
        kernels = self._kernels(outputs)
        self.assertIn("aten::unbind_copy.int_out", kernels)
        self.assertIn("aten::_foreach_add.ScalarList_out", kernels)
        self.assertIn("aten::copy_", kernels)
        self.assertNotIn("aten::add.Tensor", kernels)
        self.assertNotIn("aten::sym_size.int", kernels, "the runtime has it")
        boxed = "".join(text for name, text in outputs.items() if name.startswith(("BoxedKernels", "KernelTable")))
        called = re.findall(r"AtenOperator aten_operator\(\s*\"([^\"]+)\",", boxed)
        self.assertEqual(sorted(called), sorted(kernels))

        self.assertIn("//ops:lib: note: ", notes.getvalue())
        self.assertIn("    takes a Storage: aten::set.source_Storage_out, ", notes.getvalue())
        noted = {name.strip(",") for name in notes.getvalue().split() if name.startswith("aten::")}
        for name in aten_operators.names():
            parsed = schema.parse_operator_name(name)
            assert parsed is not None
            function = aten_operators.find(parsed)
            assert function is not None
            if function.out and name not in kernels:
                self.assertIn(name, noted)
        self.assertEqual(noted & set(kernels), set())

    def test_all_operators_that_no_yaml_has(self) -> None:
        functions = self.write("functions.yaml", _SUB + _FLOAT_MUL)
        notes = io.StringIO()
        with contextlib.redirect_stderr(notes):
            kernels = self._kernels(self._generate(flags=[f"--functions_yaml={functions}"]))
        self.assertEqual(kernels["aten::sub.out"], ["portable::native::sub_out"])
        self.assertEqual(kernels["aten::mul.out"], ["fast::native::mul_out", "aten"])
        self.assertEqual(list(kernels), sorted(aten_kernels.WithAtenKernels({})))
        self.assertIn("//ops:lib: note: ", notes.getvalue())

    def test_selected_operators_need_no_note(self) -> None:
        notes = io.StringIO()
        with contextlib.redirect_stderr(notes):
            self._generate("aten::add.out")
        self.assertNotIn("note: ", notes.getvalue())

    def test_more_operators_than_the_registry_holds(self) -> None:
        self.assert_refused(lambda: self._generate(flags=["--max_kernels=1000"]), "too-many-kernels //ops:lib")
        # Those that a program registers by hand may be given to one method alone.
        header = f"--registration_header={self.directory / 'RegisterKernels.h'}"
        self._generate(flags=["--max_kernels=1000", header])


class BindTest(case.TestCase):
    def _bind(self, symbol: str) -> str:
        """The adapters for a library that defines a function."""
        kernels = functions_yaml.read(
            None, None, aten_custom_ops_yaml=self.write("custom_ops.yaml", _CUSTOM_OPS), max_kernels=2000
        )
        operators = [
            {
                "schema": str(operator.schema),
                "location": ["custom_ops.yaml", 2, 9],
                "kernels": [
                    {
                        "function": kernel.function,
                        "keys": kernel.keys,
                        "location": ["custom_ops.yaml", 5, 20],
                        "is_aten": kernel.is_aten,
                    }
                    for kernel in operator.kernels
                ],
            }
            for operator in (*kernels.values(), aten_kernels.WithAtenKernels({})["aten::add.out"])
        ]
        content = {"label": "//ops:lib", "yaml_names": ["custom_ops.yaml"], "operators": operators}
        manifest = self.write("registered.json", json.dumps(content))
        nm = self.write("nm", f"#!/bin/sh\necho 'libops.a:op.o:0000000000000010 T {symbol}'\n")
        Path(nm).chmod(0o755)
        output = self.directory / "KernelAdapters.cpp"
        self.run_command("bind", f"--manifest={manifest}", f"--nm={nm}", "--library=libops.a", f"--output={output}")
        return output.read_text()

    def test_kernel_with_pytorchs_tensors(self) -> None:
        self.assertIn("nothing to adapt", self._bind("custom::native::mul3_out(at::Tensor const&, at::Tensor&)"))

    def test_kernel_with_executorchs_tensors(self) -> None:
        tensor = "executorch::runtime::etensor::Tensor"
        self.assert_refused(
            lambda: self._bind(f"custom::native::mul3_out({tensor} const&, {tensor}&)"),
            "undefined-kernel custom_ops.yaml:5:20",
        )


if __name__ == "__main__":
    absltest.main()
