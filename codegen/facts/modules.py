"""Generates the Python modules with the code generator's facts about ExecuTorch's runtime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from codegen.facts import binary_schema


def prim_ops(lines: Sequence[str]) -> str:
    """Returns a module with a set of operators. Each line has the name of an operator."""
    return "PRIM_OPS = frozenset((\n" + "".join(f"    {name!r},\n" for name in lines) + "))\n"


def scalar_types(lines: Sequence[str]) -> str:
    """Returns a module with the numbers of dtypes. Each line has a name and a number."""
    numbers = {name: int(number) for name, number in (line.split() for line in lines)}
    return _dict("SCALAR_TYPES", numbers)


def program_fields(program: bytes, bundled_program: bytes) -> str:
    """Returns a module with the numbers and identifiers that the reader of programs needs.

    Args:
        program: the binary schema of programs.
        bundled_program: the binary schema of bundled programs. Only its root table is kept, since both schemas have a
            table `Tensor`.
    """
    schema = binary_schema.read(program)
    bundled = binary_schema.read(bundled_program)
    fields = {
        f"{_last(table)}.{_camel_case(field)}": number
        for table, numbers in [*schema.tables.items(), (bundled.root, bundled.tables[bundled.root])]
        for field, number in numbers.items()
    }
    unions = {_last(name): values for name, values in schema.enums.items()}
    return "".join(
        (
            _dict("FIELDS", fields),
            _dict("VALUES", unions["KernelTypes"]),
            _dict("INSTRUCTIONS", unions["InstructionArguments"]),
            f"PROGRAM_IDENTIFIER = {schema.identifier.encode()!r}\n",
            f"BUNDLED_PROGRAM_IDENTIFIER = {bundled.identifier.encode()!r}\n",
        )
    )


def _dict(name: str, items: Mapping[str, int]) -> str:
    return f"{name} = {{\n" + "".join(f"    {key!r}: {value},\n" for key, value in items.items()) + "}\n"


def _last(name: str) -> str:
    """Returns the last part of a name: `Tensor` for `executorch_flatbuffer.Tensor`."""
    return name.rpartition(".")[2]


def _camel_case(name: str) -> str:
    """Returns a name in camel case: `DimOrder` for `dim_order`."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))
