"""A monorepo with a Python toolchain of its own, of another version than that of the packages."""

from __future__ import annotations

import os
import pathlib
import platform
import shutil
import subprocess

from absl.testing import absltest

from tests.downstream import nested_bazel

_TMP = pathlib.Path(os.environ["TEST_TMPDIR"])
_TOOLCHAIN = """\
load("@rules_python//python:py_runtime.bzl", "py_runtime")
load("@rules_python//python:py_runtime_pair.bzl", "py_runtime_pair")

py_runtime(
    name = "runtime",
    interpreter_path = "{python}",
    python_version = "PY3",
)

py_runtime_pair(
    name = "runtime_pair",
    py3_runtime = ":runtime",
)

toolchain(
    name = "toolchain",
    toolchain = ":runtime_pair",
    toolchain_type = "@rules_python//python:toolchain_type",
)
"""


# The packages of this build are for the Python of this test.
_OF_PACKAGES = "Python " + ".".join(platform.python_version_tuple()[:2])


def _version(python: pathlib.Path) -> str:
    """Returns the version of an interpreter as Python 3.13."""
    run = subprocess.run([str(python), "--version"], check=True, capture_output=True, text=True)
    return run.stdout.rpartition(".")[0]


@absltest.skipUnless(platform.machine() == "x86_64", "the other Python is a program for x86-64")
class MonorepoTest(absltest.TestCase):
    python: pathlib.Path
    workspace: nested_bazel.Workspace

    @classmethod
    def setUpClass(cls) -> None:
        cls.python = nested_bazel.runfile("python_3_13", "bin/python3").resolve()
        root = nested_bazel.make("monorepo", _TMP / "monorepo")
        (root / "python").mkdir()
        (root / "python/BUILD.bazel").write_text(_TOOLCHAIN.format(python=cls.python))
        shutil.copy(nested_bazel.runfile("_main", "examples/plain_model/model.py"), root)
        cls.workspace = nested_bazel.Workspace(root, "--noenable_workspace")
        cls.addClassCleanup(cls.workspace.__exit__)

    def test_other_version(self) -> None:
        """The case of this file."""
        self.assertNotEqual(_version(self.python), _OF_PACKAGES)

    def test_models(self) -> None:
        run = self.workspace.succeed("run", "//:classifier", "--", "--check")
        self.assertIn("PASSED: 1 samples", run.stdout)

    def test_environment_of_another_version(self) -> None:
        other = f"--repo_env=EXECUTORCH_PYTHON={self.python}"
        wrong = self.workspace.bazel("build", "--nobuild", other, "//:classifier.pte")
        self.assertIn(f"for {_OF_PACKAGES}, of ", wrong.stderr)
        self.assertIn(f": expected {_version(self.python)}, the version of ", wrong.stderr)

    def test_export_without_worker(self) -> None:
        self.workspace.succeed("build", "--strategy=EtExport=sandboxed", "//:classifier.pte")

    def test_operator_in_pytorch(self) -> None:
        self.workspace.succeed("test", "//:doubled_test")

    def test_tools(self) -> None:
        """Commands run under the version that installs the packages."""
        run = self.workspace.succeed("run", "@rules_executorch//torch_ops:environment")
        self.assertIn(_OF_PACKAGES, " ".join(run.stdout.split()))

    def test_other_project_keeps_its_python(self) -> None:
        run = self.workspace.succeed("run", "//:version_test")
        self.assertIn(_version(self.python), run.stdout)

    def test_program_that_imports_pytorch(self) -> None:
        wrong = self.workspace.bazel("test", "--test_output=errors", "//:pytorch_test")
        self.assertIn("Failed to load PyTorch C extensions", wrong.stdout + wrong.stderr)
        self.workspace.succeed("test", "--extra_toolchains=@executorch_host_python//:toolchain", "//:pytorch_test")


if __name__ == "__main__":
    absltest.main()
