"""Tests of the converter, on files in the forms of ExecuTorch's own and on what its guides print."""

from __future__ import annotations

import ast
import subprocess
from pathlib import Path

from absl.testing import absltest

from tools.from_buck import from_buck
from tools.from_buck.starlark import StarlarkError

_FORMS = Path("tools/from_buck/tests/forms")
_DOCUMENTS = Path("tests/documents")


def _calls(build: str) -> list[tuple[str, dict[str, str]]]:
    """The targets of a BUILD file: each rule with its attributes."""
    calls = [node.value for node in ast.parse(build).body if isinstance(node, ast.Expr)]
    return [
        (
            call.func.id,
            {k.arg or "": ast.unparse(k.value) for k in call.keywords}
            | {str(i): ast.unparse(a) for i, a in enumerate(call.args)},
        )
        for call in calls
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id != "load"
    ]


def _parameters(arguments: str) -> list[str]:
    call = ast.parse(f"f({arguments})", mode="eval").body
    assert isinstance(call, ast.Call)
    return [keyword.arg or "" for keyword in call.keywords]


class FormsTest(absltest.TestCase):
    def test_build_file_is_what_the_converter_prints(self) -> None:
        conversion = from_buck.convert(_FORMS / "TARGETS", "TARGETS", module="")
        self.assertEqual((_FORMS / "BUILD.bazel").read_text(), conversion.text)
        self.assertEqual((_FORMS / "not_carried_over.txt").read_text().splitlines(), list(conversion.notes))

    def test_bzl_file_itself(self) -> None:
        conversion = from_buck.convert(_FORMS / "targets.bzl", "targets.bzl", module="")
        self.assertIn('name = "both_lib"', conversion.text)
        self.assertNotIn("yamls", conversion.text)

    def test_binary_registers_the_operators(self) -> None:
        listed = subprocess.run([_FORMS / "runner", "--list_operators"], check=True, capture_output=True, text=True)
        self.assertIn("forms::double.out", listed.stdout)
        self.assertNotIn("forms::triple.out", listed.stdout)


class DocumentsTest(absltest.TestCase):
    """What ExecuTorch's guides print becomes targets that are built and tested where they are."""

    def check(self, folder: str) -> None:
        conversion = from_buck.convert(_DOCUMENTS / folder / "TARGETS", "TARGETS", module="")
        self.assertEqual((), conversion.notes)
        built = _calls((_DOCUMENTS / folder / "BUILD.bazel").read_text())
        converted = _calls(conversion.text)
        self.assertTrue(converted)
        for target in converted:
            self.assertIn(target, built)

    def test_aten_mode(self) -> None:
        self.check("aten_mode")

    def test_custom_ops(self) -> None:
        self.check("custom_ops")

    def test_lean_mode(self) -> None:
        self.check("lean_mode")


class TextTest(absltest.TestCase):
    def convert(self, text: str) -> from_buck.Conversion:
        path = Path(self.create_tempfile("BUCK", text).full_path)
        return from_buck.convert(path, "BUCK", "@rules_executorch")

    def test_every_parameter_of_a_generated_library(self) -> None:
        carried = (
            'custom_ops_aten_kernel_deps = ["//a:b"], custom_ops_requires_aot_registration = False,'
            "manual_registration = True, custom_ops_requires_runtime_registration = False,"
            "dtype_selective_build = True, aten_mode = True,"
            "expose_operator_symbols = True, support_exceptions = False, include_all_prim_ops = False,"
            'kernel_deps = ["//a:b"], compiler_flags = ["-g"], functions_yaml_target = "//a:f", deps = ["//a:d"],'
            'custom_ops_yaml_target = "//a:c",'
            'fallback_yaml_target = "//a:y", define_static_targets = True, visibility = ["PUBLIC"]'
        )
        left = (
            'platforms = ["a"], xplat_deps = ["a"], fbcode_deps = ["a"], feature = "a", compatible_with = ["a"],'
            "use_default_aten_ops_lib = False"
        )
        conversion = self.convert(f'executorch_generated_lib(name = "lib", {carried}, {left})')
        ((_, attributes),) = _calls(conversion.text)
        self.assertEqual({"name", *_parameters(carried)}, set(attributes))
        for parameter in _parameters(left):
            self.assertTrue(any(f"{parameter} of lib is left out" in note for note in conversion.notes), parameter)

    def test_every_parameter_of_a_selection(self) -> None:
        conversion = self.convert(
            'et_operator_library(name = "a", ops = ["a::b.out"], model = "//a:m.pte", include_all_operators = True,\n'
            '  ops_schema_yaml_target = "//a:y", deps = [":b"], define_static_targets = True)\n'
            'et_operator_library(name = "b", server_generated_yaml_target = "//a:s", include_all_ops = True)\n'
        )
        (_, first), (_, second) = _calls(conversion.text)
        names = {
            "define_static_targets",
            "deps",
            "include_all_operators",
            "model",
            "name",
            "ops",
            "ops_schema_yaml_target",
        }
        self.assertEqual(names, set(first))
        self.assertEqual({"include_all_ops", "name", "server_generated_yaml_target"}, set(second))
        self.assertEqual((), conversion.notes)

    def test_every_parameter_of_a_library_for_pytorch(self) -> None:
        carried = (
            'yaml_target = "//a:y", kernels = ["//a:k"], deps = ["//a:d"], compiler_flags = ["-g"],'
            'visibility = ["PUBLIC"]'
        )
        meaningless = "define_static_target = True, support_exceptions = False"
        conversion = self.convert(f'exir_custom_ops_aot_lib(name = "n", {carried}, {meaningless}, platforms = ["a"])')
        ((_, attributes),) = _calls(conversion.text)
        self.assertEqual({"name", *_parameters(carried)}, set(attributes))
        (note,) = conversion.notes
        self.assertIn("platforms of n is left out", note)

    def test_every_parameter_of_an_operator_s_library(self) -> None:
        carried = 'deps = ["//a:d"]'
        left = 'android_deps = ["//a:e"], _allow_third_party_deps = True, _aten_mode_deps = []'
        conversion = self.convert(f'define_op_target(name = "op_n", is_aten_op = True, {carried}, {left})')
        ((rule, attributes),) = _calls(conversion.text)
        self.assertEqual("et_kernel_library", rule)
        self.assertIn("deps", attributes)
        (note,) = conversion.notes
        self.assertIn("android_deps of op_n is left out: only Buck knows it", note)

    def test_every_other_macro(self) -> None:
        """Each becomes a target, or is left out with what to use in its place."""
        for macro in (
            "build_optimized_lib",
            "build_portable_header_lib",
            "build_portable_lib",
            "check_recursive_dependencies",
            "codegen_function_header_wrapper",
            "copy_files",
            "define_supported_features_lib",
            "dtype_header_genrule",
            "executorch_ops_check",
            "generated_op_test",
            "op_test",
            "prim_ops_registry_selective",
            "selected_operators_genrule",
            "selected_prim_operators_genrule",
        ):
            conversion = self.convert(f'{macro}(name = "n")')
            self.assertTrue(bool(_calls(conversion.text)) != bool(conversion.notes), macro)
            self.assertNotIn("is not known here", "".join(conversion.notes))

    def test_places_of_what_is_unknown(self) -> None:
        conversion = self.convert(
            'load("//elsewhere:defs.bzl", "name_of", "special_library")\n'
            'cxx_library(name = name_of("a"))\n'
            "special_library(\n"
            '    name = "b",\n'
            ")\n"
            "if unheard_of:\n"
            '    cxx_library(name = "c")\n'
            'cxx_library(name = "d", deps = [":b"], srcs = glob(["*.cpp"]) + ["é.cpp"], colors = ["red"])\n'
        )
        self.assertEqual(
            (
                "BUCK:2:1: cxx_library is left out: its name, name_of(), is not known here",
                "BUCK:3:1: special_library() is not known here; what it defines is left out",
                "BUCK:6:4: unheard_of is not known here; taken to be false",
                "BUCK:8:1: :b, in deps of d, is no target here",
                "BUCK:8:76: colors of d is left out: cc_library has no such attribute",
            ),
            conversion.notes,
        )
        self.assertIn('srcs = glob(["*.cpp"]) + ["é.cpp"],', conversion.text)
        self.assertNotIn('"c"', conversion.text)

    def test_dtypes(self) -> None:
        conversion = self.convert(
            'et_operator_library(name = "a", ops_dict = {"a::b.out": [ScalarType(t) for t in ["QUInt4X2", "Uint16"]]})'
        )
        ((_, attributes),) = _calls(conversion.text)
        self.assertEqual("{'a::b.out': [ScalarType.QUInt4x2, ScalarType.UInt16]}", attributes["ops_dict"])

    def test_labels(self) -> None:
        conversion = self.convert(
            'cxx_library(name = "a", exported_deps = ["//executorch/kernels/quantized/cpu:op_add",\n'
            '  "//executorch/extension/data_loader:file_data_loader", "//mine:kernels", "root//mine:more",\n'
            '  "fbsource//third-party/x:x", ":b[header]"], visibility = ["//mine/...", "//executorch/mine/..."])\n'
        )
        ((_, attributes),) = _calls(conversion.text)
        deps = [
            "//mine:kernels",
            "//mine:more",
            "@rules_executorch//kernels/quantized:op_add",
            "@rules_executorch//runtime:module",
        ]
        self.assertEqual(str(deps), attributes["deps"])
        self.assertEqual("['//mine:__subpackages__']", attributes["visibility"])
        self.assertEqual(2, len(conversion.notes))

    def test_flow(self) -> None:
        conversion = self.convert(
            "def numbers(first, *rest, factor = 2, **others):\n"
            "    found = {}\n"
            "    for index, number in enumerate([first] + list(rest)):\n"
            "        if number == 3:\n"
            "            continue\n"
            "        if index > 3:\n"
            "            break\n"
            '        found["n{}".format(number * factor)] = others.get("end", "")\n'
            "    return found\n"
            'for name, end in numbers(1, 3, 2, 4, 5, factor = 3, end = "_x").items():\n'
            '    sources = [file for file in ["a.cpp", "b.h"] if file.endswith(".cpp")]\n'
            "    cxx_library(name = name + end if end else name, srcs = sources)\n"
        )
        self.assertEqual(
            ["'n3_x'", "'n6_x'", "'n12_x'"], [attributes["name"] for _, attributes in _calls(conversion.text)]
        )
        self.assertIn('srcs = ["a.cpp"]', conversion.text)

    def test_no_starlark(self) -> None:
        for text, place in (
            ("cxx_library(\n", "BUCK:1:12"),
            ("\n  import os\n", "BUCK:2:"),
            ("a = 1\nimport os\n", "BUCK:2:1"),
            ("while True:\n    pass\n", "BUCK:1:1"),
            ("for i in range(1000000000):\n    a = i\n", "BUCK:"),
        ):
            with self.assertRaises(StarlarkError) as raised:
                self.convert(text)
            self.assertTrue(str(raised.exception).startswith(place), raised.exception)


if __name__ == "__main__":
    absltest.main()
