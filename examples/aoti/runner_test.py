"""What the runner does without its samples: inputs by hand, and mistakes."""

from __future__ import annotations

import os
import subprocess
import zipfile
from pathlib import Path

from absl.testing import absltest

_HERE = Path(__file__).parent


class RunnerTest(absltest.TestCase):
    def run_binary(self, *flags: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([str(_HERE / "runner"), *flags], capture_output=True, text=True)

    def output_of(self, *flags: str) -> str:
        result = self.run_binary(*flags)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def assert_error(self, *flags: str, expected: str) -> None:
        result = self.run_binary(*flags)
        self.assertEqual(result.returncode, 1)
        for text in (expected, "Likely cause: ", "Fix: "):
            self.assertIn(text, result.stderr)

    def test_needs_no_python(self) -> None:
        libraries = subprocess.run(["ldd", str(_HERE / "runner")], capture_output=True, text=True, check=True).stdout
        self.assertIn("libtorch_cpu.so", libraries)
        self.assertNotIn("python", libraries.replace(str(_HERE), ""))

    def test_questions(self) -> None:
        self.assertEqual(self.output_of("--list_operators"), "custom_ops::matmul\n")
        self.assertEqual(
            self.output_of("--list_methods"), "forward\n  input 0   float32 [2, 8]\n  output 0  float32 [2, 4]\n"
        )
        self.assertIn("The .pt2 file.", self.output_of("--help"))

    def test_inputs_by_hand(self) -> None:
        self.assertIn("output 0  float32 [3, 4]: ", self.output_of("--input=3x8:arange"))

    def test_input_that_is_too_large(self) -> None:
        self.assert_error("--input=17x8:ones", expected="expected to be <= 16, but got: 17")

    def test_unknown_method(self) -> None:
        self.assert_error("--method=encode", expected="has no method encode; it has: forward.")

    def test_no_such_package(self) -> None:
        self.assert_error("--program=/nowhere.pt2", expected="cannot read the package /nowhere.pt2: No such file")

    def test_what_is_no_file(self) -> None:
        pipe = self.create_tempdir().full_path + "/pipe"
        os.mkfifo(pipe)
        self.assert_error(f"--program={pipe}", expected=f"cannot read the package {pipe}: it is a pipe")
        self.assert_error("--input=@/dev/zero", expected="cannot read /dev/zero: it is a pipe or a device")
        self.assert_error("--samples=/", expected="cannot read the samples /: it is a folder")

    def test_more_elements_than_any_input_has(self) -> None:
        self.assert_error("--input=99999x99999:ones", expected="9999800001 elements; --input makes 2147483647")

    def test_damaged_samples(self) -> None:
        content = (_HERE / "model.ptd").read_bytes()
        damaged = self.create_tempfile().full_path
        # runtime/fuzz changes more of such files, for the runner of programs, which reads them by the same code.
        for place in (0, 24, 80):
            Path(damaged).write_bytes(content[:place] + b"\xff\xff\xff\x7f" + content[place + 4 :])
            self.assert_error(f"--samples={damaged}", expected="cannot read the samples")

    def test_package_that_describes_itself_wrongly(self) -> None:
        good = "6:2,8:0,1;"
        for wrong in ("6:2,8:0,0;", "99:2,8:0,1;", "x:2,8:0,1;"):
            path = self.create_tempfile().full_path
            with zipfile.ZipFile(_HERE / "model.pt2") as package, zipfile.ZipFile(path, "w") as changed:
                names = [name for name in package.namelist() if good.encode() in package.read(name)]
                self.assertGreater(len(names), 0)
                for name in package.namelist():
                    changed.writestr(name, package.read(name).replace(good.encode(), wrong.encode()))
            self.assert_error(f"--program={path}", expected="does not say what it takes and gives")

    def test_output_that_cannot_be_written(self) -> None:
        with open("/dev/full", "wb") as full:
            result = subprocess.run([str(_HERE / "runner")], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual(result.returncode, 1)
        self.assertIn("cannot write to stdout: No space left", result.stderr)

    def test_no_package(self) -> None:
        self.assert_error(f"--program={_HERE / 'model.ptd'}", expected="is not a package of AOTInductor")

    def test_package_holds_no_path_of_the_machine(self) -> None:
        package = (_HERE / "model.pt2").read_bytes()
        for path in (b"/tmp/", b"/execroot/", b"site-packages/"):
            self.assertNotIn(path, package)


if __name__ == "__main__":
    absltest.main()
