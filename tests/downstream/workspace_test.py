"""Another workspace uses these rules by WORKSPACE, as docs/workspace.md says. bzlmod_test has the errors."""

from __future__ import annotations

import os
import pathlib
import subprocess

from absl.testing import absltest

from tests.downstream import nested_bazel

_TMP = pathlib.Path(os.environ["TEST_TMPDIR"])


class WorkspaceTest(absltest.TestCase):
    workspace: nested_bazel.Workspace

    @classmethod
    def setUpClass(cls) -> None:
        app = nested_bazel.make_app(_TMP / "workspace")
        (app / "workspace.bazelrc").rename(app / ".bazelrc")
        (app / "MODULE.bazel").unlink()
        # In this compilation mode, an executable links objects that are not position-independent.
        # Bazel 8 is the last one that reads a WORKSPACE.
        cls.workspace = nested_bazel.Workspace(app, "--compilation_mode=opt", config="bazel8")
        cls.addClassCleanup(cls.workspace.__exit__)

    def test_runs_and_equals_pytorch(self) -> None:
        self.assertNotIn("WARNING", self.workspace.succeed("build", "//:model_test").stderr)
        self.workspace.succeed("test", "//:model_test")
        self.assertIn("3 -6 1.5", self.workspace.succeed("run", "//:runner").stdout)

    def test_binary_by_hand(self) -> None:
        self.workspace.succeed("build", "//:by_hand", "//:model")
        run = subprocess.run(
            ["bazel-bin/by_hand", "bazel-bin/model.pte"], cwd=self.workspace.root, capture_output=True, text=True
        )
        self.assertEqual(run.stdout, "30 60 90\n", run.stderr)

    def test_program_needs_an_operator_that_the_binary_lacks(self) -> None:
        result = self.workspace.bazel("build", "//:runner_without_scale")
        self.assertNotEqual(result.returncode, 0)
        for part in ("app::scale.out", "//:model", "//:add_lib"):
            self.assertIn(part, result.stderr)


if __name__ == "__main__":
    absltest.main()
