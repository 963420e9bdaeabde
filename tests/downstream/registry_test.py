"""The central registry's tests of a version, from the files of a release: presubmit.yml, on this machine."""

from __future__ import annotations

import os
import pathlib
from typing import Any

import yaml
from absl.testing import absltest

from tests.downstream import nested_bazel
from tools.release import candidate, entry

_TMP = pathlib.Path(os.environ["TEST_TMPDIR"])
_ARCHIVES = [pathlib.Path("tools/release") / name for name in (candidate.ARCHIVE, candidate.DOCS)]


def _targets(tasks: dict[str, Any], field: str) -> list[str]:
    return sorted({target for task in tasks.values() for target in task.get(field, ())})


class RegistryTest(absltest.TestCase):
    presubmit: dict[str, Any]
    release: pathlib.Path

    @classmethod
    def setUpClass(cls) -> None:
        cls.release = _TMP / "registry/release"
        version = candidate.read(pathlib.Path(), *_ARCHIVES)
        entry.write(version, pathlib.Path(), _ARCHIVES, cls.release)
        (presubmit,) = cls.release.glob("registry/modules/rules_executorch/*/presubmit.yml")
        cls.presubmit = yaml.safe_load(presubmit.read_text())

    def test_module_of_a_registry(self) -> None:
        """A workspace with the README's MODULE.bazel, whose version comes from the registry."""
        root = _TMP / "registry/dependent"
        root.mkdir()
        (root / "BUILD.bazel").touch()
        # Debian's rules_python has no Python, which the registry's has for a module that registers none.
        module = nested_bazel.fence("README.md", "bazel_dep(")
        (root / "MODULE.bazel").write_text(module + nested_bazel.module_tags())  # Without the network.
        registry = (self.release / "registry").as_uri()
        with nested_bazel.Workspace(root, f"--registry={registry}", "--noenable_workspace") as workspace:
            targets = _targets(self.presubmit["tasks"], "build_targets")
            self.assertTrue(targets)
            workspace.succeed("build", *targets)
            (fetched,) = workspace.output_base.glob("external/rules_executorch[~+]/MODULE.bazel")
            self.assertEqual(pathlib.Path("MODULE.bazel").read_text(), fetched.read_text())

    def test_test_module(self) -> None:
        root = nested_bazel.copy_rules(_TMP / "registry/source")
        module = root / self.presubmit["bcr_test_module"]["module_path"]
        with (module / "MODULE.bazel").open("a") as file:
            file.write(nested_bazel.module_tags())  # Without the network.
        tasks = self.presubmit["bcr_test_module"]["tasks"]
        with nested_bazel.Workspace(module, "--noenable_workspace") as workspace:
            workspace.succeed("build", *_targets(tasks, "build_targets"))
            tested = workspace.succeed("test", *_targets(tasks, "test_targets"))
            self.assertRegex(tested.stdout, r"//:classifier_test +PASSED")


if __name__ == "__main__":
    absltest.main()
