"""A workspace with Python packages, an environment, a runtime and kernels of its own."""

from __future__ import annotations

import os
import pathlib

from absl.testing import absltest

from tests.downstream import nested_bazel

_TMP = pathlib.Path(os.environ["TEST_TMPDIR"])


class InHouseTest(absltest.TestCase):
    def test_equals_pytorch(self) -> None:
        with nested_bazel.Workspace(nested_bazel.make("in_house", _TMP / "in_house"), config="bazel10") as workspace:
            test = workspace.succeed("test", "//:model_test")
            self.assertNotIn("WARNING", test.stderr)
            # What the binary loads is the toolchain's runtime, and not the wheel's.
            manifest = (workspace.root / "bazel-bin/model_test.runfiles_manifest").read_text()
            (runtime,) = [
                line for line in manifest.splitlines() if line.partition(" ")[0].endswith("/libexecutorch.so")
            ]
            self.assertIn("our_Uexecutorch", runtime)
            # einops came by the hub of rules_python.
            hub = [path for path in (workspace.output_base / "external").iterdir() if path.name.endswith("pypi_einops")]
            self.assertEqual(len(hub), 1)


if __name__ == "__main__":
    absltest.main()
