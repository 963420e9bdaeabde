"""Tests of compile_commands: what it writes compiles again, from the root of the workspace."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

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


if __name__ == "__main__":
    absltest.main()
