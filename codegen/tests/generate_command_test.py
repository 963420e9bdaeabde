from __future__ import annotations

import contextlib
import functools
import io
import json
import os
import re
from collections.abc import Sequence
from pathlib import Path

from absl import flags
from absl.testing import absltest

from codegen.cpp import source
from codegen.tests import case

_OUTPUTS = {
    "kernel_table": "KernelTable.cpp",
    "registration": "RegisterKernels.cpp",
    "registered_names": "RegisteredNames.cpp",
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
# As the runtime renders the keys of aten::add.out(self, other, *, alpha, out) and its returned slot.
_FLOAT, _HALF, _DOUBLE = ("v1/" + "|".join([f"{dtype};0,1"] * 4) for dtype in (6, 5, 7))
_SPECIALIZED = """
- op: add.out
  type_alias: {T0: [Float], T1: [Half]}
  dim_order_alias: {D0: [0, 1]}
  kernels:
    - arg_meta: {self: [T0, D0], other: [T0, D0], out: [T0, D0]}
      kernel_name: fast::add_float
    - arg_meta: {self: [T1, D0], other: [T1, D0], out: [T1, D0]}
      kernel_name: fast::add_half
    - arg_meta: null
      kernel_name: slow::add
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

    def _generate(
        self, *selections: str, functions: str = _FUNCTIONS, custom_ops: str = _CUSTOM_OPS, flags: Sequence[str] = ()
    ) -> dict[str, str]:
        """The texts of the outputs."""
        boxed_kernels = self.directory / "boxed_kernels"
        self.run_command(
            "generate",
            "--max_kernels=2000",
            "--label=//ops:lib",
            f"--functions_yaml={self.write('functions.yaml', functions)}",
            f"--custom_ops_yaml={self.write('custom_ops.yaml', custom_ops)}",
            *(f"--selection={selection}" for selection in selections),
            f"--boxed_kernels={boxed_kernels}",
            *(f"--{flag}={self.directory / name}" for flag, name in _OUTPUTS.items()),
            *flags,
        )
        sources = [self.directory / name for name in _OUTPUTS.values()] + sorted(boxed_kernels.iterdir())
        return {source.name: source.read_text() for source in sources}

    def test_operators_that_no_exported_program_calls(self) -> None:
        kernel = "\n  dispatch: {CPU: custom::f}\n"
        schemas = (
            "my_ops::twice(Tensor x) -> Tensor",
            "my_ops::twice.times(Tensor x, int n) -> Tensor",
            "my_ops::add_(Tensor(a!) self, Tensor other) -> Tensor(a!)",
            # Programs call these, or their out variants are there.
            "my_ops::count(Tensor x) -> int",
            "my_ops::thrice(Tensor x) -> Tensor",
            "my_ops::thrice.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)",
        )
        custom_ops = "".join(f"- func: {text}{kernel.replace('f}', f'f{i}}}')}" for i, text in enumerate(schemas))
        functions = f"- op: add.Tensor{kernel}- op: copy_{kernel}- op: mul.Scalar{kernel}- op: mul.Scalar_out{kernel}"
        written = io.StringIO()
        with contextlib.redirect_stderr(written):
            self._generate(
                self._select("all.yaml", "--include_all_operators"), functions=functions, custom_ops=custom_ops
            )
        notes = [line for line in written.getvalue().splitlines() if "note: " in line]
        found = [
            re.fullmatch(
                rf"{re.escape(str(self.directory))}/(\S+): note: no exported program calls (\S+), which "
                r"(gives a new tensor|changes its argument); programs call its out variant, (\S+)",
                note,
            )
            for note in notes
        ]
        self.assertEqual(
            [match and match.groups() for match in found],
            [
                ("functions.yaml:1:7", "aten::add.Tensor", "gives a new tensor", "aten::add.out"),
                ("custom_ops.yaml:5:9", "my_ops::add_", "changes its argument", "my_ops::add.out"),
                ("custom_ops.yaml:1:9", "my_ops::twice", "gives a new tensor", "my_ops::twice.out"),
                ("custom_ops.yaml:3:9", "my_ops::twice.times", "gives a new tensor", "my_ops::twice.times_out"),
            ],
        )

    def test_only_the_selected_operators(self) -> None:
        selections = (
            self._select("a.yaml", "--ops=my_ops::mul3.out", "--label=//a:a"),
            self._select("b.yaml", "--ops=aten::add.out", "--ops=executorch_prim::et_view.default", "--label=//a:b"),
        )
        outputs = self._generate(*selections)
        manifest = json.loads(outputs["registered.json"])
        self.assertEqual(manifest["label"], "//ops:lib")
        self.assertEqual(
            {
                operator["schema"].partition("(")[0]: [
                    (kernel["function"], kernel["keys"]) for kernel in operator["kernels"]
                ]
                for operator in manifest["operators"]
            },
            {
                "aten::add.out": [("torch::executor::native::add_out", ["default"])],
                "my_ops::mul3.out": [("custom::native::mul3_out_impl", ["default"])],
            },
        )
        self.assertIn('    Kernel("aten::add.out", guarded<aten_add_out>),\n', outputs["KernelTable.cpp"])
        self.assertIn('    Kernel("my_ops::mul3.out", guarded<my_ops_mul3_out>),\n', outputs["KernelTable.cpp"])
        self.assertIn("\nchar aten__add__out__for_any;\n", outputs["RegisteredNames.cpp"])
        boxed = outputs["KernelTable.cpp"]
        self.assertIn("  ::custom::native::mul3_out_impl(context, input, output);\n", boxed)
        self.assertIn('if (!takes_values(context, "my_ops::mul3.out", stack, 3)) return;', boxed)
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
            "Tensor& add_scalar_out(\n    KernelRuntimeContext& context,\n    const Tensor& self,\n"
            "    const Scalar& other,\n    const Scalar& alpha,\n    Tensor& out);\n",
            declarations,
        )
        wrappers = outputs["Functions.h"]
        namespace = source.Source("//ops:lib", ()).namespace
        self.assertIn("\nnamespace torch::executor::my_ops {\n", wrappers)
        self.assertIn(
            "inline Tensor& add_outf(\n    KernelRuntimeContext& context,\n    const Tensor& self,\n"
            "    const Tensor& other,\n    const Scalar& alpha,\n    Tensor& out) {\n"
            f"  ::{namespace}::RankCheck rank_check{{context}};\n"
            '  rank_check.add("aten::add.out", self, other, out);\n'
            "  if (!rank_check.passed) return out;\n"
            "  return ::torch::executor::native::add_out(context, self, other, alpha, out);\n}\n",
            wrappers,
        )
        self.assertIn("inline std::tuple<Tensor&, Tensor&> topk_outf(", wrappers)

    def test_several_instruction_sets(self) -> None:
        header, of_set, chosen = (
            self.directory / name for name in ("TypedKernels.h", "KernelsOfSet.cpp", "ChosenKernels.cpp")
        )
        sets = ("--instruction_set=avx2", "--instruction_set=baseline")
        files = (f"--typed_kernels_header={header}", f"--kernels_of_set={of_set}", f"--chosen_kernels={chosen}")
        flags = (*files, *sets)
        outputs = self._generate(self._select("a.yaml", "--ops=my_ops::mul3.out", "--ops=aten::add.out"), flags=flags)
        namespace = source.Source("//ops:lib", ()).namespace
        wrappers = outputs["Functions.h"]
        declaration = "executorch::aten::Tensor& my_ops_mul3_out(\n"
        self.assertIn(f"\n{declaration}", header.read_text())
        self.assertIn(f"\n[[gnu::weak]] {declaration}", wrappers)
        self.assertIn(
            f"  if (::{namespace}::typed_kernels::my_ops_mul3_out != nullptr) {{\n"
            f"    return ::{namespace}::typed_kernels::my_ops_mul3_out(context, input, output);\n  }}\n"
            "  return ::custom::native::mul3_out_impl(context, input, output);\n",
            wrappers,
        )
        self.assertIn(
            "KERNEL(my_ops_mul3_out) = &::custom::native::mul3_out_impl;\n",
            of_set.read_text(),
        )
        self.assertIn(
            f"  ::{namespace}::typed_kernels::my_ops_mul3_out(context, input, output);\n", outputs["KernelTable.cpp"]
        )
        self.assertIn(
            "  if (has_instruction_set(InstructionSet::kAvx2)) return avx2;\n  return baseline;\n",
            chosen.read_text(),
        )

    def test_typed_function_that_cannot_fail(self) -> None:
        # It would return a reference to its argument.
        custom_ops = _CUSTOM_OPS.replace(
            "mul3.out(Tensor input, *, Tensor(a!) output) -> Tensor(a!)",
            "mul3.out(Tensor input, *, Tensor(a!)[] output) -> Tensor(a!)[]",
        )
        outputs = self._generate(self._select("a.yaml", "--ops=my_ops::mul3.out"), custom_ops=custom_ops)
        self.assertNotIn("RankCheck", outputs["Functions.h"])

    def test_said_what_from(self) -> None:
        outputs = self._generate(self._select("a.yaml", "--include_all_operators"))
        for name in (name for name in _OUTPUTS.values() if name != "registered.json"):
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
        for name in ("RegisterKernels.cpp", "RegisteredNames.cpp"):
            self.assertIn("No operator is selected", outputs[name])
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
        self.assert_refused(lambda: self._generate(*selections), *["missing-operator //ops:lib"] * 5)
        self.assertFalse(os.path.exists(self.directory / "RegisterKernels.cpp"))

    def test_operators_of_other_kernels_of_this_repository(self) -> None:
        for name in ("quantized_decomposed::quantize_per_tensor.out", "rules_executorch::packed_linear.out"):
            selected = self._select("a.yaml", f"--ops={name}")
            self.assert_refused(functools.partial(self._generate, selected), "missing-operator //ops:lib")

    def test_an_operator_of_pytorch_is_not_taken_for_another(self) -> None:
        functions = "- op: neg.out\n  kernels: [{arg_meta: null, kernel_name: neg_out}]\n"
        for name in ("ne.Tensor_out", "neg", "neg_.out"):
            generate = functools.partial(self._generate, self._select("a.yaml", f"--ops=aten::{name}"))
            self.assert_refused(functools.partial(generate, functions=functions), "missing-operator //ops:lib")

    def test_misspelled_prim_op(self) -> None:
        selected = self._select("a.yaml", "--ops=aten::sym_numel.int")
        self.assert_refused(lambda: self._generate(selected), "missing-operator //ops:lib")

    def test_kernel_shared_by_two_operators_is_declared_once(self) -> None:
        custom_ops = _CUSTOM_OPS.replace("mul4_out_impl", "mul3_out_impl")
        outputs = self._generate(self._select("a.yaml", "--include_all_operators"), custom_ops=custom_ops)
        self.assertEqual(outputs["NativeFunctions.h"].count(" mul3_out_impl("), 1)

    def test_operators_that_are_one_function_in_cpp(self) -> None:
        custom_ops = _CUSTOM_OPS.replace("my_ops::mul4.out", "my_ops::mul3.again_out")
        outputs = self._generate(self._select("a.yaml", "--include_all_operators"), custom_ops=custom_ops)
        self.assertEqual(outputs["Functions.h"].count(" mul3_outf("), 1)
        self.assertIn(
            "// The same function as that of my_ops::mul3.again_out in C++; call its kernel "
            "custom::native::mul3_out_impl instead.",
            outputs["Functions.h"],
        )

    def _kernels(self, functions: str, *keys: str) -> dict[str, list[str]]:
        """Of aten::add.out, the kernels with the keys that are registered for a selection of keys."""
        selection = self.write(
            "a.yaml",
            f"et_kernel_metadata: {{'aten::add.out': {json.dumps(keys)}}}\n"
            "operators: {'aten::add.out': {debug_info: ['//a:model'], include_all_overloads: false}}\n",
        )
        manifest = json.loads(self._generate(selection, functions=functions)["registered.json"])
        return {kernel["function"]: kernel["keys"] for kernel in manifest["operators"][0]["kernels"]}

    def test_specialized_kernels(self) -> None:
        outputs = self._generate(self._select("a.yaml", "--ops=aten::add.out"), functions=_SPECIALIZED)
        self.assertIn(
            f'    Kernel("aten::add.out", "{_FLOAT}", guarded<aten_add_out_by_fast_add_float>),\n'
            f'    Kernel("aten::add.out", "{_HALF}", guarded<aten_add_out_by_fast_add_half>),\n'
            '    Kernel("aten::add.out", guarded<aten_add_out_by_slow_add>),\n',
            outputs["KernelTable.cpp"],
        )
        self.assertIn("\nchar aten__add__out__for_6_0_1__6_0_1__6_0_1__6_0_1;\n", outputs["RegisteredNames.cpp"])
        self.assertIn("  ::fast::native::add_half(context, self, other, alpha, out);\n", outputs["KernelTable.cpp"])
        self.assertIn("  return ::slow::native::add(context, self, other, alpha, out);", outputs["Functions.h"])

    def test_kernels_that_the_selected_keys_reach(self) -> None:
        float_kernel, half_kernel = "fast::native::add_float", "fast::native::add_half"
        self.assertEqual(self._kernels(_SPECIALIZED, _FLOAT), {float_kernel: [_FLOAT]})
        self.assertEqual(self._kernels(_SPECIALIZED, _DOUBLE), {"slow::native::add": ["default"]})
        self.assertEqual(
            self._kernels(_SPECIALIZED, _HALF, _DOUBLE), {half_kernel: [_HALF], "slow::native::add": ["default"]}
        )
        for keys in (["default"], ["default", _FLOAT]):
            self.assertEqual(len(self._kernels(_SPECIALIZED, *keys)), 3)

    def test_kernels_of_a_selected_dtype(self) -> None:
        """All that a tensor of the dtype reaches, in whatever call: beside calls, a model may have it in lists."""
        float_kernel, half_kernel = {"fast::native::add_float": [_FLOAT]}, {"fast::native::add_half": [_HALF]}
        default = {"slow::native::add": ["default"]}
        self.assertEqual(self._kernels(_SPECIALIZED, "v1/6;"), float_kernel | default)
        self.assertEqual(self._kernels(_SPECIALIZED, "v1/7;"), default)
        self.assertEqual(self._kernels(_SPECIALIZED, _FLOAT, "v1/5;"), float_kernel | half_kernel | default)
        functions = _SPECIALIZED.partition("    - arg_meta: null")[0]
        self.assertEqual(self._kernels(functions, _FLOAT, "v1/7;"), float_kernel)
        self.assert_refused(lambda: self._kernels(functions, "v1/7;"), "missing-kernel-key functions.yaml:2:7")

    def test_call_with_one_tensor_without_dimensions(self) -> None:
        """Its key is also that of a dtype."""
        custom_ops = """
- func: my_ops::count(Tensor x) -> int
  kernels:
    - {arg_meta: {x: [Float, []]}, kernel_name: fast::count_one}
    - {arg_meta: {x: [Float, [0]]}, kernel_name: fast::count}
    - {arg_meta: {x: [Half, []]}, kernel_name: fast::count_half}
"""
        selection = self._select("a.yaml", '--ops_dict={"my_ops::count": ["v1/6;"]}')
        outputs = self._generate(selection, custom_ops=custom_ops)
        self.assertIn('    Kernel("my_ops::count", "v1/6;", guarded<', outputs["KernelTable.cpp"])
        self.assertNotIn("count_half", outputs["KernelTable.cpp"])

    def test_no_kernel_for_a_selected_key(self) -> None:
        functions = _SPECIALIZED.partition("    - arg_meta: null")[0]
        self.assertEqual(len(self._kernels(functions, _FLOAT, _HALF)), 2)
        # A list that wants every kernel there is makes no kernel for the call.
        for keys in ((_FLOAT, _DOUBLE), ("default", _FLOAT, _DOUBLE)):
            self.assert_refused(
                functools.partial(self._kernels, functions, *keys), "missing-kernel-key functions.yaml:2:7"
            )

    def test_kernel_of_a_library_for_the_rest(self) -> None:
        """The error names the kernel of the library's YAML, and the named kernel is for all other calls."""
        own = _SPECIALIZED.partition("    - arg_meta: null")[0]
        of_library = "- op: add.out\n  kernels: [{arg_meta: null, kernel_name: portable::add}]\n"
        flags = [f"--kernel_yaml={self.write('library.yaml', of_library)}"]
        selection = self._select("a.yaml", f'--ops_dict={{"aten::add.out": ["{_FLOAT}", "{_DOUBLE}"]}}')
        refused = functools.partial(self._generate, selection, functions=own, flags=flags)
        self.assert_refused(refused, "missing-kernel-key functions.yaml:2:7")
        line = "    - {arg_meta: null, kernel_name: portable::add}\n"
        manifest = json.loads(self._generate(selection, functions=own + line, flags=flags)["registered.json"])
        self.assertEqual(
            {kernel["function"]: kernel["keys"] for kernel in manifest["operators"][0]["kernels"]},
            {"fast::native::add_float": [_FLOAT], "portable::native::add": ["default"]},
        )

    def test_operator_without_a_default_kernel_has_no_function(self) -> None:
        functions = _SPECIALIZED.partition("    - arg_meta: null")[0]
        outputs = self._generate(self._select("a.yaml", "--ops=aten::add.out"), functions=functions)
        self.assertIn("// Has no kernel for every dtype and dim order; call one of its kernels", outputs["Functions.h"])

    def test_fallback(self) -> None:
        fallback = self.write(
            "fallback.yaml",
            "".join(f"- op: {name}\n  kernels: [{{kernel_name: portable::k}}]\n" for name in ("add.out", "sub.out")),
        )
        selection = self._select("a.yaml", "--ops=aten::add.out", "--ops=aten::sub.out")
        outputs = self._generate(selection, flags=[f"--fallback_yaml={fallback}"])
        manifest = json.loads(outputs["registered.json"])
        self.assertEqual(
            [operator["kernels"][0]["function"] for operator in manifest["operators"]],
            ["torch::executor::native::add_out", "portable::native::k"],
        )

    def _functions(self, outputs: dict[str, str]) -> list[str]:
        """The kernel of each operator."""
        operators = json.loads(outputs["registered.json"])["operators"]
        return [operator["kernels"][0]["function"] for operator in operators]

    def test_yamls_of_kernel_libraries(self) -> None:
        flags = [
            "--kernel_yaml="
            + self.write(
                f"{library}.yaml",
                "".join(f"- op: {name}.out\n  kernels: [{{kernel_name: {library}::k}}]\n" for name in names),
            )
            for library, names in {"near": ("add", "sub"), "far": ("mul",)}.items()
        ]
        outputs = self._generate(self._select("a.yaml", "--ops=aten::add.out", "--ops=aten::sub.out"), flags=flags)
        self.assertEqual(self._functions(outputs), ["torch::executor::native::add_out", "near::native::k"])
        sources = "// Generated from functions.yaml and custom_ops.yaml and near.yaml; do not edit."
        self.assertIn(sources, outputs["RegisterKernels.cpp"])
        selected = self._select("a.yaml", "--ops=aten::div.out")
        self.assert_refused(lambda: self._generate(selected, flags=flags), "missing-operator //ops:lib")
        # What the library itself names is all of its operators, and what it asks for by name.
        outputs = self._generate(
            self._select("all.yaml", "--include_all_operators"),
            self._select("b.yaml", "--ops=aten::mul.out"),
            flags=flags,
        )
        self.assertIn("far::native::k", self._functions(outputs))
        self.assertNotIn("near::native::k", self._functions(outputs))

    def test_yamls_of_kernel_libraries_alone(self) -> None:
        yaml = self.write("functions.yaml", _FUNCTIONS)
        selection = self._select("all.yaml", "--include_all_operators")
        boxed_kernels = f"--boxed_kernels={self.directory / 'boxed_kernels'}"
        outputs = [f"--{flag}={self.directory / name}" for flag, name in _OUTPUTS.items()]
        common = ["generate", "--max_kernels=2000", "--label=//ops:lib", f"--selection={selection}", boxed_kernels]
        written = []
        for names in (["--kernel_yaml"], ["--functions_yaml"], ["--functions_yaml", "--kernel_yaml"]):
            self.run_command(*common, *outputs, *(f"{flag}={yaml}" for flag in names))
            written.append((self.directory / "registered.json").read_text())
        self.assertEqual(written, [written[0]] * 3)

    def test_operator_of_two_kernel_libraries(self) -> None:
        flags = [
            f"--kernel_yaml={self.write(name, '- op: sub.out' + chr(10) + '  kernels: [{kernel_name: k}]' + chr(10))}"
            for name in ("a.yaml", "b.yaml")
        ]
        self.assert_refused(
            lambda: self._generate(self._select("s.yaml", "--ops=aten::sub.out"), flags=flags),
            "duplicate-operator b.yaml:1:7",
        )

    def test_manual_registration(self) -> None:
        header = self.directory / "RegisterKernels.h"
        outputs = self._generate(
            self._select("a.yaml", "--ops=aten::add.out"),
            flags=[f"--registration_header={header}"],
        )
        self.assertIn("inline executorch::runtime::Error register_lib_kernels() {\n", header.read_text())
        self.assertIn("Span<const executorch::ET_RUNTIME_NAMESPACE::Kernel> lib_kernels() {\n", header.read_text())
        self.assertIn("#ifdef RULES_EXECUTORCH_KERNELS_OF_lib\n", header.read_text())
        self.assertIn("docs/errors.md#same-name-in-cpp", header.read_text())
        self.assertNotIn("kRegistered", outputs["RegisterKernels.cpp"])
        self.assertNotIn("kernel_registered_by_two_libraries", outputs["KernelTable.cpp"])

    def test_one_more_operator_leaves_the_registration(self) -> None:
        one = self._generate(self._select("a.yaml", "--ops=aten::add.out"))
        two = self._generate(self._select("b.yaml", "--ops=aten::add.out", "--ops=aten::topk.values"))
        self.assertEqual(one["RegisterKernels.cpp"], two["RegisterKernels.cpp"])
        self.assertNotEqual(one["RegisteredNames.cpp"], two["RegisteredNames.cpp"])

    def test_a_registered_kernel_has_a_name_of_its_own(self) -> None:
        names = ("a::b.c", "a::b__c", "a__b::c", "a_::b.c", "a::_b.c", "a::b_.c", "a::b._c", "a::b_c", "a_b::c", "a::b")
        custom_ops = "".join(
            f"- func: {name}(Tensor(a!) x) -> ()\n  kernels: [{{kernel_name: k::f}}]\n" for name in names
        )
        outputs = self._generate(self._select("a.yaml", "--include_all_operators"), custom_ops=custom_ops)
        defined = re.findall(r"^char (\w+)__for_any;$", outputs["RegisteredNames.cpp"], re.MULTILINE)
        self.assertEqual(len(set(defined)), len(names) + 3)
        self.assertLessEqual({"a__b__c", "a__b_c", "a_b__c", "a__b", "a__b__c__1_4"}, set(defined))

    def test_operators_of_one_name_in_cpp(self) -> None:
        names = ("a::class", "a::class_", "class::b", "class_::b", "Tensor::b", "optional::b", "and::eq", "and::eq_")
        custom_ops = "".join(
            f"- func: {name}(Tensor(a!) class, Tensor(b!) class_) -> ()\n  kernels: [{{kernel_name: k::f}}]\n"
            for name in names
        )
        outputs = self._generate(self._select("a.yaml", "--include_all_operators"), custom_ops=custom_ops)
        functions = outputs["Functions.h"]
        self.assertEqual(functions.count("The same function as that of a::class in C++"), 1)
        self.assertEqual(functions.count("The same function as that of class::b in C++"), 1)
        self.assertIn("\nnamespace torch::executor::Tensor_ {\n", functions)
        self.assertIn("\nnamespace torch::executor::optional_ {\n", functions)
        self.assertIn("::k::native::f(context, class__, class_);\n", outputs["KernelTable.cpp"])
        boxed = re.findall(r"^void (\w+)\(", outputs["KernelTable.cpp"], re.MULTILINE)
        self.assertEqual(len(set(boxed)), len(boxed))
        self.assertNotIn("and_eq", boxed)

    def test_odd_labels(self) -> None:
        """A label is shown in comments and messages, and is neither code nor a format there."""
        for label, name in (
            ('//odd dir/%s:1 "two" %d', "_1__two___d"),
            ("//a:\u202ehidden", "_hidden"),
            ("//a:é??/", "____"),
        ):
            with self.subTest(label):
                header = self.directory / "RegisterKernels.h"
                selection = self._select("a.yaml", "--ops=aten::add.out")
                outputs = self._generate(selection, flags=[f"--label={label}"])
                self.assertRegex(outputs["RegisterKernels.cpp"], rf"\nnamespace {name}_\w{{8}} {{\n")
                self.assertIn('"cannot register the %zu kernels of %s: error', outputs["RegisterKernels.cpp"])
                del outputs["registered.json"]
                self._generate(selection, flags=[f"--label={label}", f"--registration_header={header}"])
                self.assertIn(f" register_{name}_kernels() {{\n", header.read_text())
                for text in [*outputs.values(), header.read_text()]:
                    self.assertNotIn("\u202e", text)

    def test_without_exception_boundary(self) -> None:
        selection = self._select("a.yaml", "--ops=aten::add.out")
        table = self._generate(selection, flags=["--nosupport_exceptions"])["KernelTable.cpp"]
        self.assertIn('    Kernel("aten::add.out", aten_add_out),\n', table)
        self.assertNotIn("catch", table)

    def test_many_kernels_are_spread_over_sources(self) -> None:
        custom_ops = "".join(
            f"- func: my_ops::op{i}.out(*, Tensor(a!) out) -> Tensor(a!)\n  kernels: [{{kernel_name: k::f}}]\n"
            for i in range(100)
        )
        outputs = self._generate(self._select("a.yaml", "--include_all_operators"), custom_ops=custom_ops)
        calls = [outputs[name].count("k::native::f(context") for name in ("KernelTable.cpp", "BoxedKernels1.cpp")]
        self.assertEqual(sum(calls), 100)
        self.assertLess(max(calls) - min(calls), 5)

    def test_instruction_sets_without_all_files(self) -> None:
        flag = f"--chosen_kernels={self.directory / 'ChosenKernels.cpp'}"
        with self.assertRaisesRegex(flags.Error, "--chosen_kernels and --instruction_set need each other"):
            self._generate(self._select("a.yaml", "--ops=aten::add.out"), flags=[flag])

    def test_no_yaml(self) -> None:
        selection = self._select("a.yaml", "--include_all_operators")
        flags = [f"--{flag}={self.directory / name}" for flag, name in _OUTPUTS.items()]
        flags.append(f"--boxed_kernels={self.directory / 'boxed_kernels'}")
        self.assert_refused(
            lambda: self.run_command(
                "generate", "--max_kernels=2000", "--label=//ops:lib", f"--selection={selection}", *flags
            ),
            "no-yaml //ops:lib",
        )


if __name__ == "__main__":
    absltest.main()
