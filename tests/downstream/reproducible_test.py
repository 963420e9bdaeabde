"""Two builds in two output bases give the same bytes."""

from __future__ import annotations

import hashlib
import os
import pathlib

from absl.testing import absltest

from tests.downstream import nested_bazel

_TMP = pathlib.Path(os.environ["TEST_TMPDIR"])
_TARGETS = ("//:model", "//:model_lib", "//:runner", "//:by_hand")
# What our actions write, and what is compiled and linked from it.
_OURS = (".yaml", ".cpp", ".h", ".json", ".pte", ".ptd", ".txt")
_OUTPUTS = (*_OURS, ".o", ".a", "/runner", "/by_hand")


def _outputs(name: str, *, cached: bool) -> dict[str, str]:
    """Builds the app in an output base of its own; path under bazel-bin -> digest."""
    place = _TMP / name
    with nested_bazel.Workspace(nested_bazel.make_app(place), "--noenable_workspace", cached=cached) as workspace:
        workspace.succeed("build", "--output_groups=+operators,+samples,+manifest", *_TARGETS)
        root = (place / "app/bazel-bin").resolve()
        digests = {}
        for file in sorted(root.rglob("*")):
            if file.is_symlink() or not file.is_file() or ".runfiles" in str(file) or not str(file).endswith(_OUTPUTS):
                continue
            content = file.read_bytes()
            if str(file).endswith(_OURS) and str(place).encode() in content:
                raise AssertionError(f"{file} holds the path {place}")
            digests[str(file.relative_to(root))] = hashlib.sha256(content).hexdigest()
        return digests


class ReproducibleTest(absltest.TestCase):
    def test_two_output_bases(self) -> None:
        # The first may have files of other workspaces.
        first, second = _outputs("first", cached=True), _outputs("second/deeper", cached=False)
        for name in (
            "model.pte",
            "model.ptd",
            "model_operators/selected_operators.yaml",
            "model_lib/KernelTable.cpp",
            "model_lib/RegisterKernels.cpp",
            "model_lib/KernelAdapters.cpp",
            "model_lib/registered.json",
            "runner.operators.txt",
            "runner",
        ):
            self.assertIn(name, first)
        self.assertEqual(first, second)


if __name__ == "__main__":
    absltest.main()
