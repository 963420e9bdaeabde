"""Fuzzes the generator of C++ for programs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import atheris

from codegen.fuzz import fuzzing

with atheris.instrument_imports(include=["codegen"]):
    from codegen.artifacts.registered_operators import Library
    from codegen.commands import compile
    from codegen.compiled import files, memory_report
    from codegen.model import aten_operators, schema
    from codegen.model.operators import Kernel, Operator
    from codegen.tests import programs
    from codegen.tests.programs import Call, JumpIfFalse, Method, Move, Result, Tensor
    from diagnostics.errors import Location

_FILE = fuzzing.File()
_NAMES = files.Names("//app:model", "//models:m", "model", "app/model.h", "ops/lib/NativeFunctions.h")
_OPERATORS = ("add.out", "cat.out", "copy_", "index.Tensor_out", "leaky_relu.out", "linear.out", "sum.IntList_out")


def _library() -> Library:
    place = Location("functions.yaml")
    schemas = [aten_operators.find(schema.OperatorName("aten", *name.split("."))) for name in _OPERATORS]
    kernels = (Kernel("my::native::f", ("default",), place),)
    return Library("//ops:lib", ("functions.yaml",), tuple(Operator(each, kernels, place) for each in schemas if each))


_LIBRARY = _library()


def _test(data: bytes) -> None:
    _FILE.write(data)
    with fuzzing.answer():
        program = compile.compiled(_FILE.path, _LIBRARY, [], _NAMES, constants_by_pointer=False)
        program.source()
        program.header()
        program.c_header()
        program.c_source()
        memory_report.text(program, "//app:model")


def _seeds(file: Path) -> Iterator[bytes]:
    """Yields the exported program, and programs with each kind of instruction and value."""
    yield file.read_bytes()
    x, dynamic = (Tensor(6, (0, 1), (2, 2), place=(1, offset), is_dynamic=offset > 0) for offset in (0, 16))
    flat, out = (Tensor(6, (0,), (4,), place=(1, offset)) for offset in (0, 32))
    state, moved = Tensor(6, (0,), (4,), bytes(16), place=(1, 48)), Tensor(6, (0,), (4,))
    constant = Tensor(6, (0,), (4,), bytes(range(16)))
    size, half = 1000, 0.25
    yield programs.build(
        {
            "forward": Method(
                [
                    Call("aten::add.out", (state, constant, 1, out, out)),
                    Call("executorch_prim::et_view.default", (x, programs.IntList((-1,)), flat)),
                    JumpIfFalse(True, 5),
                    Move(flat, moved),
                    JumpIfFalse(False, 6),
                    Move(out, moved),
                    Call("aten::cat.out", (programs.TensorList((moved, flat)), 0, out, out)),
                    Call("aten::copy_", (state, out, False, state)),
                ],
                (x,),
                (moved, out, state),
                (64,),
            )
        }
    )
    yield programs.build(
        {
            "forward": Method(
                [
                    Call("aten::sym_size.int", (dynamic, 0, size)),
                    Call("executorch_prim::truediv.Scalar", (size, 2, half)),
                    Call("aten::leaky_relu.out", (dynamic, half, dynamic, dynamic)),
                    Call("executorch_prim::et_view.default", (dynamic, programs.IntList((size, -1)), x)),
                    Call("aten::sum.IntList_out", (x, programs.IntList((0,)), False, None, flat, Result())),
                    Call("aten::index.Tensor_out", (flat, programs.OptionalTensorList((None, flat)), out, out)),
                ],
                (dynamic, 5, None),
                (out, size, half, constant),
                (64,),
            ),
            "encode": Method([], (moved,), (moved, moved)),
        }
    )
    cache = Tensor(6, (0,), (4,), place=(2, 0), name="cache")
    copy = Call("aten::copy_", (cache, out, False, cache))
    yield programs.build({name: Method([copy], (out,), (cache,), (64, 16)) for name in ("prefill", "decode")})


if __name__ == "__main__":
    fuzzing.run(_test, _seeds)
