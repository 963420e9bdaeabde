"""Tests of compile_commands: what it writes compiles again, from the root of the workspace."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from unittest import mock

from absl.testing import absltest

from tools.compile_commands import compile_commands

_GENERATED = re.compile(r"bazel-out/[^/]+/bin(?=/)")


class CompileCommandsTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        workspace = Path.cwd()
        texts = [file.read_text() for file in sorted(workspace.rglob("*.compile_commands.json"))]

        # What stands where Bazel runs compilers: files of the workspace, generated files, other repositories.
        root = Path(self.create_tempdir().full_path)
        (root / "external").symlink_to(workspace.parent)
        for generated in {folder for text in texts for folder in _GENERATED.findall(text)}:
            (root / generated).parent.mkdir(parents=True)
            (root / generated).symlink_to(workspace)
        commands = [command for text in texts for command in json.loads(text)]
        self.entries = list(compile_commands.entries(commands, workspace, root))

    def check(self, ending: str) -> None:
        """One file compiles again."""
        (entry,) = [entry for entry in self.entries if entry["file"].endswith(ending)]
        arguments = [*entry["arguments"], "-fsyntax-only"]
        result = subprocess.run(arguments, cwd=entry["directory"], capture_output=True, text=True)
        self.assertEqual((0, ""), (result.returncode, result.stderr))

    def test_kernel(self) -> None:
        self.check("kernels/portable/op_addmm.cpp")

    def test_generated_source(self) -> None:
        self.check("double_lib/RegisterKernels.cpp")

    def test_kernels_below_a_library(self) -> None:
        files = [entry["file"] for entry in self.entries]
        self.assertIn("tools/from_buck/tests/forms/op_triple.cpp", files)
        self.assertIn("kernels/tensors/resize.cpp", files)
        self.assertEqual(len(files), len(set(files)))

    def test_paths(self) -> None:
        flags = "-iquote . -Iexternal/a/b -isystem bazel-out/k8/bin/c -MD -MF x.d -fno-canonical-system-headers"
        command = {"arguments": ["gcc", *flags.split(), "-c", "kernels/a.cpp", "-o", "bazel-out/a.o"]}
        (entry,) = compile_commands.entries([command, command], Path("/user/tree"), Path("/cache/root"))
        expected = ["gcc", "-iquote", ".", "-I/cache/root/external/a/b", "-isystem", "/cache/root/bazel-out/k8/bin/c"]
        expected += ["-c", "kernels/a.cpp", "-o", "/cache/root/bazel-out/a.o", "-Wno-unknown-warning-option"]
        self.assertEqual({"directory": "/user/tree", "file": "kernels/a.cpp", "arguments": expected}, entry)

    def test_bazel(self) -> None:
        """In the order of what is found: the workspace's, one on the PATH, that of a checkout of the rules."""
        root = Path(self.create_tempdir().full_path)
        workspace, rules, other = root / "workspace", root / "rules", root / "other"
        with mock.patch.dict(os.environ, PATH=str(other)):
            self.assertIsNone(compile_commands.find_bazel(workspace, rules))
            for expected in (rules / "tools/bazel", other / "bazel", other / "bazelisk", workspace / "tools/bazel"):
                expected.parent.mkdir(exist_ok=True, parents=True)
                expected.touch(0o755)
                self.assertEqual(str(expected), compile_commands.find_bazel(workspace, rules))

    def test_no_bazel(self) -> None:
        root = Path(self.create_tempdir().full_path)
        program = shutil.copy(compile_commands.__file__, root)
        run = subprocess.run(
            [sys.executable, program],
            capture_output=True,
            check=False,
            env=os.environ
            | {"BUILD_WORKSPACE_DIRECTORY": str(root), "PATH": "", "PYTHONPATH": os.pathsep.join(sys.path)},
            text=True,
        )
        self.assertEqual(1, run.returncode)
        self.assertIn(f"found no Bazel to run: neither {root}/tools/bazel, nor bazelisk", run.stderr)


if __name__ == "__main__":
    absltest.main()
