from __future__ import annotations

import ast
from pathlib import Path

import torch
from absl.testing import absltest

from codegen.model import aten_kernels, aten_operators, schema, update_aten_operators
from diagnostics.errors import InputError, Location


class AtenOperatorsTest(absltest.TestCase):
    def test_file_is_what_the_torch_wheel_gives(self) -> None:
        """To update the file: see update_aten_operators.py."""
        text = Path(aten_operators.__file__).with_name("aten_operators.txt").read_text()
        self.assertEqual(text.splitlines(), update_aten_operators.render().splitlines())

    def test_every_schema_parses_and_keeps_its_text(self) -> None:
        for name in aten_operators.names():
            parsed_name = schema.parse_operator_name(name)
            assert parsed_name is not None
            found = aten_operators.find(parsed_name)
            assert found is not None
            self.assertEqual(str(found.name), name)
            self.assertEqual(schema.parse(str(found), lambda offset: Location("")), found)

    def test_pytorch_reads_defaults_as_their_text_says(self) -> None:
        numbers = [*("0", "1", "-1", "- 1", "01", "1.5", ".5", "5.", "-.5", "1e3", "1E3", "1.E3", "0x10", "nan")]
        numbers += ["9007199254740992", "9223372036854775808", "-9223372036854775808", "1e308", "1e309", "1e-310"]
        texts = ["'a'", '"plus one, two"', "''", r"'it\'s'", r"'\n'", r"'\d'", "a", "float", "Mean", "strided", "[]"]
        lists = ["[1, 2]", "[1,2]", "[0.5, 2.]", "[True, False]", "[1]", "[True]", "[1, None]", "[0x10]", "[[1]]"]
        taken = 0
        for base in ("int", "SymInt", "float", "bool", "Scalar", "str", "Tensor"):
            for type_ in (base, f"{base}?", f"{base}[]", f"{base}[2]", f"{base}[]?"):
                for default in ("None", "True", "False", *numbers, *texts, *lists):
                    text = f"a::f({type_} x={default}) -> ()"
                    try:
                        schema.parse(text, lambda offset: Location(""))
                    except InputError:
                        continue
                    if default == "Mean":
                        expected: object = 1
                    else:
                        expected = ast.literal_eval(default.replace("- ", "-").replace("01", "1"))
                    if type_.endswith("[2]") and not isinstance(expected, list):
                        expected = [expected] * 2
                    with self.subTest(text):
                        self.assertEqual(torch._C.parse_schema(text).arguments[0].default_value, expected)
                    taken += 1
        self.assertGreater(taken, 150)

    def test_generated_out_variants_are_there(self) -> None:
        # native_functions.yaml has these only as `autogen: alias_copy.out` and the like.
        for name in ("aten::alias_copy.out", "aten::expand_copy.out"):
            self.assertIn(name, aten_operators.names())

    def test_pytorch_dispatches_what_libraries_with_its_kernels_can_have(self) -> None:
        operators = aten_kernels.WithAtenKernels({})
        self.assertGreater(len(operators), 1000)
        for name in operators:
            function = operators[name].schema
            overloads = getattr(torch.ops.aten, function.name.name)
            dispatched = getattr(overloads, function.name.overload or "default")._schema
            self.assertEqual([a.name for a in dispatched.arguments], [a.name for a in function.arguments], name)

    def test_no_such_operator(self) -> None:
        self.assertIsNone(aten_operators.find(schema.OperatorName("aten", "no_such")))
        self.assertIsNone(aten_operators.find(schema.OperatorName("my_ops", "add", "out")))


if __name__ == "__main__":
    absltest.main()
