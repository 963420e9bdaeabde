"""Compares the numbers in program_format.h with those of the runtime's schema."""

from __future__ import annotations

import re
from pathlib import Path

from absl.testing import absltest

from codegen.inputs import program_fields

_HEADER = Path("runtime/runner/program_format.h")


class ProgramFormatTest(absltest.TestCase):
    def test_numbers_are_those_of_the_schema(self) -> None:
        enums = re.findall(r"^enum (\w+) \{(.*?)\};", _HEADER.read_text(), re.M | re.S)
        self.assertGreater(len(enums), 20)
        for enum, body in enums:
            names = [name.strip() for name in body.split(",") if name.strip()]
            for number, name in enumerate(names):
                with self.subTest(name):
                    self.assertEqual(number, _numbers(enum)[name])


def _numbers(enum: str) -> dict[str, int]:
    """The expected numbers of the enumerators of an enumeration."""
    if enum == "ValueKind":
        return {f"kValue{name}": number for name, number in program_fields.VALUES.items()}
    if enum == "InstructionKind":
        return {f"kInstruction{name}": number for name, number in program_fields.INSTRUCTIONS.items()}
    return {"k" + name.replace(".", ""): number for name, number in program_fields.FIELDS.items()}


if __name__ == "__main__":
    absltest.main()
