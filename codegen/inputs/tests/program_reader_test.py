from __future__ import annotations

import functools
import os
import random
import resource
import struct
import time

from absl.testing import absltest

from codegen.inputs import program_reader
from codegen.tests import case, programs
from codegen.tests.programs import Call, OptionalTensorList, Tensor, TensorList
from diagnostics.errors import InputError

_FLOAT, _HALF, _LONG = 6, 5, 4


def _memory() -> int:
    """The most memory that this process has had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


class ProgramReaderTest(case.TestCase):
    def _operators(self, data: bytes) -> frozenset[str]:
        return frozenset(program_reader.read(self.write("model.pte", data), "//models:m").calls)

    def _assert_refused(self, expected: str, data: bytes) -> None:
        self.assert_refused(lambda: self._operators(data), f"{expected} //models:m")

    def _read_or_refuse(self, data: bytes) -> None:
        """Reads a program, or refuses a damaged one, in which the version may be another."""
        try:
            self._operators(data)
        except InputError as error:
            (finding,) = error.findings
            self.assertIn(finding.id, ("damaged-program", "newer-program"))
            self.assertEqual(finding.where, "//models:m")

    def test_every_method_chain_and_instruction(self) -> None:
        for header in (True, False):
            data = programs.build(
                {
                    "forward": [["aten::add.out", "aten::mul.out"], ["aten::relu.out"]],
                    "encode": [["my_ops::mul3.out", "aten::add.out"]],
                    "empty": [],
                },
                header=header,
            )
            expected = {"aten::add.out", "aten::mul.out", "aten::relu.out", "my_ops::mul3.out"}
            self.assertEqual(self._operators(data), expected)
            program = program_reader.read(self.write("model.pte", data), "//models:m")
            self.assertEqual(program.methods, ("forward", "encode", "empty"))

    def test_operator_without_overload(self) -> None:
        self.assertEqual(self._operators(programs.build({"forward": [["aten::copy_"]]})), {"aten::copy_"})

    def _calls(self, *chain: Call) -> dict[str, list[str]]:
        data = programs.build({"forward": [chain]})
        calls = program_reader.read(self.write("model.pte", data), "//models:m").calls
        return {operator: sorted(found.selected) for operator, found in calls.items()}

    def test_every_tensor_of_a_call_is_part_of_its_key(self) -> None:
        """Scalars, None and lists are not; 0-dim tensors and the return value are."""
        tensors = (
            Tensor(_FLOAT, (0, 1)),
            Tensor(_LONG, (0,)),
            7,
            None,
            Tensor(_FLOAT, ()),
            Tensor(_HALF, (0, 2, 3, 1)),
        )
        self.assertEqual(self._calls(Call("aten::add.out", tensors)), {"aten::add.out": ["v1/6;0,1|4;0|6;|5;0,2,3,1"]})

    def test_calls_of_one_operator(self) -> None:
        calls = [Call("aten::relu.out", (Tensor(dtype, (0,)),) * 3) for dtype in (_FLOAT, _HALF, _FLOAT)]
        self.assertEqual(self._calls(*calls), {"aten::relu.out": ["v1/5;0|5;0|5;0", "v1/6;0|6;0|6;0"]})

    def test_call_without_tensors(self) -> None:
        self.assertEqual(
            self._calls(Call("executorch_prim::add.Scalar", (1, 2, 3))), {"executorch_prim::add.Scalar": ["default"]}
        )

    def test_dtypes_in_lists_are_kept_beside_the_key(self) -> None:
        floats, halves = Tensor(_FLOAT, (0, 1)), Tensor(_HALF, (0,))
        self.assertEqual(
            self._calls(
                Call("aten::cat.out", (TensorList((floats, halves)), 0, floats, floats)),
                Call("aten::stack.out", (TensorList((floats, floats)), 0, floats, floats)),
                Call(
                    "aten::index.Tensor_out", (floats, OptionalTensorList((None, Tensor(_LONG, (0,)))), floats, floats)
                ),
            ),
            {
                "aten::cat.out": ["v1/5;", "v1/6;0,1|6;0,1"],
                "aten::stack.out": ["v1/6;0,1|6;0,1"],
                "aten::index.Tensor_out": ["v1/4;", "v1/6;0,1|6;0,1|6;0,1"],
            },
        )

    def test_bundled_program(self) -> None:
        program = programs.build({"forward": [["aten::add.out"]], "encode": [["aten::mul.out"]]})
        bundle = programs.bundle(program)
        self.assertEqual(self._operators(bundle), {"aten::add.out", "aten::mul.out"})
        for data in (bundle[:-8], programs.bundle(b""), programs.bundle(program[:50]), bundle[:20]):
            self._assert_refused("damaged-program", data)
        self._assert_refused("not-a-program", programs.bundle(bytes(100)))

    def test_large_program_is_not_copied(self) -> None:
        """A program of 1 GiB, nearly all of it a hole in the file, takes no memory of that size."""
        path = str(self.directory / "large.pte")
        programs.write_large(path, programs.build({"forward": [["aten::add.out"]]}), 1 << 30)
        self.assertEqual(os.path.getsize(path), 1 << 30)
        before = _memory()
        self.assertEqual(program_reader.read(path, "//models:m").calls.keys(), {"aten::add.out"})
        self.assertLess(_memory() - before, 16 << 20)
        with open(path, "r+b") as file:
            file.truncate((1 << 30) - 1)
        self.assert_refused(lambda: program_reader.read(path, "//models:m"), "damaged-program //models:m")

    def test_impossible_tensors(self) -> None:
        for tensor in (Tensor(99, (0,)), Tensor(_FLOAT, tuple(range(17)))):
            data = programs.build({"forward": [[Call("aten::add.out", (tensor,))]]})
            self._assert_refused("damaged-program", data)

    def test_delegates_bring_their_own_operators(self) -> None:
        data = programs.build({"forward": [["delegate", "aten::add.out", "delegate"]]}, unused=["aten::mm.out"])
        self.assertEqual(self._operators(data), {"aten::add.out"})
        self.assertFalse(self._operators(programs.build({"forward": [["delegate"]]})))

    def test_backends(self) -> None:
        data = programs.build({"forward": [["delegate"]], "encode": []}, backends=("MyBackend", "OtherBackend"))
        program = program_reader.read(self.write("model.pte", data), "//models:m")
        self.assertEqual(program.backends, {"MyBackend", "OtherBackend"})

    def test_empty_file(self) -> None:
        self._assert_refused("damaged-program", b"")

    def test_truncated_program(self) -> None:
        data = programs.build({"forward": [["aten::add.out"]]})
        for size in (9, 20, 30, 39, 40, 60, len(data) - 1):
            self._assert_refused("damaged-program", data[:size])
        self._assert_refused("not-a-program", data[:7])

    def test_truncated_program_without_a_header(self) -> None:
        data = programs.build({"forward": [["aten::add.out"]]}, header=False)
        for size in range(8, len(data), 4):
            self._read_or_refuse(data[:size])

    def test_random_bytes(self) -> None:
        noise = random.Random(7)
        self._assert_refused("not-a-program", noise.randbytes(4096))
        for _ in range(200):
            data = bytearray(noise.randbytes(256))
            data[:8] = struct.pack("<I4s", 12, b"ET12")
            places = self.places(functools.partial(self._operators, bytes(data)))
            self.assertEqual(places, ["damaged-program //models:m"])

    def test_damaged_program(self) -> None:
        """A program with one changed byte is read or refused, and never anything else."""
        floats = Tensor(_FLOAT, (0, 1))
        values = (floats, TensorList((floats,)), OptionalTensorList((None, floats)), 3, None, floats)
        data = programs.build({"forward": [[Call("aten::add.out", values), "aten::mul.out"]]})
        for position in range(40, len(data)):
            damaged = bytearray(data)
            damaged[position] ^= 0xFF
            self._read_or_refuse(bytes(damaged))

    def test_other_identifier(self) -> None:
        data = bytearray(programs.build({"forward": [["aten::add.out"]]}))
        data[4:8] = b"ET99"
        self._assert_refused("not-a-program", bytes(data))
        data[4:8] = b"FT01"
        self._assert_refused("not-a-program", bytes(data))

    def _assert_refused_at_once(self, data: bytes) -> None:
        start = time.process_time()
        self._assert_refused("damaged-program", data)
        self.assertLess(time.process_time() - start, 1)

    def test_the_same_parts_over_and_over(self) -> None:
        """A few kilobytes that ask for 10^9 calls: each method, chain and instruction is one and the same."""
        for methods, chains, instructions in ((1000, 1000, 1000), (3000, 3000, 1), (1, 3000, 3000)):
            self._assert_refused_at_once(programs.repeat(methods, chains, instructions))

    def test_a_long_name_over_and_over(self) -> None:
        self._assert_refused_at_once(programs.repeat(1, 1, 1, operators=20_000, name="aten::" + "a" * 80_000))

    def test_lengths_that_no_file_has(self) -> None:
        """Whatever four bytes of a program become the greatest length, the answer comes at once."""
        data = programs.build({"forward": [["aten::add.out", "aten::mul.out"], ["aten::relu.out"]]})
        start = time.process_time()
        for position in range(40, len(data) - 4, 4):
            for length in (2**31 - 1, 2**32 - 1, 2**24):
                damaged = bytearray(data)
                struct.pack_into("<I", damaged, position, length)
                self._read_or_refuse(bytes(damaged))
        self.assertLess(time.process_time() - start, len(data) // 4)

    def test_newer_version(self) -> None:
        self._assert_refused("newer-program", programs.build({"forward": [["aten::add.out"]]}, version=1))

    def test_kinds_of_values(self) -> None:
        tensor = Tensor(_FLOAT, (0,))
        call = Call("aten::add.out", (tensor, 3, None, TensorList((tensor,)), tensor))
        path = self.write("model.pte", programs.build({"f": [[call, call]], "g": [["aten::mul.out"]]}))
        self.assertEqual(
            {name: found.kinds for name, found in program_reader.read(path, "//models:m").calls.items()},
            {"aten::add.out": {("Tensor", "Int", "Null", "TensorList", "Tensor")}, "aten::mul.out": {()}},
        )

    def test_no_methods(self) -> None:
        self._assert_refused("damaged-program", programs.build({}))

    def test_missing_file(self) -> None:
        self.assert_refused(lambda: program_reader.read("no/such.pte", "//models:m"), "unreadable-file //models:m")


if __name__ == "__main__":
    absltest.main()
