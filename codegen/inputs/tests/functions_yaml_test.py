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

    def _assert_refused(self, expected: str, functions: str | None = None, custom_ops: str | None = None) -> None:
        self.assert_refused(lambda: self._read(functions, custom_ops), expected)

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
        self._assert_refused(
            "unknown-operator functions.yaml:5:7",
            f"- op: add.out\n{_KERNELS}a::add\n- op: addd.out\n{_KERNELS}a::addd\n",
        )

    def test_operator_without_its_overload(self) -> None:
        self._assert_refused("unknown-operator functions.yaml:1:7", f"- op: topk.out\n{_KERNELS}a::topk\n")

    def test_custom_operator_as_op(self) -> None:
        self._assert_refused("unknown-operator functions.yaml:1:7", f"- op: my_ops::mul3.out\n{_KERNELS}a::b\n")

    def test_unknown_key(self) -> None:
        self._assert_refused("unknown-key functions.yaml:2:3", "- op: add.out\n  kernelz:\n    - kernel_name: a::b\n")

    def test_dim_orders_are_for_operators_of_these_rules(self) -> None:
        rest = f"f.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)\n  dim_orders: {{x: any, out: any}}\n{_KERNELS}a::f\n"
        self.assertEqual(
            self._read(None, f"- func: rules_executorch::{rest}"), {"rules_executorch::f.out": "a::native::f"}
        )
        self._assert_refused("unknown-key custom.yaml:2:3", custom_ops=f"- func: mine::{rest}")

    def test_unknown_key_of_a_kernel(self) -> None:
        self._assert_refused(
            "unknown-key functions.yaml:3:7",
            "- op: add.out\n  kernels:\n    - arg_metas: null\n      kernel_name: a::b\n",
        )

    def test_key_twice(self) -> None:
        self._assert_refused("duplicate-key functions.yaml:2:3", "- op: add.out\n  op: mul.out\n")

    def test_wrong_types(self) -> None:
        for text, place in (
            ("op: add.out\n", "1:1"),
            ("just text\n", "1:1"),
            ("- add.out\n", "1:3"),
            ("- op: [add.out]\n", "1:7"),
            ("- op: 3\n", "1:7"),
            ("- func: null\n", "1:9"),
            ("- op: add.out\n  kernels: a::b\n", "2:12"),
            ("- op: add.out\n  kernels: [a::b]\n", "2:13"),
            ("- op: add.out\n  kernels: [{kernel_name: {}}]\n", "2:27"),
            ("- op: add.out\n  dispatch: a::b\n", "2:13"),
        ):
            with self.subTest(text):
                self._assert_refused(f"wrong-yaml-type functions.yaml:{place}", text)

    def test_unknown_argument_type(self) -> None:
        self._assert_refused(
            "unknown-type custom.yaml:1:18",
            custom_ops=f"- func: a::b.out(Tensr x, *, Tensor(a!) out) -> Tensor(a!)\n{_KERNELS}a::b\n",
        )

    def test_unsupported_argument_types(self) -> None:
        for type_ in ("Generator", "str[]", "Scalar[]", "int?[]", "Tensor(a!)?", "Tensor??"):
            schema = f"a::b.out({type_} x, *, Tensor(z!) out) -> Tensor(z!)"
            self._assert_refused("unsupported-type custom.yaml:1:9", custom_ops=f"- func: {schema}\n{_KERNELS}a::b\n")

    def test_unsupported_returns(self) -> None:
        for returns in ("(Tensor, Tensor)", "str", "Tensor[]"):
            self._assert_refused(
                "unsupported-return custom.yaml:1:9",
                custom_ops=f"- func: a::b(Tensor x) -> {returns}\n{_KERNELS}a::b\n",
            )

    def test_long_name(self) -> None:
        name = "x" * 90
        self._assert_refused(
            "name-too-long custom.yaml:1:9",
            custom_ops=f"- func: a::{name}.overload(Tensor x) -> Tensor\n{_KERNELS}a::b\n",
        )

    def test_duplicate_in_one_file(self) -> None:
        entry = f"- op: add.out\n{_KERNELS}a::add\n"
        self._assert_refused("duplicate-operator functions.yaml:5:7", entry + entry)

    def test_duplicate_across_files(self) -> None:
        self._assert_refused(
            "duplicate-operator custom.yaml:1:9",
            f"- op: add.out\n{_KERNELS}a::add\n",
            f"- func: add.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)\n{_KERNELS}a::add2\n",
        )

    def test_missing_kernel_name(self) -> None:
        for text, place in (
            ("- op: add.out\n", "1:3"),
            ("- op: add.out\n  kernels: []\n", "2:12"),
            ("- op: add.out\n  kernels:\n    - arg_meta: null\n", "3:7"),
            (f"- op: add.out\n{_KERNELS}\n", "4:7"),
            (f"- op: add.out\n{_KERNELS}''\n", "4:20"),
            ("- op: add.out\n  dispatch: {CUDA: a::b}\n", "2:13"),
        ):
            with self.subTest(text):
                self._assert_refused(f"missing-kernel-name functions.yaml:{place}", text)

    def test_kernel_name_that_is_none(self) -> None:
        self._assert_refused("bad-kernel-name functions.yaml:4:20", f"- op: add.out\n{_KERNELS}a::add(x)\n")

    def test_malformed_schema(self) -> None:
        self._assert_refused(
            "malformed-schema custom.yaml:1:17",
            custom_ops=f"- func: a::b.out(Tensor x, *, Tensor(a!) out -> Tensor\n{_KERNELS}a::b\n",
        )

    def test_malformed_schema_on_several_lines(self) -> None:
        self._assert_refused(
            "malformed-schema custom.yaml:1:9",
            custom_ops=f"- func: >-\n    a::b.out(Tensor x,\n    int) -> Tensor\n{_KERNELS}a::b\n",
        )

    def test_syntax_error(self) -> None:
        self._assert_refused("malformed-yaml functions.yaml:3:1", "- op: add.out\n  kernels: [\n- op: mul.out\n")
        self._assert_refused("malformed-yaml functions.yaml:2:1", "- op: add.out\n\tkernels: x\n")

    def test_endless_nesting(self) -> None:
        """Whose end PyYAML's own composer does not live to see."""
        for text, column in (
            ("[" * 1_000_000, 66),
            ("{a: " * 300_000, 258),
            ("- " * 300_000, 131),
            ("[" * 5000 + "]" * 5000, 66),
        ):
            self._assert_refused(f"malformed-yaml functions.yaml:1:{column}", text)

    def test_alias_without_an_anchor(self) -> None:
        for text, place in (("- &a\n  op: *a\n", "2:7"), ("&a [*a]\n", "1:5"), ("- *b\n", "1:3")):
            self._assert_refused(f"malformed-yaml functions.yaml:{place}", text)

    def test_aliases_of_aliases(self) -> None:
        """10^1000 entries in as many lines."""
        lines = ["- &a0 [x]", *(f"- &a{i} [{','.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 1000))]
        places = self.places(lambda: self._read("\n".join(lines)))
        self.assertEqual(len(places), errors.MAX_FINDINGS + 1)  # More are not shown, and not looked for.

    def test_second_document(self) -> None:
        self._assert_refused("malformed-yaml functions.yaml:2:1", "- op: add.out\n---\n- op: mul.out\n")

    def test_not_text(self) -> None:
        path = self.write("functions.yaml", b"- op: \xff\n")
        self.assert_refused(lambda: functions_yaml.read(path, None, max_kernels=2000), "malformed-yaml functions.yaml")

    def test_empty(self) -> None:
        for text in ("\n", "# nothing\n", "---\n", "null\n", "[]\n"):
            with self.subTest(text):
                self._assert_refused("empty-yaml functions.yaml", text)

    def test_missing_file(self) -> None:
        self.assert_refused(
            lambda: functions_yaml.read("no/such.yaml", None, max_kernels=2000), "unreadable-file no/such.yaml"
        )

    def test_op_in_custom_ops(self) -> None:
        self._assert_refused("op-in-custom-ops custom.yaml:1:3", custom_ops=f"- op: add.out\n{_KERNELS}a::add\n")

    def test_op_and_func(self) -> None:
        both = f"- op: add.out\n  func: b(Tensor x) -> Tensor\n{_KERNELS}a::add\n"
        for text in (both, f"- tags: core\n{_KERNELS}a::add\n"):
            self._assert_refused("op-or-func functions.yaml:1:3", text)

    def test_kernels_and_dispatch(self) -> None:
        self._assert_refused(
            "kernels-and-dispatch functions.yaml:5:3",
            f"- op: add.out\n{_KERNELS}a::add\n  dispatch:\n    CPU: a::add\n",
        )

    def test_two_kernels_for_one_key(self) -> None:
        self._assert_refused(
            "duplicate-kernel functions.yaml:6:20",
            """
- op: add.out
  kernels:
    - arg_meta: null
      kernel_name: a::add
    - kernel_name: b::add
""",
        )

    def test_kernel_shared_by_operators_that_return_other_things(self) -> None:
        self._assert_refused(
            "conflicting-kernel custom.yaml:8:20",
            custom_ops=f"- func: a::b(Tensor x) -> int\n{_KERNELS}k::f\n"
            f"- func: a::c(Tensor x) -> float\n{_KERNELS}k::f\n",
        )

    def test_all_findings_at_once(self) -> None:
        self.assert_refused(
            lambda: self._read(
                f"- op: addd.out\n{_KERNELS}a::add\n- op: mul.out\n  kernelz: x\n  kernelx: y\n", "- op: add.out\n"
            ),
            "unknown-operator functions.yaml:1:7",
            "unknown-key functions.yaml:6:3",
            "unknown-key functions.yaml:7:3",
            "op-in-custom-ops custom.yaml:1:3",
        )


if __name__ == "__main__":
    absltest.main()
