from __future__ import annotations

import subprocess
import sys

from absl.testing import absltest

from codegen.tests import case

_COMMANDS = ("select", "generate", "bind", "check")


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "codegen.main", *arguments]
    # The search path of this process, which Bazel sets up, is that of the tool.
    env = {"PYTHONPATH": ":".join(filter(None, sys.path))}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=env)


class MainTest(case.TestCase):
    def test_help(self) -> None:
        result = _run("--help")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        for command in _COMMANDS:
            self.assertIn(f"\n  {command} ", result.stdout)

    def test_help_of_a_subcommand(self) -> None:
        for command, own, others in (
            ("select", "--ops", "--nm"),
            ("generate", "--functions_yaml", "--ops"),
            ("bind", "--nm", "--functions_yaml"),
            ("check", "--program_name", "--nm"),
        ):
            result = _run(command, "--help")
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertIn(f"    codegen {command} --", result.stdout)
            self.assertIn(f"\n  {own}: ", result.stdout)
            self.assertNotIn(f"\n  {others}: ", result.stdout)

    def test_wrong_usage(self) -> None:
        for arguments, expected in (
            ((), ""),
            (
                ("gen",),
                "codegen: there is no subcommand 'gen', only select, collect, generate, generate_torch, bind, "
                "prune, check, compile, bundle, memory, memory_limit, python_library, size, size_limit, torch_library, "
                "torch_check, wheel.",
            ),
            (("select",), "codegen select: flag --output=None: Flag --output must have a value other than None."),
            (("select", "--nm=x"), "codegen select: Unknown command line flag 'nm'"),
            (("select", "--output=x", "aten::add.out"), "codegen select: 'aten::add.out' belongs to no flag."),
        ):
            with self.subTest(arguments):
                result = _run(*arguments)
                self.assertNotEqual(result.returncode, 0)
                self.assert_starts_with(result.stderr, expected)
                self.assertNotIn("Traceback", result.stderr)

    def test_bad_input(self) -> None:
        result = _run("select", f"--output={self.directory}/selected_operators.yaml", "--ops=add.out", "--label=//a:b")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertEqual(
            result.stderr,
            """\
//a:b: error: 'add.out' is not an operator's full name; did you mean aten::add.out?
  Likely cause: the namespace was forgotten
  Fix: write it as namespace::name.overload, such as aten::add.out
  See: docs/errors.md#bad-operator-name
""",
        )

    def test_files_that_cannot_be_used(self) -> None:
        not_text = self.write("not_text", b"\xff\xfe\nselect\n")
        for arguments, expected in (
            (["@no/file"], "codegen: cannot read the arguments in no/file: No such file or directory\n"),
            ([f"@{self.directory}"], f"codegen: cannot read the arguments in {self.directory}: Is a directory\n"),
            ([f"@{not_text}"], r"codegen: there is no subcommand '\udcff\udcfe', only select, "),
            (["select", "--ops=aten::a", "--output=no/x"], "codegen select: no/x: No such file or directory\n"),
            (["select", "--ops=aten::a", f"--output={self.directory}"], f"codegen select: {self.directory}: Is a dir"),
            (["select", "--ops=aten::a", "--output=/dev/full"], "codegen select: [Errno 28] No space left on device\n"),
            (["select", f"--ops={'a' * 10**5}", "--output=x"], "--ops: error: 'aaa"),
            (["select", "--flagfile=no", "--output=x"], "codegen select: "),
        ):
            with self.subTest(arguments):
                result = _run(*arguments)
                self.assertEqual((result.returncode, result.stdout), (1, ""))
                self.assert_starts_with(result.stderr, expected)
                self.assertNotIn("Traceback", result.stderr)
                self.assertLess(len(result.stderr), 5000)

    def test_flags_from_a_file(self) -> None:
        output = self.directory / "selected_operators.yaml"
        # A line ends at a line feed alone.
        lines = (
            "select",
            "--label",
            "//ops\x85\u2028:lib",
            f"--output={output}",
            "--ops=aten::add.out",
            "--ops=aten::mul.out",
        )
        result = _run("@" + self.write("params", "\n".join(lines)))
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("aten::mul.out", output.read_text())
        self.assertIn(r"//ops\U00000085\U00002028:lib", output.read_text())


if __name__ == "__main__":
    absltest.main()
