"""Runs programs with values of each type that a schema can have, with kernels of both dialects.

The kernels of both YAML files put a number for each argument into a tensor; they are in kernels.cpp beside the YAML
file. The arguments are two programs and the YAML files of the operators that each runs.
"""

from __future__ import annotations

import re
import struct
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from absl.testing import absltest

from codegen.checks import calls
from codegen.inputs import functions_yaml, program_fields, program_reader
from codegen.model import aten_kernels, schema, schema_types, signatures
from codegen.model.operators import Operator
from codegen.model.schema_types import Dialect
from codegen.tests import case, programs
from diagnostics.errors import Location

_DOUBLE = 7
_SIZE = 16
_VALUES = ("types::tensors.out", "types::numbers.out", "types::lists.out", "types::names.out")
# Of the operators that return a number, what they return for _X.
_RETURNED = {
    "types::same": 10.0,
    "types::view": 10.0,
    "types::count": _SIZE,
    "types::sym_count": _SIZE,
    "types::first": 10.0,
    "types::is_empty": 0,
    "types::sym_is_empty": 0,
    "types::largest": 30.0,
}


def _tensor(*values: float) -> programs.Tensor:
    padded = [*values, *(0.0 for _ in range(_SIZE - len(values)))]
    return programs.Tensor(_DOUBLE, (0,), (_SIZE,), struct.pack(f"<{_SIZE}d", *padded))


def _out() -> programs.Tensor:
    return programs.Tensor(_DOUBLE, (0,), (_SIZE,))


_X = _tensor(10, 30, 20)
# Values of each type, with the numbers that the kernels put down for them.
_CASES: Mapping[str, Sequence[tuple[programs.Value, float]]] = {
    "Tensor": [(_tensor(2), 2)],
    "Scalar": [(5, 5), (0.5, 0.5), (True, 1)],
    "int": [(6, 6)],
    "SymInt": [(7, 7)],
    "float": [(0.25, 0.25)],
    "bool": [(True, 1), (False, 0)],
    "SymBool": [(True, 1), (False, 0)],
    "str": [("abcd", 4)],
    "ScalarType": [(6, 6)],
    "MemoryFormat": [(1, 1)],
    "Layout": [(1, 1)],
    "Device": [(1, 1)],
    "Tensor[]": [(programs.TensorList((_tensor(2), _tensor(3))), 5)],
    # The kernels count 1000 for None.
    "Tensor?[]": [(programs.OptionalTensorList((_tensor(3), None)), 1003)],
    "int[]": [(programs.IntList((1, 2)), 3)],
    "SymInt[]": [(programs.IntList((3, 4)), 7)],
    "float[]": [(programs.DoubleList((0.25, 0.5)), 0.75)],
    "bool[]": [(programs.BoolList((True, False, True)), 2)],
    "SymBool[]": [(programs.BoolList((True, True, True)), 3)],
    # Only PyTorch's own kernels take the type: what they add to 2 and to 3.
    "Scalar[]": [
        (programs.IntList((4, 5)), 4),
        (programs.DoubleList((0.5, 5.0)), 0.5),
        (programs.BoolList((True, False)), 1),
    ],
}
# How often to call each operator, so that each value of each type is met.
_VARIANTS = max(map(len, _CASES.values()))


@dataclass(frozen=True)
class _Method:
    """A method with one call, and the numbers that its outputs start with."""

    call: programs.Call
    expected: Sequence[Sequence[float]]


def _row(type_: schema.Type) -> str:
    """The name of a type in the table, which has no sizes."""
    return re.sub(r"\[\d+\]", "[]", str(type_))


def _variant(function: schema.FunctionSchema, number: int) -> _Method:
    """A call of one of the operators that put down numbers; without optionals if the number is that of no variant."""
    values: list[programs.Value] = []
    expected: list[float] = []
    for argument in function.arguments[:-1]:
        row = _row(argument.type)
        cases = _CASES[row.removesuffix("?")]
        value, meaning = (None, -1.0) if row.endswith("?") and number == _VARIANTS else cases[number % len(cases)]
        values.append(value)
        expected.append(meaning)
    out = _out()
    return _Method(programs.Call(str(function.name), (*values, out, out)), [expected])


def _methods(operators: Mapping[str, Operator]) -> dict[str, _Method]:
    """The methods of the program for a YAML file's operators."""
    methods = {}
    for name in _VALUES:
        for i in range(_VARIANTS + 1):
            methods[f"{name}:{i}"] = _variant(operators[name].schema, i)
    for name, returned in _RETURNED.items():
        if name in operators:
            methods[name] = _Method(programs.Call(name, (_X, programs.Result())), [[returned]])
    return methods


def _methods_of_pytorch() -> dict[str, _Method]:
    """Calls of PyTorch's own kernels with what no other kernel takes."""
    methods = {}
    for i, (scalars, added) in enumerate(_CASES["Scalar[]"]):
        tensors, outs = programs.TensorList((_tensor(2), _tensor(3))), programs.TensorList((_out(), _out()))
        call = programs.Call("aten::_foreach_add.ScalarList_out", (tensors, scalars, outs, None))
        methods[f"{call.operator}:{i}"] = _Method(call, [[2 + added], [3 + (5, 5, 0)[i]]])
    out = _out()
    ones = _tensor(1, 1, 0)
    methods["aten::bernoulli.out"] = _Method(programs.Call("aten::bernoulli.out", (ones, None, out, out)), [[1, 1, 0]])
    return methods


class AllTypesProgramTest(case.TestCase):
    runner: Mapping[Dialect, str]
    operators: Mapping[Dialect, Mapping[str, Operator]]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.runner = {Dialect.EXECUTORCH: sys.argv[1], Dialect.ATEN: sys.argv[3]}
        cls.operators = {
            Dialect.EXECUTORCH: functions_yaml.read(None, sys.argv[2], max_kernels=2000),
            Dialect.ATEN: functions_yaml.read(None, None, aten_custom_ops_yaml=sys.argv[4], max_kernels=2000),
        }

    def test_every_type_has_a_case(self) -> None:
        self.assertEqual(_CASES.keys(), {name for name, row in schema_types.TYPES.items() if row.tags})

    def test_every_type_is_an_argument(self) -> None:
        for dialect, operators in self.operators.items():
            types = {_row(argument.type) for name in _VALUES for argument in operators[name].schema.arguments}
            for name, row in schema_types.TYPES.items():
                if row.cpp_type(dialect):
                    self.assertIn(name, types, dialect)
                    self.assertIn(f"{name}?", types, dialect)

    def test_every_type_that_a_kernel_may_return_is_returned(self) -> None:
        returnable = {name for name, row in schema_types.TYPES.items() if row.is_returned}
        for dialect, operators in self.operators.items():
            returned = {str(operators[name].schema.returns[0].type) for name in _RETURNED if name in operators}
            # PyTorch would allocate the tensor.
            self.assertEqual(returned | {"Tensor"}, returnable, dialect)

    def _check(self, dialect: Dialect, methods: Mapping[str, _Method], operators: Mapping[str, Operator]) -> None:
        """Runs methods, and compares the kinds of their calls' values with what the schemas' types allow."""
        program = self.write("program.pte", programs.build({name: [[method.call]] for name, method in methods.items()}))
        result = subprocess.run([self.runner[dialect], program], text=True, capture_output=True)
        self.assertEqual(result.returncode, 0, result.stderr)
        outputs = {line.split()[0]: [float(n) for n in line.split()[1:]] for line in result.stdout.splitlines()}
        self.assertEqual(outputs.keys(), methods.keys())
        for name, method in methods.items():
            with self.subTest(name):
                size = len(outputs[name]) // len(method.expected)
                for i, expected in enumerate(method.expected):
                    start = outputs[name][i * size :][: len(expected)]
                    self.assertEqual(start, list(expected))

        for name, found in program_reader.read(program, "//m:m").calls.items():
            with self.subTest(name):
                for kinds in found.kinds:
                    self.assertIsNone(calls.finding(operators[name], kinds, "//o:o", "//m:m"))
                self._check_tags(operators[name], sorted(found.kinds))

    def _check_tags(self, operator: Operator, calls_kinds: Sequence[tuple[str, ...]]) -> None:
        """The program has values of each kind that the table allows, and the check refuses every other."""
        for i, argument in enumerate(operator.schema.arguments):
            tags = schema_types.find(str(argument.type)).tags
            self.assertEqual({kinds[i] for kinds in calls_kinds}, tags, str(argument))
            for kind in program_fields.VALUES.keys() - tags:
                kinds = [*calls_kinds[0][:i], kind, *calls_kinds[0][i + 1 :]]
                self.assertIsNotNone(calls.finding(operator, kinds, "//o:o", "//m:m"), f"{kind} for {argument}")

    def test_kernels_with_executorchs_tensors(self) -> None:
        operators = self.operators[Dialect.EXECUTORCH]
        self._check(Dialect.EXECUTORCH, _methods(operators), operators)

    def test_kernels_with_pytorchs_tensors(self) -> None:
        operators = self.operators[Dialect.ATEN]
        self._check(Dialect.ATEN, _methods(operators), operators)

    def test_pytorchs_own_kernels(self) -> None:
        self._check(Dialect.ATEN, _methods_of_pytorch(), aten_kernels.WithAtenKernels({}))

    def test_other_types_are_refused(self) -> None:
        base = sorted(schema_types.BASE_TYPES)
        texts = {*base, *(f"{name}[]" for name in base), *(f"{name}?[]" for name in base)}
        for dialect in Dialect:
            refused = {
                text
                for text in texts
                if signatures.unsupported(
                    schema.parse(f"x::f({text} a) -> ()", lambda offset: Location("x.yaml")),
                    Location("x.yaml"),
                    dialect,
                )
            }
            taken = {name for name, row in schema_types.TYPES.items() if row.cpp_type(dialect)}
            self.assertEqual(texts - refused, taken)


if __name__ == "__main__":
    absltest.main(argv=sys.argv[:1])
