from __future__ import annotations

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
        for text, expected in (
            ('{"aten::add.out": ["Flaot"]}', "'Flaot', wanted for aten::add.out, is no dtype; did you mean Float"),
            ('{"aten::add.out": ["v1/6;0,"]}', "'v1/6;0,', wanted for aten::add.out, is no kernel key\n"),
            ('{"aten::add.out": ["v1/6;0,2"]}', "'v1/6;0,2', wanted for aten::add.out, is no kernel key\n"),
            ('{"aten::add.out": ["v1/30;0"]}', "'v1/30;0', wanted for aten::add.out, is no kernel key\n"),
            ('{"add.out": []}', "'add.out' is not an operator's full name; did you mean aten::add.out?"),
            ('{"aten::add.out": "Float"}', "--ops_dict cannot be read: it is not a JSON object of lists of text\n"),
            ("[", "--ops_dict cannot be read: Expecting value"),
        ):
            finding = self.finding(lambda text=text: self._select("--label", "//ops:mine", "--ops_dict", text))  # type: ignore[misc]
            self.assert_starts_with(finding, f"//ops:mine: error: {expected}")

    def test_all_of_a_bad_ops_dict(self) -> None:
        findings = self.findings(lambda: self._select("--ops_dict", '{"aten::add.out": ["Flaot", "Float", "v1"]}'))
        self.assertEqual(len(findings), 2)
        for finding in findings:
            self.assert_id(finding, "bad-ops-dict")

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
        findings = self.findings(lambda: self._select("--ops_schema_yaml", path))
        self.assert_starts_with(findings[0], "ops.yaml:1:7: error: unknown operator 'ad.out'")
        self.assert_starts_with(findings[1], "ops.yaml:2:3: error: the entry is '3', not a mapping")
        self.assert_starts_with(findings[2], "ops.yaml:3:")

    def test_server_generated_yaml(self) -> None:
        """Copied as it is, comments and all."""
        text = (
            "# From the server.\noperators: {'aten::add.out': {is_root_operator: true}}\ninclude_all_operators: false\n"
        )
        path = self.write("server.yaml", text)
        self.assertEqual(self._select("--server_generated_yaml", path), text)

    def test_bad_server_generated_yaml(self) -> None:
        path = self.write("server.yaml", "operators: [aten::add.out]\n")
        finding = self.finding(lambda: self._select("--server_generated_yaml", path))
        self.assert_starts_with(
            finding, "server.yaml:1:12: error: not a selection of operators: 'operators' is a list, not a mapping\n"
        )

    def test_server_generated_yaml_beside_others(self) -> None:
        path = self.write("server.yaml", "operators: {}\n")
        flags = ("--server_generated_yaml_name", "//s:y", "--ops", "aten::add.out", "--include_all_operators")
        finding = self.finding(lambda: self._select("--server_generated_yaml", path, *flags))
        self.assert_starts_with(
            finding, "//s:y: error: --server_generated_yaml beside --include_all_operators, --ops\n"
        )

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
            finding = self.finding(lambda path=path: self._select("--matrix", path))  # type: ignore[misc]
            self.assert_starts_with(finding, "bad.json: error: the file does not hold a matrix of operators: ")
            self.assert_id(finding, "wrong-artifact")

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
        finding = self.finding(lambda: self._select("--label", "//ops:mine", "--ops", "add.out"))
        self.assert_starts_with(
            finding, "//ops:mine: error: 'add.out' is not an operator's full name; did you mean aten::add.out?\n"
        )

    def test_all_findings_at_once(self) -> None:
        model = self.write("model.pte", b"nonsense")
        selection = self.write("bad.yaml", "operators: 3\n")
        findings = self.findings(
            lambda: self._select("--ops=a b", "--selection", selection, "--model", model, "--model_name", "//m:m")
        )
        self.assertEqual(len(findings), 3)
        self.assert_starts_with(findings[0], "--ops: error: 'a b' is not an operator's full name\n")
        self.assert_starts_with(findings[1], "//m:m: error: not an ExecuTorch program: ")
        self.assert_starts_with(
            findings[2], "bad.yaml:1:12: error: not a selection of operators: 'operators' is '3', not a mapping\n"
        )

    def test_bad_selections(self) -> None:
        for text, expected in (
            ("", ": error: not a selection of operators: the file is empty"),
            (
                "operatorz: {}\n",
                ":1:1: error: not a selection of operators: unknown key 'operatorz'; did you mean operators?",
            ),
            (
                "operators: {a: {debug_info: 1}}\n",
                ":1:29: error: not a selection of operators: 'debug_info' is '1', not a",
            ),
            (
                "include_all_operators: 7\n",
                ":1:24: error: not a selection of operators: 'include_all_operators' is '7', not",
            ),
        ):
            selection = self.write("bad.yaml", text)
            finding = self.finding(lambda selection=selection: self._select("--selection", selection))  # type: ignore[misc]
            self.assert_starts_with(finding, f"bad.yaml{expected}")
            self.assert_id(finding, "not-a-selection")

    def test_model_without_a_name(self) -> None:
        finding = self.finding(lambda: self._select("--model", "model.pte"))
        self.assert_starts_with(finding, "--model_name: error: 1 models, but 0 names\n")
        self.assert_id(finding, "wrong-flags")


if __name__ == "__main__":
    absltest.main()
