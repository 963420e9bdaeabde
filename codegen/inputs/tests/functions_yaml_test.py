from __future__ import annotations

from absl.testing import absltest

from codegen.inputs import functions_yaml
from codegen.tests import case
from diagnostics import errors

_KERNELS = "  kernels:\n    - arg_meta: null\n      kernel_name: "


class OperatorTableTest(case.TestCase):
    def _read(self, functions: str | None = None, custom_ops: str | None = None) -> dict[str, str]:
        """Each operator's kernel."""
        operators = functions_yaml.read(
            functions and self.write("functions.yaml", functions),
            custom_ops and self.write("custom.yaml", custom_ops),
            max_kernels=2000,
        )
        return {name: operator.kernels[0].function for name, operator in operators.items()}

    def _findings(self, functions: str | None = None, custom_ops: str | None = None) -> list[str]:
        return self.findings(lambda: self._read(functions, custom_ops))

    def _finding(self, functions: str | None = None, custom_ops: str | None = None) -> str:
        return self.finding(lambda: self._read(functions, custom_ops))

    # What the files may say.

    def test_forms(self) -> None:
        functions = f"""
- op: add.out
{_KERNELS}custom::add_out
- op: aten::mul.out
  dispatch:
    CPU: a::b::c::mul_out
- op: relu.out
  dispatch: {{CPU, CUDA: relu_out}}
- op: full_like.out
  dispatch: {{}}
{_KERNELS}bare
- func: my_ops::three.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)
  variants: function
  tags: core
{_KERNELS}'::custom::three'
"""
        functions = functions.replace("{CPU, CUDA: relu_out}", '{"CPU, CUDA": relu_out}')
        self.assertEqual(
            self._read(functions),
            {
                "aten::add.out": "custom::native::add_out",
                "aten::mul.out": "a::b::c::native::mul_out",
                "aten::relu.out": "at::native::relu_out",
                "aten::full_like.out": "at::native::bare",
                "my_ops::three.out": "custom::native::three",
            },
        )

    def test_namespaces_are_told_apart(self) -> None:
        custom_ops = "".join(
            f"- func: {namespace}::foo.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)\n{_KERNELS}{namespace}::foo\n"
            for namespace in ("ns1", "ns2")
        )
        self.assertEqual(
            self._read(f"- op: add.out\n{_KERNELS}a::add\n", custom_ops),
            {"aten::add.out": "a::native::add", "ns1::foo.out": "ns1::native::foo", "ns2::foo.out": "ns2::native::foo"},
        )

    def test_schema_of_an_op(self) -> None:
        path = self.write("functions.yaml", f"- op: add.out\n{_KERNELS}a::add\n")
        (operator,) = functions_yaml.read(path, None, max_kernels=2000).values()
        self.assertEqual(
            str(operator.schema),
            "aten::add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)",
        )
        self.assertEqual((operator.location.line, operator.location.column), (1, 7))
        self.assertEqual((operator.kernels[0].location.line, operator.kernels[0].location.column), (4, 20))

    # What they may not say.

    def test_unknown_operator(self) -> None:
        finding = self._finding(f"- op: add.out\n{_KERNELS}a::add\n- op: addd.out\n{_KERNELS}a::addd\n")
        self.assert_starts_with(finding, "functions.yaml:5:7: error: unknown operator 'addd.out'; did you mean ")
        self.assertIn("add.out", finding)
        self.assertIn("the schemas are of 2.13.0", finding)
        self.assertIn("Fix: correct the name, or give the operator's whole schema with 'func:'", finding)

    def test_operator_without_its_overload(self) -> None:
        finding = self._finding(f"- op: topk.out\n{_KERNELS}a::topk\n")
        self.assert_starts_with(finding, "functions.yaml:1:7: error: unknown operator 'topk.out'; did you mean topk")
        self.assertIn("topk.values", finding)

    def test_custom_operator_as_op(self) -> None:
        finding = self._finding(f"- op: my_ops::mul3.out\n{_KERNELS}a::b\n")
        self.assert_starts_with(finding, "functions.yaml:1:7: error: unknown operator 'my_ops::mul3.out'")
        self.assertIn("not one of PyTorch's own, whose namespace is aten", finding)

    def test_unknown_key(self) -> None:
        finding = self._finding("- op: add.out\n  kernelz:\n    - kernel_name: a::b\n")
        self.assert_starts_with(
            finding, "functions.yaml:2:3: error: unknown key 'kernelz' in an operator's entry; did you mean kernels?"
        )
        self.assertIn("Fix: use one of dim_order_alias, dispatch, func, kernels, op, type_alias", finding)

    def test_unknown_key_of_a_kernel(self) -> None:
        finding = self._finding("- op: add.out\n  kernels:\n    - arg_metas: null\n      kernel_name: a::b\n")
        self.assert_starts_with(
            finding,
            "functions.yaml:3:7: error: unknown key 'arg_metas' in an entry of 'kernels'; did you mean arg_meta?",
        )

    def test_key_twice(self) -> None:
        finding = self._finding("- op: add.out\n  op: mul.out\n")
        self.assert_starts_with(
            finding, "functions.yaml:2:3: error: the key 'op' appears twice in one mapping, first at "
        )
        self.assertIn("functions.yaml:1:3", finding)

    def test_wrong_types(self) -> None:
        for text, expected in (
            ("op: add.out\n", "1:1: error: the file is a mapping, not a list of entries"),
            ("just text\n", "1:1: error: the file is 'just text', not a list of entries"),
            ("- add.out\n", "1:3: error: the entry is 'add.out', not a mapping with 'op' or 'func'"),
            ("- op: [add.out]\n", "1:7: error: 'op' is a list, not text"),
            ("- op: 3\n", "1:7: error: 'op' is '3', not text"),
            ("- func: null\n", "1:9: error: 'func' is nothing, not text"),
            ("- op: add.out\n  kernels: a::b\n", "2:12: error: 'kernels' of aten::add.out is 'a::b', not a list"),
            ("- op: add.out\n  kernels: [a::b]\n", "2:13: error: the kernel of aten::add.out is 'a::b', not a mapping"),
            ("- op: add.out\n  kernels: [{kernel_name: {}}]\n", "2:27: error: 'kernel_name' is a mapping, not text"),
            ("- op: add.out\n  dispatch: a::b\n", "2:13: error: 'dispatch' of aten::add.out is 'a::b', not a mapping"),
        ):
            with self.subTest(text):
                self.assert_starts_with(self._finding(text), f"functions.yaml:{expected}")

    def test_unknown_argument_type(self) -> None:
        finding = self._finding(
            custom_ops=f"- func: a::b.out(Tensr x, *, Tensor(a!) out) -> Tensor(a!)\n{_KERNELS}a::b\n"
        )
        self.assert_starts_with(finding, "custom.yaml:1:18: error: 'Tensr' in the schema")
        self.assertIn("is not a type; did you mean Tensor", finding)

    def test_unsupported_argument_types(self) -> None:
        for type_ in ("Generator", "Generator?", "str[]", "Scalar[]", "int?[]", "Tensor(a!)?", "Tensor??"):
            schema = f"a::b.out({type_} x, *, Tensor(z!) out) -> Tensor(z!)"
            finding = self._finding(custom_ops=f"- func: {schema}\n{_KERNELS}a::b\n")
            self.assert_starts_with(
                finding, f"custom.yaml:1:9: error: the argument '{type_} x' of a::b.out has a type that "
            )
            self.assertIn("Fix: use Tensor, Scalar, int, ", finding)

    def test_unsupported_returns(self) -> None:
        for returns in ("(Tensor, Tensor)", "str", "Tensor[]"):
            finding = self._finding(custom_ops=f"- func: a::b(Tensor x) -> {returns}\n{_KERNELS}a::b\n")
            self.assert_starts_with(finding, "custom.yaml:1:9: error: a::b has no out argument and returns ")

    def test_long_name(self) -> None:
        name = "x" * 90
        finding = self._finding(custom_ops=f"- func: a::{name}.overload(Tensor x) -> Tensor\n{_KERNELS}a::b\n")
        self.assertIn(f"the operator's name a::{name}.overload has more than 99 characters", finding)

    def test_duplicate_in_one_file(self) -> None:
        entry = f"- op: add.out\n{_KERNELS}a::add\n"
        finding = self._finding(entry + entry)
        self.assert_starts_with(
            finding, "functions.yaml:5:7: error: duplicate operator aten::add.out, first given at functions.yaml:1:7\n"
        )

    def test_duplicate_across_files(self) -> None:
        finding = self._finding(
            f"- op: add.out\n{_KERNELS}a::add\n",
            f"- func: add.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)\n{_KERNELS}a::add2\n",
        )
        self.assert_starts_with(
            finding, "custom.yaml:1:9: error: duplicate operator aten::add.out, first given at functions.yaml:1:7\n"
        )

    def test_missing_kernel_name(self) -> None:
        for text, expected in (
            ("- op: add.out\n", "1:3: error: missing kernel name: aten::add.out has no 'kernels'"),
            ("- op: add.out\n  kernels: []\n", "2:12: error: missing kernel name: 'kernels' of aten::add.out is empty"),
            (
                "- op: add.out\n  kernels:\n    - arg_meta: null\n",
                "3:7: error: missing kernel name: the kernel of aten::add.out has no 'kernel_name'",
            ),
            (f"- op: add.out\n{_KERNELS}\n", "4:7: error: missing kernel name: 'kernel_name' has no value"),
            (
                f"- op: add.out\n{_KERNELS}''\n",
                "4:20: error: missing kernel name: the kernel's name of aten::add.out is",
            ),
            (
                "- op: add.out\n  dispatch: {CUDA: a::b}\n",
                "2:13: error: missing kernel name: 'dispatch' of aten::add.out has CUDA, but not CPU",
            ),
        ):
            with self.subTest(text):
                finding = self._finding(text)
                self.assert_starts_with(finding, f"functions.yaml:{expected}")
                self.assertIn("Fix: name the kernel with 'kernels: [{arg_meta: null, kernel_name: ", finding)

    def test_kernel_name_that_is_none(self) -> None:
        finding = self._finding(f"- op: add.out\n{_KERNELS}a::add(x)\n")
        self.assert_starts_with(
            finding, "functions.yaml:4:20: error: 'a::add(x)', the kernel of aten::add.out, is not a C++ name"
        )

    def test_malformed_schema(self) -> None:
        finding = self._finding(custom_ops=f"- func: a::b.out(Tensor x, *, Tensor(a!) out -> Tensor\n{_KERNELS}a::b\n")
        self.assert_starts_with(finding, "custom.yaml:1:17: error: malformed schema 'a::b.out(Tensor x, ")
        self.assertIn("the parenthesis opened here is never closed", finding)

    def test_malformed_schema_on_several_lines(self) -> None:
        finding = self._finding(custom_ops=f"- func: >-\n    a::b.out(Tensor x,\n    int) -> Tensor\n{_KERNELS}a::b\n")
        self.assert_starts_with(
            finding, "custom.yaml:1:9: error: malformed schema 'a::b.out(Tensor x, int) -> Tensor': "
        )

    def test_syntax_error(self) -> None:
        finding = self._finding("- op: add.out\n  kernels: [\n- op: mul.out\n")
        self.assertRegex(finding, r"^functions\.yaml:3:\d+: error: not valid YAML: ")
        self.assert_starts_with(
            self._finding("- op: add.out\n\tkernels: x\n"), "functions.yaml:2:1: error: not valid YAML: "
        )

    def test_endless_nesting(self) -> None:
        """Whose end PyYAML's own composer does not live to see."""
        for text in ("[" * 1_000_000, "{a: " * 300_000, "- " * 300_000, "[" * 5000 + "]" * 5000):
            finding = self._finding(text)
            self.assert_starts_with(finding, "functions.yaml:1:")
            self.assertIn("not valid YAML: lists or mappings are nested more than 64 deep", finding)

    def test_alias_without_an_anchor(self) -> None:
        for text, place in (("- &a\n  op: *a\n", "2:7"), ("&a [*a]\n", "1:5"), ("- *b\n", "1:3")):
            finding = self._finding(text)
            self.assert_starts_with(finding, f"functions.yaml:{place}: error: not valid YAML: the alias '*")
            self.assertIn("has no anchor before it", finding)

    def test_aliases_of_aliases(self) -> None:
        """10^1000 entries in as many lines."""
        lines = ["- &a0 [x]", *(f"- &a{i} [{','.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 1000))]
        findings = self._findings("\n".join(lines))
        self.assertEqual(len(findings), errors.MAX_FINDINGS + 1)  # More are not shown, and not looked for.

    def test_second_document(self) -> None:
        finding = self._finding("- op: add.out\n---\n- op: mul.out\n")
        self.assert_starts_with(finding, "functions.yaml:2:1: error: not valid YAML: a second document begins here\n")

    def test_not_text(self) -> None:
        path = self.write("functions.yaml", b"- op: \xff\n")
        self.assert_starts_with(
            self.finding(lambda: functions_yaml.read(path, None, max_kernels=2000)),
            "functions.yaml: error: not valid YAML: byte 6 is not UTF-8 text\n",
        )

    def test_empty(self) -> None:
        for text in ("\n", "# nothing\n", "---\n", "null\n", "[]\n"):
            with self.subTest(text):
                self.assert_starts_with(self._finding(text), "functions.yaml: error: the file has no entries\n")

    def test_missing_file(self) -> None:
        self.assert_starts_with(
            self.finding(lambda: functions_yaml.read("no/such.yaml", None, max_kernels=2000)),
            "no/such.yaml: error: cannot read the file: No such file or directory\n",
        )

    def test_op_in_custom_ops(self) -> None:
        finding = self._finding(custom_ops=f"- op: add.out\n{_KERNELS}a::add\n")
        self.assert_starts_with(finding, "custom.yaml:1:3: error: 'op: add.out' in custom_ops.yaml\n")
        self.assertIn("Fix: move the entry to functions.yaml, or give ", finding)

    def test_op_and_func(self) -> None:
        finding = self._finding(f"- op: add.out\n  func: b(Tensor x) -> Tensor\n{_KERNELS}a::add\n")
        self.assert_starts_with(finding, "functions.yaml:1:3: error: the entry has both 'op' and 'func'\n")
        finding = self._finding(f"- tags: core\n{_KERNELS}a::add\n")
        self.assert_starts_with(finding, "functions.yaml:1:3: error: the entry has neither 'op' nor 'func'\n")

    def test_kernels_and_dispatch(self) -> None:
        finding = self._finding(f"- op: add.out\n{_KERNELS}a::add\n  dispatch:\n    CPU: a::add\n")
        self.assert_starts_with(finding, "functions.yaml:5:3: error: aten::add.out has both 'kernels' and 'dispatch'\n")

    def test_two_kernels_for_one_key(self) -> None:
        finding = self._finding("""
- op: add.out
  kernels:
    - arg_meta: null
      kernel_name: a::add
    - kernel_name: b::add
""")
        self.assert_starts_with(
            finding,
            "functions.yaml:6:20: error: aten::add.out has two kernels for every dtype and dim order: b::native::add, "
            "and a::native::add at functions.yaml:5:20\n",
        )
        self.assert_id(finding, "duplicate-kernel")

    def test_kernel_shared_by_operators_that_return_other_things(self) -> None:
        finding = self._finding(
            custom_ops=f"- func: a::b(Tensor x) -> int\n{_KERNELS}k::f\n"
            f"- func: a::c(Tensor x) -> float\n{_KERNELS}k::f\n"
        )
        self.assert_starts_with(
            finding,
            "custom.yaml:8:20: error: the kernel k::native::f of a::c returns double, but for a::b, with the same "
            "parameters, int64_t\n",
        )

    def test_all_findings_at_once(self) -> None:
        findings = self._findings(
            f"- op: addd.out\n{_KERNELS}a::add\n- op: mul.out\n  kernelz: x\n  kernelx: y\n", "- op: add.out\n"
        )
        self.assertEqual(len(findings), 4)


if __name__ == "__main__":
    absltest.main()
