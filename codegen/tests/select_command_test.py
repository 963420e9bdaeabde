from __future__ import annotations

import itertools
from pathlib import Path

import yaml
from absl.testing import absltest

from codegen.tests import case, programs


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
        sources = {
            name: [*label, "--ops", operator]
            for name, operator in (("x", "aten::add.out"), ("y", "my_ops::mul3.out"), ("z", "aten::relu.out"))
        }
        selections = {name: self.write(f"{name}.yaml", self._select(*flags)) for name, flags in sources.items()}
        expected = self._select(*label, *(flag for flags in sources.values() for flag in flags[2:]))
        for names in itertools.permutations("xyz"):
            self.assertEqual(self._select(*(f"--selection={selections[name]}" for name in names)), expected)
        nested = self.write(
            "nested.yaml", self._select(f"--selection={selections['z']}", f"--selection={selections['x']}")
        )
        self.assertEqual(self._select(f"--selection={nested}", *sources["y"], "--ops", "aten::relu.out"), expected)

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
        self.assertEqual(list(selected["operators"]), ["aten::add.out"])
        self.assertEqual(selected["operators"]["aten::add.out"]["debug_info"], ["//a:b"])
        self.assertTrue(selected["operators"]["aten::add.out"]["include_all_overloads"])
        self.assertEqual(selected["et_kernel_metadata"], {"aten::add.out": ["default", "v1/6;0,1|6;0,1|6;0,1|6;0,1"]})

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
        self.assert_starts_with(
            findings[1], "bad.yaml:1:12: error: not a selection of operators: 'operators' is '3', not a mapping\n"
        )
        self.assert_starts_with(findings[2], "//m:m: error: not an ExecuTorch program: ")

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
