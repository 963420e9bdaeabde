from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from absl.testing import absltest

from codegen.facts import binary_schema, modules
from codegen.inputs import program_fields

# Written by flatc in the build.
_PROGRAMS: Any = importlib.import_module("codegen.inputs.program_generated")
_BUNDLES: Any = importlib.import_module("codegen.inputs.bundled_program_schema_generated")

_HERE = Path(__file__).parent
_SHAPES = _HERE / "shapes.bfbs"
_BUNDLE = _HERE / "bundle.bfbs"


def _run(module: str) -> dict[str, object]:
    """What a module that was written defines."""
    names: dict[str, object] = {}
    exec(module, names)
    del names["__builtins__"]
    return names


class BinarySchemaTest(absltest.TestCase):
    def test_fields_have_the_numbers_that_the_schema_gives(self) -> None:
        tables = binary_schema.read(_SHAPES.read_bytes()).tables
        self.assertEqual({"name": 0, "center": 1, "radius_in_mm": 2}, tables["shapes.Circle"])
        self.assertEqual({}, tables["shapes.Nothing"])

    def test_a_union_takes_a_field_for_its_kind(self) -> None:
        drawing = binary_schema.read(_SHAPES.read_bytes()).tables["shapes.Drawing"]
        self.assertEqual({"shape_type": 0, "shape": 1, "next_type": 2, "next": 3}, drawing)

    def test_enums_root_and_identifier(self) -> None:
        schema = binary_schema.read(_SHAPES.read_bytes())
        self.assertEqual({"NONE": 0, "Circle": 1, "Late": 7}, schema.enums["shapes.KernelTypes"])
        self.assertEqual("shapes.Drawing", schema.root)
        self.assertEqual("SH12", schema.identifier)

    def test_another_file_is_refused(self) -> None:
        with self.assertRaisesRegex(ValueError, "no binary schema"):
            binary_schema.read(b"\x10\0\0\0ET12" + bytes(40))


class ModulesTest(absltest.TestCase):
    def test_prim_ops(self) -> None:
        module = modules.prim_ops(["aten::sym_size.int", "executorch_prim::add.Scalar"])
        self.assertEqual({"PRIM_OPS": {"aten::sym_size.int", "executorch_prim::add.Scalar"}}, _run(module))

    def test_scalar_types(self) -> None:
        self.assertEqual({"SCALAR_TYPES": {"Byte": 0, "Float": 6}}, _run(modules.scalar_types(["Byte 0", "Float 6"])))

    def test_program_fields(self) -> None:
        module = _run(modules.program_fields(_SHAPES.read_bytes(), _BUNDLE.read_bytes()))
        fields = module["FIELDS"]
        assert isinstance(fields, dict)
        self.assertEqual(2, fields["Circle.RadiusInMm"])
        self.assertEqual(2, fields["BundledDrawing.DrawingData"])
        # Of the bundle the table at the root alone: the bundle's other tables may be named like those of programs.
        self.assertNotIn("Circle.Label", fields)
        self.assertEqual({"NONE": 0, "Circle": 1, "Late": 7}, module["VALUES"])
        self.assertEqual({"NONE": 0, "Nothing": 1}, module["INSTRUCTIONS"])
        self.assertEqual(b"SH12", module["PROGRAM_IDENTIFIER"])
        self.assertEqual(b"BU07", module["BUNDLED_PROGRAM_IDENTIFIER"])


class ProgramFieldsTest(absltest.TestCase):
    """flatc's own Python is the judge of what the build wrote."""

    def test_values_and_instructions(self) -> None:
        for written, union in [
            (program_fields.VALUES, _PROGRAMS.KernelTypes),
            (program_fields.INSTRUCTIONS, _PROGRAMS.InstructionArguments),
        ]:
            self.assertEqual({name: number for name, number in vars(union).items() if name[0] != "_"}, written)

    def test_identifiers(self) -> None:
        for identifier, has_identifier in [
            (program_fields.PROGRAM_IDENTIFIER, _PROGRAMS.Program.ProgramBufferHasIdentifier),
            (
                program_fields.BUNDLED_PROGRAM_IDENTIFIER,
                _BUNDLES.BundledProgram.BundledProgramBufferHasIdentifier,
            ),
        ]:
            self.assertTrue(has_identifier(bytearray(4) + identifier, 0))

    def test_a_field_of_each_kind(self) -> None:
        class Slots:
            """Records where flatc's functions put a field."""

            def __getattr__(self, name: str) -> object:
                return lambda number, *_: slots.append(number)

        slots: list[int] = []
        _PROGRAMS.TensorAddDimOrder(Slots(), 0)
        _PROGRAMS.ExecutionPlanAddOperators(Slots(), 0)
        _PROGRAMS.EValueAddValType(Slots(), 0)
        _BUNDLES.BundledProgramAddProgram(Slots(), 0)
        names = ["Tensor.DimOrder", "ExecutionPlan.Operators", "EValue.ValType", "BundledProgram.Program"]
        self.assertEqual(slots, [program_fields.FIELDS[name] for name in names])


if __name__ == "__main__":
    absltest.main()
