"""What C++ declares by EXECUTORCH_OPERATOR, as the compiler left it in a library."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from absl.testing import absltest

from codegen.inputs import functions_yaml
from codegen.tests import case

_HERE = Path(__file__).parents[2] / "runtime" / "torch" / "tests"
_SOURCE = "runtime/torch/tests/declared_kernels.cpp"


class DeclareCommandTest(case.TestCase):
    def _collect(self, *objects: str) -> str:
        output = str(self.directory / "kernels.declared.json")
        self.run_command(
            "collect", "--label=//ops:kernels", *(f"--object={path}" for path in objects), f"--output={output}"
        )
        return output

    def _line(self, text: str) -> int:
        """Where the source has a text."""
        lines = (_HERE / "declared_kernels.cpp").read_text().splitlines()
        return next(number for number, line in enumerate(lines, start=1) if text in line)

    def test_operators(self) -> None:
        operators = functions_yaml.read(None, None, declarations=[self._collect(sys.argv[1])], max_kernels=2000)
        self.assertEqual(
            {name: operator.kernels[0].function for name, operator in operators.items()},
            {
                "declared::halve.out": "declared::halve_out",
                "declared::range.out": "declared::range_out",
                "declared::unused.out": "declared::halve_out",
            },
        )
        location = operators["declared::halve.out"].location
        self.assertEqual((location.path, location.line), (_SOURCE, self._line('"declared::halve.out')))
        self.assertEqual(
            str(operators["declared::range.out"].schema),
            "declared::range.out(Tensor x, *, Tensor(a!) smallest, Tensor(b!) largest) -> (Tensor(a!), Tensor(b!))",
        )

    def test_binary_has_what_its_model_calls(self) -> None:
        listed = subprocess.run([_HERE / "declared_runner", "--list_operators"], check=True, capture_output=True)
        self.assertEqual(listed.stdout.decode().split(), ["declared::halve.out", "declared::range.out"])

    def test_no_declaration(self) -> None:
        self.assert_refused(
            lambda: self._collect(self.write("kernels.o", b"\x7fELF")), "declares-nothing //ops:kernels"
        )

    def test_mistakes_are_found_in_the_source(self) -> None:
        good = "my_ops::mul4.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)"
        declarations = (
            ("my_ops::f(Tensor x", "k::f"),
            ("my_ops::g.out(Generator x, *, Tensor(a!) out) -> Tensor(a!)", "k::g"),
            (good.replace("mul4", "mul5"), "mul5_out"),
            (good, "k::mul4_out"),
            (good, "k::mul4_out"),
        )
        content = [[schema, kernel, "ops/mul4.cpp", 7 + i] for i, (schema, kernel) in enumerate(declarations)]
        path = self.write("kernels.declared.json", json.dumps(content))
        self.assert_refused(
            lambda: functions_yaml.read(None, None, declarations=[path], max_kernels=2000),
            "malformed-schema ops/mul4.cpp:7:1",
            "unsupported-type ops/mul4.cpp:8:1",
            "bad-kernel-name ops/mul4.cpp:9:1",
            "duplicate-operator ops/mul4.cpp:11:1",
        )


if __name__ == "__main__":
    absltest.main(argv=sys.argv[:1])
