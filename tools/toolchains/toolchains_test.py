"""Tests of the rows, with a program in place of Bazel that notes its arguments."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from absl.testing import absltest

from tools.toolchains import toolchains

# Fails for the command that has the word in the file `failing`.
_BAZEL = """#!/bin/sh
root=$(dirname "$0")/..
echo "$*" >> "$root/calls"
case "$*" in
  *"$(cat "$root/failing")"*) exit 3 ;;
  "info output_base") echo "$root/base" ;;
  cquery*) echo "external/toolchain/command" ;;
esac
"""
_COMMAND = "#!/bin/sh\necho a compiler, 15.3.0\n"


class ToolchainsTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.tree = Path(self.create_tempdir().full_path)
        for path in ("README.md", "docs/first_operator.md", "docs/workspace.md", "examples"):
            (self.tree / path).parent.mkdir(exist_ok=True)
            if Path(path).is_dir():
                shutil.copytree(path, self.tree / path)
            else:
                shutil.copy(path, self.tree / path)
        self._write("tools/bazel", _BAZEL).chmod(0o755)
        self._write("base/external/toolchain/command", _COMMAND).chmod(0o755)
        for name in ("runtime", "python/site-packages", "codegen_python/site-packages"):
            (self.tree / f"base/external/_main~executorch~executorch_{name}").mkdir(parents=True)
        self._write("bazel-bin/examples/quickstart/model.pte", "")

    def _write(self, path: str, text: str) -> Path:
        file = self.tree / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def _run(self, *arguments: str, failing: str = "nothing") -> subprocess.CompletedProcess[str]:
        self._write("failing", failing)
        return subprocess.run(
            [sys.executable, "-m", "tools.toolchains.toolchains", *arguments],
            capture_output=True,
            text=True,
            env=os.environ
            | {
                "BUILD_WORKSPACE_DIRECTORY": str(self.tree),
                "PYTHONPATH": os.pathsep.join(str(Path(folder).absolute()) for folder in sys.path if folder),
                "XDG_CACHE_HOME": str(self.tree / "cache"),
            },
        )

    def _row(self, name: str) -> list[str]:
        return toolchains.kept((self.tree / "docs/workspace.md").read_text())[name][1:]

    def test_workspace(self) -> None:
        run = self._run("--only=gcc-15")
        self.assertEqual(0, run.returncode, run.stderr)
        (built,) = [call for call in (self.tree / "calls").read_text().splitlines() if "//plain" in call]
        for part in (
            " test --symlink_prefix=/ --@rules_executorch//rules:instruction_sets=baseline ",
            " --copt=-Werror --cxxopt=-std=c++20 ",
            f" --repo_env=CC={self.tree}/tools/../base/external/toolchain/command ",
        ):
            self.assertIn(part, built)
        version, _, result, date = self._row("gcc-15")
        self.assertEqual(("15.3.0", "passed"), (version, result))
        self.assertRegex(date, r"^\d{4}-\d\d-\d\d$")
        self.assertEmpty(list((self.tree / "cache/rules_executorch").iterdir()))

    def test_failure(self) -> None:
        self._run("--only=gcc-15")
        run = self._run("--only=clang-14-quick,clang-19-quick", failing="//:quick")
        self.assertNotEqual(0, run.returncode)
        self.assertIn("failed: clang-14-quick\nfailed: clang-19-quick\n", run.stderr)
        self.assertEqual("FAILED", self._row("clang-19-quick")[2])
        self.assertEqual("passed", self._row("gcc-15")[2])

    def test_package_that_cannot_be_fetched(self) -> None:
        before = (self.tree / "docs/workspace.md").read_text()
        run = self._run("--only=clang-14", failing="cquery")
        self.assertIn("failed: clang-14\n", run.stderr)
        self.assertEqual(before, (self.tree / "docs/workspace.md").read_text())

    def test_python(self) -> None:
        run = self._run("--only=python-3.14")
        self.assertEqual(0, run.returncode, run.stderr)
        calls = (self.tree / "calls").read_text().splitlines()
        self.assertLen([call for call in calls if "--repo_env=EXECUTORCH_PYTHON=" in call], 2)

    def test_workspace_is_the_pages(self) -> None:
        to = self.tree / "workspace"
        program = self.tree / "bazel-bin/examples/quickstart/model.pte"
        toolchains.write_workspace(self.tree, to, program, "# tags\n")
        module = (to / "MODULE.bazel").read_text()
        self.assertIn('bazel_dep(name = "rules_executorch"', module)
        self.assertIn(f'path = "{self.tree}")\n# tags\n', module)
        self.assertIn('name = "classifier"', (to / "plain/BUILD.bazel").read_text())
        self.assertIn('name = "perceptron"', (to / "operator/BUILD.bazel").read_text())

    def test_default(self) -> None:
        self.assertNotIn("python-3.14-exports", [row.name for row in toolchains.chosen([])])
        self.assertEqual(["python-3.14-exports"], [row.name for row in toolchains.chosen(["python-3.14-exports"])])

    def test_unknown_row(self) -> None:
        run = self._run("--only=gcc-3")
        self.assertNotEqual(0, run.returncode)
        self.assertIn("--only=gcc-3: no such row; the rows are gcc-15, gcc-15-quick, clang-14,", run.stderr)

    def test_version_that_cannot_be_read(self) -> None:
        silent = self._write("silent", "#!/bin/sh\necho a compiler\n")
        silent.chmod(0o755)
        with self.assertRaisesRegex(ValueError, r"silent --version: expected a version .*; found 'a compiler"):
            toolchains.version(silent)

    def test_page(self) -> None:
        page = Path(toolchains.PAGE).read_text()
        kept = toolchains.kept(page)
        self.assertEqual([row.name for row in toolchains.ROWS], list(kept))
        self.assertIn(
            toolchains.section(kept), page, "the table has other rows; update it: tools/bazel run //tools/toolchains"
        )


if __name__ == "__main__":
    absltest.main()
