from __future__ import annotations

import json
import os
from pathlib import Path

from absl.testing import absltest

from codegen.tests import case

_OUTPUTS = {
    "registration": "RegisterKernels.cpp",
    "native_functions": "NativeFunctions.h",
    "functions": "Functions.h",
    "manifest": "registered.json",
}
_FUNCTIONS = """
- op: add.out
  kernels:
    - arg_meta: null
      kernel_name: torch::executor::add_out
- op: add.Scalar_out
  kernels:
    - arg_meta: null
      kernel_name: torch::executor::add_scalar_out
- op: topk.values
  dispatch:
    CPU: custom::topk_values
"""
_CUSTOM_OPS = """
- func: my_ops::mul3.out(Tensor input, *, Tensor(a!) output) -> Tensor(a!)
  kernels:
    - arg_meta: null
      kernel_name: custom::mul3_out_impl
- func: my_ops::mul4.out(Tensor input, *, Tensor(a!) output) -> Tensor(a!)
  kernels:
    - arg_meta: null
      kernel_name: custom::mul4_out_impl
"""


class GenerateCommandTest(case.TestCase):
    def _select(self, name: str, *arguments: str) -> str:
        output = str(self.directory / name)
        self.run_command("select", "--output", output, *arguments)
        return output

    def _generate(self, *selections: str, functions: str = _FUNCTIONS, custom_ops: str = _CUSTOM_OPS) -> dict[str, str]:
        """The texts of the outputs."""
        self.run_command(
            "generate",
            "--label=//ops:lib",
            f"--functions_yaml={self.write('functions.yaml', functions)}",
            f"--custom_ops_yaml={self.write('custom_ops.yaml', custom_ops)}",
            *(f"--selection={selection}" for selection in selections),
            *(f"--{flag}={self.directory / name}" for flag, name in _OUTPUTS.items()),
        )
        return {name: (self.directory / name).read_text() for name in _OUTPUTS.values()}

    def test_only_the_selected_operators(self) -> None:
        selections = (
            self._select("a.yaml", "--ops=my_ops::mul3.out", "--label=//a:a"),
            self._select("b.yaml", "--ops=aten::add.out", "--ops=executorch_prim::et_view.default", "--label=//a:b"),
        )
        outputs = self._generate(*selections)
        manifest = json.loads(outputs["registered.json"])
        self.assertEqual(manifest["label"], "//ops:lib")
        self.assertEqual(
            {operator["schema"].partition("(")[0]: operator["kernel"] for operator in manifest["operators"]},
            {
                "aten::add.out": "torch::executor::native::add_out",
                "my_ops::mul3.out": "custom::native::mul3_out_impl",
            },
        )
        registration = outputs["RegisterKernels.cpp"]
        self.assertIn('    Kernel("aten::add.out", aten_add_out),\n', registration)
        self.assertIn('    Kernel("my_ops::mul3.out", my_ops_mul3_out),\n', registration)
        self.assertIn("  custom::native::mul3_out_impl(context, input, output);\n", registration)
        self.assertIn('if (!has_values(context, "my_ops::mul3.out", stack, 3)) return;', registration)
        for text in outputs.values():
            self.assertNotIn("mul4", text)
            self.assertNotIn("topk", text)

    def test_headers(self) -> None:
        outputs = self._generate(self._select("a.yaml", "--include_all_operators"))
        declarations = outputs["NativeFunctions.h"]
        self.assertIn(
            "\nnamespace custom::native {\n\n"
            "// aten::topk.values(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True, *, "
            "Tensor(a!) values,\n// Tensor(b!) indices) -> (Tensor(a!) values, Tensor(b!) indices)\n"
            "std::tuple<executorch::aten::Tensor&, executorch::aten::Tensor&> topk_values(",
            declarations,
        )
        self.assertIn(
            "Tensor& add_scalar_out(const Tensor& self, const Scalar& other, const Scalar& alpha, Tensor& out);\n"
            "Tensor& add_scalar_out(KernelRuntimeContext& context, const Tensor& self, const Scalar& other, "
            "const Scalar& alpha,\n                       Tensor& out);\n",
            declarations,
        )
        wrappers = outputs["Functions.h"]
        self.assertIn("\nnamespace torch::executor::my_ops {\n", wrappers)
        self.assertIn(
            "inline Tensor& add_outf(KernelRuntimeContext& context, const Tensor& self, const Tensor& other, "
            "const Scalar& alpha,\n                        Tensor& out) {\n"
            "  return ::torch::executor::native::add_out(context, self, other, alpha, out);\n}\n",
            wrappers,
        )
        self.assertIn("inline std::tuple<Tensor&, Tensor&> topk_outf(", wrappers)

    def test_said_what_from(self) -> None:
        outputs = self._generate(self._select("a.yaml", "--include_all_operators"))
        for name in ("RegisterKernels.cpp", "NativeFunctions.h", "Functions.h"):
            header = outputs[name].split("\n\n")[0]
            self.assertIn(" of //ops:lib.\n", header)
            self.assertIn("Generated from functions.yaml and custom_ops.yaml; do not edit.", header)

    def test_reproducible(self) -> None:
        """Other directories and another order of the selections give the same bytes, without a path in them."""
        outputs = []
        for order in (1, -1):
            self.directory = Path(self.create_tempdir().full_path)
            selections = [
                self._select(f"{i}.yaml", f"--ops={name}")
                for i, name in enumerate(["my_ops::mul3.out", "aten::topk.values", "aten::add.out"])
            ]
            outputs.append(self._generate(*selections[::order]))
            for text in outputs[-1].values():
                self.assertNotIn(str(self.directory), text)
        self.assertEqual(outputs[0], outputs[1])

    def test_nothing_selected(self) -> None:
        outputs = self._generate(self._select("a.yaml", "--ops=executorch_prim::add.Scalar"))
        self.assertIn("No operator is selected", outputs["RegisterKernels.cpp"])
        self.assertEqual(json.loads(outputs["registered.json"])["operators"], [])

    def test_all_overloads(self) -> None:
        selection = self.write("a.yaml", "operators: {'aten::add': {include_all_overloads: true}}\n")
        manifest = json.loads(self._generate(selection)["registered.json"])
        names = [operator["schema"].partition("(")[0] for operator in manifest["operators"]]
        self.assertEqual(names, ["aten::add.Scalar_out", "aten::add.out"])

    def test_missing_operators(self) -> None:
        selections = (
            self._select("a.yaml", "--ops=aten::add.out", "--ops=aten::sub.out", "--label=//models:a"),
            self._select("b.yaml", "--ops=aten::topk", "--ops=aten::sub.out", "--label=//models:b"),
            self._select("c.yaml", "--ops=my_ops::mul33.out", "--label=//models:c"),
            self._select("d.yaml", "--ops=aten::mul3.out", "--label=//models:d"),
            self.write("e.yaml", "operators: {add.out: {debug_info: ['//models:e']}}\n"),
        )
        findings = self.findings(lambda: self._generate(*selections))
        where = "//ops:lib: error:"
        by = "is not provided by functions.yaml or custom_ops.yaml"
        self.assertEqual(
            [finding.partition("\n")[0] for finding in findings],
            [
                f"{where} add.out, which //models:e asks for, {by}; did you mean aten::add.out, aten::add.Scalar_out?",
                f"{where} aten::mul3.out, which //models:d asks for, {by}; did you mean my_ops::mul3.out?",
                f"{where} aten::sub.out, which //models:a, //models:b asks for, {by}",
                f"{where} aten::topk, which //models:b asks for, {by}; did you mean aten::topk.values?",
                f"{where} my_ops::mul33.out, which //models:c asks for, {by}; did you mean my_ops::mul3.out?",
            ],
        )
        self.assertIn("Likely cause: the operator's namespace was forgotten\n", findings[0])
        self.assertIn("Fix: correct the name where it is selected, or add the operator with its kernel", findings[0])
        self.assertFalse(os.path.exists(self.directory / "RegisterKernels.cpp"))

    def test_misspelled_prim_op(self) -> None:
        finding = self.finding(lambda: self._generate(self._select("a.yaml", "--ops=aten::sym_numel.int")))
        self.assertIn("; did you mean aten::sym_numel?\n", finding)

    def test_kernel_shared_by_two_operators_is_declared_once(self) -> None:
        custom_ops = _CUSTOM_OPS.replace("mul4_out_impl", "mul3_out_impl")
        outputs = self._generate(self._select("a.yaml", "--include_all_operators"), custom_ops=custom_ops)
        self.assertEqual(outputs["NativeFunctions.h"].count(" mul3_out_impl("), 2)

    def test_operators_that_are_one_function_in_cpp(self) -> None:
        custom_ops = _CUSTOM_OPS.replace("my_ops::mul4.out", "my_ops::mul3.again_out")
        outputs = self._generate(self._select("a.yaml", "--include_all_operators"), custom_ops=custom_ops)
        self.assertEqual(outputs["Functions.h"].count(" mul3_outf("), 1)
        self.assertIn(
            "// The same function as that of my_ops::mul3.again_out in C++; call its kernel "
            "custom::native::mul3_out_impl instead.",
            outputs["Functions.h"],
        )

    def test_no_yaml(self) -> None:
        selection = self._select("a.yaml", "--include_all_operators")
        flags = [f"--{flag}={self.directory / name}" for flag, name in _OUTPUTS.items()]
        finding = self.finding(
            lambda: self.run_command("generate", "--label=//ops:lib", f"--selection={selection}", *flags)
        )
        self.assert_starts_with(finding, "//ops:lib: error: neither --functions_yaml nor --custom_ops_yaml is given\n")
        self.assert_id(finding, "no-yaml")


if __name__ == "__main__":
    absltest.main()
