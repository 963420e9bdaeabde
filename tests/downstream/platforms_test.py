"""Builds for other platforms in a workspace, as docs/platforms.md shows, and runs them in an emulator."""

from __future__ import annotations

import os
import pathlib
import shlex
import shutil

from absl.testing import absltest

from docs.tests import guide
from tests.downstream import nested_bazel

_TMP = pathlib.Path(os.environ["TEST_TMPDIR"])
_SECTIONS = ("Compilers", "Linux on arm64 from x86-64")
# The repositories that the builds fetch, by a file of each.
_REPOSITORIES = {
    ("cross", "gcc_linux_arm64"): "BUILD.bazel",
    ("cross", "gcc_linux_riscv64"): "BUILD.bazel",
    ("executorch", "executorch_runtime_linux_arm64"): "executorch/lib/libexecutorch.so",
    ("qemu", "qemu_user"): "qemu-aarch64",
}


def _sections() -> str:
    text = pathlib.Path("docs/platforms.md").read_text()
    return "".join(text.partition(f"\n## {title}\n")[2].partition("\n## ")[0] for title in _SECTIONS)


def _make_workspace(files: dict[str, str]) -> pathlib.Path:
    """The README's workspace with the lines of the page."""
    rules = nested_bazel.copy_rules(_TMP / "platforms/rules_executorch")
    to = _TMP / "platforms/app"
    to.mkdir()
    (to / "MODULE.bazel").write_text(
        nested_bazel.fence("README.md", "bazel_dep(")
        + files["MODULE.bazel"]
        + f'local_path_override(module_name = "rules_executorch", path = "{rules}")\n'
        # Without the network.
        + nested_bazel.module_tags()
    )
    build = nested_bazel.fence("README.md", 'name = "classifier"')
    model = "executorch_model(\n"
    assert model in build
    (to / "BUILD.bazel").write_text(build.replace(model, f"{model}    compiled = True,\n") + files["BUILD.bazel"])
    shutil.copy(nested_bazel.runfile("_main", "examples/plain_model/model.py"), to)
    return to


def _without_network() -> list[str]:
    """Flags with which the workspace has the compiler, the emulator and the runtime of this build."""
    folders: dict[tuple[str, str], pathlib.Path] = {}
    for (extension, name), file in _REPOSITORIES.items():
        path = nested_bazel.runfile(name, file)
        # The folder of the repository: the path of the file may be a link, and the link's target elsewhere.
        folders[extension, name] = pathlib.Path(os.readlink(path)).parents[len(pathlib.Path(file).parts) - 1]
    return [
        f"--override_repository=rules_executorch{mark}{mark}{extension}{mark}{name}={folder}"
        for (extension, name), folder in folders.items()
        # Bazel 8 writes `+` in names.
        for mark in "~+"
    ]


class PlatformsTest(absltest.TestCase):
    def test_page(self) -> None:
        section = _sections()
        workspace = nested_bazel.Workspace(
            _make_workspace(guide.files(section)), "--noenable_workspace", *_without_network(), all_sets=True
        )
        commands = [c for block in guide.blocks(section) for c in guide.of_block(block) if c.text.startswith("bazel ")]
        self.assertEqual(len(commands), 4)
        with workspace:
            for command in commands:
                run = workspace.bazel(*shlex.split(command.text)[1:])
                printed = f"{run.stdout}\n{run.stderr}"
                self.assertEqual(run.returncode, 0, f"{command.text}\n{printed}")
                for line in command.output.splitlines():
                    if line != "...":
                        self.assertIn(line, printed.splitlines(), printed)


if __name__ == "__main__":
    absltest.main()
