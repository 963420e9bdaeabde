from __future__ import annotations

import functools

from absl.testing import absltest

from codegen.model import schema
from codegen.tests import case
from diagnostics.errors import Location


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
            "aten::two(Tensor? x, int[] y=[], Scalar s=1e-05) -> (Tensor first, Tensor second)",
            "aten::view(Tensor(a -> *) self) -> Tensor(a)[]",
        ):
            self.assertEqual(str(_parse(text)), text)

    def test_malformed(self) -> None:
        for text, offset in (
            ("", 0),
            ("foo", 3),
            ("foo(Tensor x -> Tensor", 3),
            ("foo(Tensor x)", 13),
            ("foo(Tensor x) ->", 16),
            ("foo(Tensor x) -> Tensor, Tensor", 17),
            ("foo(Tensor x) -> (Tensor) x", 25),
            ("foo(Tensor x) -> Tensor!", 17),
            ("foo(Tensor) -> Tensor", 4),
            ("foo(Tensor x, ) -> Tensor", 14),
            ("foo(Tensor x, int x) -> Tensor", 18),
            ("foo(Tensor x, *, *, int n) -> Tensor", 17),
            ("foo(Tensor x, *, Tensor(a!) out) -> Tensor", 36),
            ("foo(*, Tensor(a!) a, Tensor(b!) b) -> Tensor(a!)", 38),
            ("foo(Tensor x) -> Tensor(a!)", 17),
        ):
            with self.subTest(text):
                self.assert_refused(functools.partial(_parse, text), f"malformed-schema ops.yaml:3:{9 + offset}")

    def test_defaults(self) -> None:
        for argument in (
            "int[2] a=[1, 2]",
            'str m="plus one, two"',
            r"str m='it\'s (one]'",
            "int[2] a=-1",
            "int n=-9223372036854775808",
            "float f=0x10",
            "float? f=1e-05",
            "bool[3] b=[True, False, True]",
            "Scalar s=True",
            "ScalarType? dtype=float32",
            "MemoryFormat? order=contiguous_format",
            "Device? device='cpu'",
            "Tensor? x=None",
            "int[]? dims=None",
        ):
            text = f"a::f({argument}) -> ()"
            self.assertEqual(str(_parse(text)), text)

    def test_defaults_that_pytorch_refuses_or_misreads(self) -> None:
        for argument in (
            "int n=0x10",
            "int n=9223372036854775808",
            "int n=1.5",
            "int? n=True",
            f"int n={'9' * 40}",
            "float f=nan",
            "float f=1e999",
            "Scalar s=1E5",
            "bool b=1",
            "str m=abc",
            r"str m='\d'",
            "int[] a=1",
            "int[2] a=None",
            "int[]? a=[1, 2]",
            "float[] a=[0.5, x]",
            "str[] names=[]",
            "Tensor? x=1",
            "ScalarType t=torch.float",
            "Device d=cpu",
        ):
            with self.subTest(argument):
                text = f"a::f({argument}) -> ()"
                self.assert_refused(
                    functools.partial(_parse, text), f"malformed-schema ops.yaml:3:{9 + text.index('=') + 1}"
                )

    def test_annotation_without_a_letter(self) -> None:
        for text, offset in (
            ("foo(Tensor x, *, Tensor! out) -> Tensor!", 17),
            ("foo(Tensor x, *, Tensor(a!) out) -> Tensor!", 36),
            ("foo(Tensor&[] x) -> ()", 4),
        ):
            with self.subTest(text):
                self.assert_refused(functools.partial(_parse, text), f"malformed-schema ops.yaml:3:{9 + offset}")

    def test_unknown_type(self) -> None:
        self.assert_refused(lambda: _parse("foo(int n, Tensr x) -> Tensor"), "unknown-type ops.yaml:3:20")

    def test_endless_type(self) -> None:
        for type_ in ("Tensor" + "?" * 10_000, "int" + "[]" * 10_000, f"int[{'9' * 10_000}]"):
            for text, offset in ((f"f({type_} x) -> Tensor", 2), (f"f() -> {type_}", 7)):
                places = self.places(functools.partial(_parse, text))
                self.assertEqual(places, [f"unknown-type ops.yaml:3:{9 + offset}"])

    def test_operator_name(self) -> None:
        for name in ("aten::add.out", "my_ops::add.out", "aten::copy_", "aten::__and__.Scalar"):
            self.assertEqual(str(schema.parse_operator_name(name)), name)
        self.assertEqual(str(schema.parse_operator_name("add.out")), "aten::add.out")

    def test_no_operator_name(self) -> None:
        for name in ("", "a b", "a::b::c", "add.", ".out", "1st"):
            self.assertIsNone(schema.parse_operator_name(name), name)


if __name__ == "__main__":
    absltest.main()
