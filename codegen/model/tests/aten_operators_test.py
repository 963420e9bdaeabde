from __future__ import annotations

from pathlib import Path

import torch
from absl.testing import absltest

from codegen.model import aten_kernels, aten_operators, schema, update_aten_operators
from diagnostics.errors import Location


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
