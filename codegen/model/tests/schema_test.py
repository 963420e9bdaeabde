from __future__ import annotations

from absl.testing import absltest

from codegen.model import schema
from codegen.tests import case
from diagnostics.errors import InputError, Location


def _parse(text: str) -> schema.FunctionSchema:
    return schema.parse(text, lambda offset: Location("ops.yaml", 3, 9 + offset))


class SchemaTest(case.TestCase):
    def test_parts(self) -> None:
        parsed = _parse("my_ops::f.out(Tensor x, int[2]? n=None, *, str mode='a, b', Tensor(a!) out) -> Tensor(a!)")
        self.assertEqual(parsed.name, schema.OperatorName("my_ops", "f", "out"))
        self.assertEqual(str(parsed.name), "my_ops::f.out")
        tensor, integer = schema.BaseType("Tensor"), schema.BaseType("int")
        self.assertEqual(
            parsed.positional,
            (
                schema.Argument("x", tensor),
                schema.Argument("n", schema.OptionalType(schema.ListType(integer, 2)), default="None"),
            ),
        )
        self.assertEqual(parsed.keyword_only, (schema.Argument("mode", schema.BaseType("str"), default="'a, b'"),))
        self.assertEqual(parsed.out, (schema.Argument("out", tensor, alias="a!"),))
        self.assertEqual(parsed.returns, (schema.Return(tensor, alias="a!"),))

    def test_namespace_is_aten_unless_given(self) -> None:
        self.assertEqual(str(_parse("add(Tensor a) -> Tensor").name), "aten::add")

    def test_in_place_argument_is_no_out_argument(self) -> None:
        parsed = _parse("add_(Tensor(a!) self, Tensor other) -> Tensor(a!)")
        self.assertFalse(parsed.out)
        self.assertTrue(parsed.positional[0].is_written)

    def test_text_is_kept(self) -> None:
        for text in (
            "aten::split.out(Tensor x, *, Tensor(a!)[] out) -> ()",
            "aten::two(Tensor? x, Tensor?[] y=[], Scalar s=1e-05) -> (Tensor first, Tensor second)",
            "aten::view(Tensor(a -> *) self) -> Tensor(a)[]",
        ):
            self.assertEqual(str(_parse(text)), text)

    def test_malformed(self) -> None:
        for text, offset, problem in (
            ("", 0, "it does not start with an operator's name"),
            ("foo", 3, "'(' is missing after the name 'foo'"),
            ("foo(Tensor x -> Tensor", 3, "the parenthesis opened here is never closed"),
            ("foo(Tensor x)", 13, "'->' and the return type are missing"),
            ("foo(Tensor x) ->", 16, "the return type after '->' is missing"),
            ("foo(Tensor x) -> Tensor, Tensor", 17, "several return types need parentheses"),
            ("foo(Tensor x) -> (Tensor) x", 25, "'x' follows the return types"),
            ("foo(Tensor x) -> Tensor!", 17, "'Tensor!' is not a return type"),
            ("foo(Tensor) -> Tensor", 4, "'Tensor' is not an argument"),
            ("foo(Tensor x, ) -> Tensor", 14, "'' is not an argument"),
            ("foo(Tensor x, int x) -> Tensor", 18, "the argument 'x' appears twice"),
            ("foo(Tensor x, *, *, int n) -> Tensor", 17, "'*' appears twice"),
            ("foo(Tensor x, *, Tensor(a!) out) -> Tensor", 36, "'Tensor(a!) out' is not what it returns, 'Tensor'"),
            ("foo(*, Tensor(a!) a, Tensor(b!) b) -> Tensor(a!)", 38, "it has 2 out arguments but 1 return values"),
            ("foo(Tensor x) -> Tensor(a!)", 17, "no argument is annotated like the return value 'Tensor(a!)'"),
        ):
            with self.subTest(text), self.assertRaises(InputError) as raised:
                _parse(text)
            error = str(raised.exception)
            self.assert_starts_with(error, f"ops.yaml:3:{9 + offset}: error: malformed schema '{text.strip()}': ")
            self.assertIn(problem, error)
            self.assertIn("Fix: write it as 'ns::name.overload(", error)

    def test_unknown_type(self) -> None:
        with self.assertRaises(InputError) as raised:
            _parse("foo(int n, Tensr x) -> Tensor")
        error = str(raised.exception)
        self.assert_starts_with(error, "ops.yaml:3:20: error: 'Tensr' in the schema")
        self.assertIn("is not a type; did you mean Tensor", error)

    def test_endless_type(self) -> None:
        for type_ in ("Tensor" + "?" * 10_000, "int" + "[]" * 10_000, f"int[{'9' * 10_000}]"):
            for text in (f"f({type_} x) -> Tensor", f"f() -> {type_}"):
                with self.assertRaises(InputError) as raised:
                    schema.parse(text, lambda offset: Location("ops.yaml", 1, offset))
                self.assertIn("is not a type", str(raised.exception))

    def test_operator_name(self) -> None:
        for name in ("aten::add.out", "my_ops::add.out", "aten::copy_", "aten::__and__.Scalar"):
            self.assertEqual(str(schema.parse_operator_name(name)), name)
        self.assertEqual(str(schema.parse_operator_name("add.out")), "aten::add.out")

    def test_no_operator_name(self) -> None:
        for name in ("", "a b", "a::b::c", "add.", ".out", "1st"):
            self.assertIsNone(schema.parse_operator_name(name), name)


if __name__ == "__main__":
    absltest.main()
