from __future__ import annotations

import functools
import itertools
import json
from pathlib import Path

import yaml
from absl.testing import absltest

from codegen.inputs import selected_operators
from codegen.model import selection
from codegen.tests import case, programs


def _call(dtype: int) -> programs.Call:
    """A call of relu with one-dimensional tensors."""
    return programs.Call("aten::relu.out", (programs.Tensor(dtype, (0,)),) * 3)


class SelectCommandTest(case.TestCase):
    def _select(self, *arguments: str) -> str:
        output = str(self.directory / "selected_operators.yaml")
        self.run_command("select", "--output", output, *arguments)
        return Path(output).read_text()

    def test_format(self) -> None:
        """The fields of ExecuTorch's format, read by PyYAML rather than by our own reader."""
        text = self._select("--label", "//ops:mine", "--ops", "aten::mul.out", "--ops", "aten::add.out")
        operator = {
            "debug_info": ["//ops:mine"],
            "include_all_overloads": False,
            "is_root_operator": True,
            "is_used_for_training": True,
        }
        self.assertEqual(
            yaml.safe_load(text),
            {
                "build_features": [],
                "custom_classes": [],
                "et_kernel_metadata": {"aten::add.out": ["default"], "aten::mul.out": ["default"]},
                "include_all_non_op_selectives": False,
                "include_all_operators": False,
                "kernel_metadata": {},
                "operators": {"aten::add.out": operator, "aten::mul.out": operator},
            },
        )
        self.assertLess(text.index("aten::add.out"), text.index("aten::mul.out"))

    def test_any_text_is_written_so_that_it_is_read(self) -> None:
        texts = [
            "no",
            "",
            " x",
            "a: b",
            "a::b:",
            "a/b #c",
            "é::x",
            "a::\U0001f600",
            "\x07\x85",
            "x\ny",
            "null",
            "1/2",
            "v1",
        ]
        texts += [
            "@repo//a:b",
            "//a:b",
            "'a::b'",
            '"a::b"',
            "\\a::b",
            "default",
            "A::b.c",
            "v1/6;0,1|5;",
            "[a/b]",
            "a/b\t",
        ]
        names = {text: selection.SelectedOperator(frozenset(texts), kernel_keys=frozenset({text})) for text in texts}
        for selected in (selection.Selection(names), selection.Selection({}, include_all=True)):
            path = str(self.directory / "selected_operators.yaml")
            selected_operators.write(selected, path)
            content = yaml.safe_load(Path(path).read_text())
            self.assertEqual(content["et_kernel_metadata"], {name: [name] for name in selected.operators})
            for operator in content["operators"].values():
                self.assertEqual(operator["debug_info"], sorted(texts))
            self.assertEqual(selected_operators.read(path), selected)

    def test_models(self) -> None:
        arguments = []
        for name, operators in (("a", ["aten::add.out", "aten::mul.out"]), ("b", ["aten::mul.out"])):
            path = self.write(f"{name}.pte", programs.build({"forward": [operators]}))
            arguments += ["--model", path, "--model_name", f"//models:{name}"]
        selected = yaml.safe_load(self._select(*arguments))["operators"]
        self.assertEqual(
            {name: operator["debug_info"] for name, operator in selected.items()},
            {"aten::add.out": ["//models:a"], "aten::mul.out": ["//models:a", "//models:b"]},
        )

    def test_order_and_grouping_do_not_matter(self) -> None:
        label = ("--label", "//ops:mine")
        model = self.write("model.pte", programs.build({"forward": [["aten::relu.out", _call(5)]]}))
        sources = {
            "x": [*label, "--ops", "aten::add.out"],
            "y": [*label, "--ops_dict", '{"my_ops::mul3.out": ["Half", "Float"], "aten::relu.out": ["Int"]}'],
            "z": ["--model", model, "--model_name", "//models:m"],
        }
        selections = {name: self.write(f"{name}.yaml", self._select(*flags)) for name, flags in sources.items()}
        expected = self._select(*sources["x"], *sources["y"][2:], *sources["z"])
        for names in itertools.permutations("xyz"):
            self.assertEqual(self._select(*(f"--selection={selections[name]}" for name in names)), expected)
        nested = self.write(
            "nested.yaml", self._select(f"--selection={selections['z']}", f"--selection={selections['x']}")
        )
        self.assertEqual(self._select(f"--selection={nested}", *sources["y"], "--ops", "aten::add.out"), expected)
        backwards = '{"aten::relu.out": ["int"], "my_ops::mul3.out": ["FLOAT", "v1/5;", "Half"]}'
        self.assertEqual(self._select(f"--selection={nested}", *label, "--ops_dict", backwards), expected)

    def test_ops_dict(self) -> None:
        """Names of dtypes as the runtime's scalar_type.h has them, keys as its operator_registry.h renders them."""
        wanted = {
            "aten::add.out": ["Half", "BFloat16", "UInt64", "ComplexFloat", "QUInt4x2", "Float8_e5m2"],
            "aten::mul.out": ["v1/6;0,1|4;0|6;", "default"],
            "aten::sub.out": [],
        }
        selected = yaml.safe_load(self._select("--ops_dict", json.dumps(wanted)))
        self.assertEqual(
            selected["et_kernel_metadata"],
            {
                "aten::add.out": ["v1/15;", "v1/16;", "v1/23;", "v1/29;", "v1/5;", "v1/9;"],
                "aten::mul.out": ["default", "v1/6;0,1|4;0|6;"],
                "aten::sub.out": ["default"],
            },
        )

    def test_bad_ops_dict(self) -> None:
        for text, id_ in (
            ('{"aten::add.out": ["Flaot"]}', "bad-ops-dict"),
            ('{"aten::add.out": ["v1/6;0,"]}', "bad-ops-dict"),
            ('{"aten::add.out": ["v1/6;0,2"]}', "bad-ops-dict"),
            ('{"aten::add.out": ["v1/30;0"]}', "bad-ops-dict"),
            ('{"add.out": []}', "bad-operator-name"),
            ('{"aten::add.out": "Float"}', "wrong-flags"),
            ("[", "wrong-flags"),
        ):
            select = functools.partial(self._select, "--label", "//ops:mine", "--ops_dict", text)
            self.assert_refused(select, f"{id_} //ops:mine")

    def test_all_of_a_bad_ops_dict(self) -> None:
        self.assert_refused(
            lambda: self._select("--ops_dict", '{"aten::add.out": ["Flaot", "Float", "v1"]}'),
            *["bad-ops-dict --ops"] * 2,
        )

    def test_ops_schema_yaml(self) -> None:
        path = self.write(
            "ops.yaml",
            """
- op: add.out
- op: aten::mul.out
  kernels: [{arg_meta: null, kernel_name: custom::mul_out}]
- func: my_ops::mul3.out(Tensor input, *, Tensor(a!) out) -> Tensor(a!)
""",
        )
        selected = yaml.safe_load(self._select("--ops_schema_yaml", path, "--ops_schema_yaml_name", "//ops:ops.yaml"))
        self.assertEqual(
            selected["et_kernel_metadata"],
            {"aten::add.out": ["default"], "aten::mul.out": ["default"], "my_ops::mul3.out": ["default"]},
        )
        self.assertEqual(selected["operators"]["my_ops::mul3.out"]["debug_info"], ["//ops:ops.yaml"])

    def test_bad_ops_schema_yaml(self) -> None:
        path = self.write("ops.yaml", "- op: ad.out\n- 3\n- func: nonsense\n")
        self.assert_refused(
            lambda: self._select("--ops_schema_yaml", path),
            "unknown-operator ops.yaml:1:7",
            "wrong-yaml-type ops.yaml:2:3",
            "malformed-schema ops.yaml:3:17",
        )

    def test_server_generated_yaml(self) -> None:
        """Copied as it is, comments and all."""
        text = (
            "# From the server.\noperators: {'aten::add.out': {is_root_operator: true}}\ninclude_all_operators: false\n"
        )
        path = self.write("server.yaml", text)
        self.assertEqual(self._select("--server_generated_yaml", path), text)

    def test_bad_server_generated_yaml(self) -> None:
        path = self.write("server.yaml", "operators: [aten::add.out]\n")
        self.assert_refused(lambda: self._select("--server_generated_yaml", path), "not-a-selection server.yaml:1:12")

    def test_server_generated_yaml_beside_others(self) -> None:
        path = self.write("server.yaml", "operators: {}\n")
        flags = ("--server_generated_yaml_name", "//s:y", "--ops", "aten::add.out", "--include_all_operators")
        self.assert_refused(lambda: self._select("--server_generated_yaml", path, *flags), "wrong-flags //s:y")

    def _prim_ops_header(self, *flags: str) -> str:
        path = self.directory / "selected_prim_ops.h"
        self._select("--prim_ops_header", str(path), *flags)
        return path.read_text()

    def test_prim_ops_header(self) -> None:
        """The guards as register_prim_ops.cpp spells them, for operators of a list, of a model and of a selection."""
        model = self.write(
            "model.pte", programs.build({"forward": [["executorch_prim::et_view.default", "aten::add.out"]]})
        )
        other = self.write("other.yaml", self._select("--ops=aten::_local_scalar_dense"))
        header = self._prim_ops_header(
            *("--ops=aten::sym_size.int", "--ops=aten::sym_numel", "--ops=aten::mul.out", f"--selection={other}"),
            *("--model", model, "--model_name=//m:m"),
        )
        self.assertEqual(
            [line for line in header.splitlines() if line.startswith("#")],
            [
                "#pragma once",
                "#define EXECUTORCH_ENABLE_PRIM_OPS_SELECTIVE_BUILD",
                "#define INCLUDE_ATEN_LOCAL_SCALAR_DENSE",
                "#define INCLUDE_ATEN_SYM_NUMEL",
                "#define INCLUDE_ATEN_SYM_SIZE_INT",
                "#define INCLUDE_EXECUTORCH_PRIM_ET_VIEW_DEFAULT",
            ],
        )

    def test_prim_ops_header_that_keeps_all(self) -> None:
        for flags in (("--ops=aten::add.out",), ("--include_all_operators", "--ops=aten::sym_size.int")):
            self.assertNotIn("#define", self._prim_ops_header(*flags))

    def test_matrix(self) -> None:
        """A selection of its own, a model's, and one that a dependency unites of both."""
        json_path, text_path = self.directory / "op_matrix.json", self.directory / "op_matrix.txt"
        outputs = ("--matrix_json", str(json_path), "--matrix_text", str(text_path))
        model = self.write("model.pte", programs.build({"forward": [[_call(5), _call(6)]]}))
        self.write("inner.yaml", self._select("--label=//ops:inner", "--model", model, "--model_name=//m:a", *outputs))
        inner = self.write("inner.json", json_path.read_bytes())
        selection = str(self.directory / "inner.yaml")
        self._select(
            *("--label=//ops:outer", "--ops=aten::mul.out", '--ops_dict={"aten::relu.out": ["Int"]}'),
            *("--selection", selection, "--matrix", inner, *outputs),
        )
        self.assertEqual(
            json.loads(json_path.read_text()),
            {
                "selection": "//ops:outer",
                "sources": ["//m:a", "//ops:outer"],
                "include_all_operators": [],
                "operators": {
                    "aten::mul.out": {"//ops:outer": {"dtypes": None, "kernel_keys": ["default"]}},
                    "aten::relu.out": {
                        "//m:a": {"dtypes": ["Half", "Float"], "kernel_keys": ["v1/5;0|5;0|5;0", "v1/6;0|6;0|6;0"]},
                        "//ops:outer": {"dtypes": ["Int"], "kernel_keys": ["v1/3;"]},
                    },
                },
            },
        )
        self.assertEqual(
            text_path.read_text(),
            """The operators of //ops:outer, and who asks for them with which dtypes:

[1] //m:a
[2] //ops:outer

                [1]         [2]
aten::mul.out   -           any
aten::relu.out  Half Float  Int
""",
        )

    def test_matrix_of_everything(self) -> None:
        path = self.directory / "op_matrix.txt"
        self._select("--label=//ops:all", "--include_all_operators", "--matrix_text", str(path))
        self.assertIn("[1] //ops:all (all operators)\n", path.read_text())

    def test_bad_matrix(self) -> None:
        for text in ("", "[]", '{"sources": ["a"], "operators": {"x": 1}}'):
            path = self.write("bad.json", text)
            self.assert_refused(functools.partial(self._select, "--matrix", path), "wrong-artifact bad.json")

    def test_include_all_operators(self) -> None:
        everything = self.write("all.yaml", self._select("--include_all_operators"))
        selected = yaml.safe_load(self._select("--ops", "aten::add.out", "--selection", everything))
        self.assertTrue(selected["include_all_operators"])
        self.assertEqual(list(selected["operators"]), ["aten::add.out"])

    def test_no_paths(self) -> None:
        model = self.write("model.pte", programs.build({"forward": [["aten::add.out"]]}))
        text = self._select("--model", model, "--model_name", "//models:m", "--ops", "aten::mul.out")
        self.assertNotIn(str(self.directory), text)
        self.assertNotIn("model.pte", text)

    def test_selection_of_executorch(self) -> None:
        """What ExecuTorch writes beyond what we write: kernel keys, no debug info, operators that are no roots."""
        theirs = self.write(
            "theirs.yaml",
            """
et_kernel_metadata:
  aten::add.out:
  - v1/6;0,1|6;0,1|6;0,1|6;0,1
operators:
  aten::add.out: {debug_info: [null], include_all_overloads: true, is_root_operator: true}
  aten::mul.out: {is_root_operator: false}
""",
        )
        selected = yaml.safe_load(self._select("--selection", theirs, "--ops", "aten::add.out", "--label", "//a:b"))
        self.assertEqual(list(selected["operators"]), ["aten::add.out", "aten::mul.out"])
        self.assertFalse(selected["operators"]["aten::mul.out"]["is_root_operator"])
        self.assertEqual(selected["operators"]["aten::add.out"]["debug_info"], ["//a:b"])
        self.assertTrue(selected["operators"]["aten::add.out"]["include_all_overloads"])
        self.assertEqual(
            selected["et_kernel_metadata"],
            {"aten::add.out": ["default", "v1/6;0,1|6;0,1|6;0,1|6;0,1"], "aten::mul.out": ["default"]},
        )

    def test_forgotten_namespace(self) -> None:
        self.assert_refused(
            lambda: self._select("--label", "//ops:mine", "--ops", "add.out"), "bad-operator-name //ops:mine"
        )

    def test_all_findings_at_once(self) -> None:
        model = self.write("model.pte", b"nonsense")
        selection = self.write("bad.yaml", "operators: 3\n")
        self.assert_refused(
            lambda: self._select("--ops=a b", "--selection", selection, "--model", model, "--model_name", "//m:m"),
            "bad-operator-name --ops",
            "not-a-program //m:m",
            "not-a-selection bad.yaml:1:12",
        )

    def test_bad_selections(self) -> None:
        for text, place in (
            ("", ""),
            ("operatorz: {}\n", ":1:1"),
            ("operators: {a: {debug_info: 1}}\n", ":1:29"),
            ("include_all_operators: 7\n", ":1:24"),
        ):
            select = functools.partial(self._select, "--selection", self.write("bad.yaml", text))
            self.assert_refused(select, f"not-a-selection bad.yaml{place}")

    def test_model_without_a_name(self) -> None:
        self.assert_refused(lambda: self._select("--model", "model.pte"), "wrong-flags --model_name")


if __name__ == "__main__":
    absltest.main()
