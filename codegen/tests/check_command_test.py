from __future__ import annotations

import json

from absl.testing import absltest

from codegen.tests import case, programs


class CheckCommandTest(case.TestCase):
    def _manifest(self, label: str, *operators: str) -> str:
        entries = [
            {
                "schema": f"{operator}(Tensor x) -> Tensor",
                "kernel": "a::native::f",
                "location": ["a.yaml", 1, 1],
                "kernel_location": ["a.yaml", 1, 1],
            }
            for operator in operators
        ]
        content = {"label": label, "yaml_names": ["a.yaml"], "operators": entries}
        return "--manifest=" + self.write(f"{label.rpartition(':')[2]}.json", json.dumps(content))

    def _check(self, program: bytes, *manifests: str) -> str:
        output = self.directory / "report.txt"
        path = self.write("model.pte", program)
        self.run_command("check", f"--program={path}", "--program_name=//m:m", f"--output={output}", *manifests)
        return output.read_text()

    def test_every_operator_is_registered(self) -> None:
        program = programs.build({"f": [["my_ops::mul3.out", "aten::add.out"]], "g": [["aten::sym_size.int"]]})
        manifests = (
            self._manifest("//ops:aten", "aten::add.out", "aten::mul.out"),
            self._manifest("//ops:mine", "my_ops::mul3.out"),
        )
        self.assertEqual(
            self._check(program, *manifests),
            """\
The 3 operators of //m:m, and what registers them:
aten::add.out: //ops:aten
aten::sym_size.int: the runtime
my_ops::mul3.out: //ops:mine
""",
        )

    def test_missing_operators(self) -> None:
        program = programs.build({"f": [["my_ops::mul3.out", "aten::add.out", "aten::sub.out"]]})
        findings = self.findings(lambda: self._check(program, self._manifest("//ops:aten", "aten::add.Scalar_out")))
        self.assertEqual(
            [finding.partition("\n")[0] for finding in findings],
            [
                "//m:m: error: aten::add.out, which //m:m asks for, is not provided by //ops:aten; did you mean "
                "aten::add.Scalar_out?",
                "//m:m: error: aten::sub.out, which //m:m asks for, is not provided by //ops:aten",
                "//m:m: error: my_ops::mul3.out, which //m:m asks for, is not provided by //ops:aten",
            ],
        )

    def test_no_libraries(self) -> None:
        finding = self.finding(lambda: self._check(programs.build({"f": [["aten::add.out"]]})))
        self.assertIn("is not provided by any library: the binary links none\n", finding)
        self.assert_id(finding, "missing-operator")

    def test_no_program(self) -> None:
        finding = self.finding(lambda: self._check(b"", self._manifest("//ops:aten")))
        self.assert_starts_with(finding, "//m:m: error: the program is an empty file\n")
        self.assert_id(finding, "damaged-program")


if __name__ == "__main__":
    absltest.main()
