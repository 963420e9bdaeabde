"""Fuzzes the reader of programs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import atheris

from codegen.fuzz import fuzzing

with atheris.instrument_imports(include=["codegen"]):
    from codegen.inputs import program_reader
    from codegen.tests import programs

_FILE = fuzzing.File()


def _test(data: bytes) -> None:
    _FILE.write(data)
    with fuzzing.answer():
        program_reader.read(_FILE.path, "//models:m")


def _seeds(file: Path) -> Iterator[bytes]:
    """Yields the exported program, and smaller programs, of which a mutation changes a larger part."""
    yield file.read_bytes()
    tensor = programs.Tensor(6, (0, 1))
    values = (tensor, programs.TensorList((tensor, tensor)), programs.OptionalTensorList((tensor, None)), 1, None)
    chains: list[list[str | programs.Call]] = [
        ["aten::add.out", "delegate", programs.Call("aten::index.Tensor_out", values)],
        ["aten::relu"],
    ]
    program = programs.build({"forward": chains, "encode": []})
    yield program
    yield programs.bundle(program)
    yield programs.build({"forward": chains}, header=False)


if __name__ == "__main__":
    fuzzing.run(_test, _seeds)
