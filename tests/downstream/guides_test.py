"""Guides as a reader follows them: their files in an empty workspace, and their commands there."""

from __future__ import annotations

import os
import pathlib
import re
import shlex
import shutil
import subprocess

from absl.testing import absltest

from docs.tests import guide
from tests.downstream import nested_bazel

_TMP = pathlib.Path(os.environ["TEST_TMPDIR"])
_LANGUAGES = ("cpp", "python", "starlark", "xml", "yaml")


def _make_workspace() -> pathlib.Path:
    """A workspace with the README's MODULE.bazel and a strict .bazelrc, and the rules beside it; returns its path."""
    rules = nested_bazel.copy_rules(_TMP / "guides/rules_executorch")
    to = _TMP / "guides/empty"
    to.mkdir()
    (to / "MODULE.bazel").write_text(
        nested_bazel.fence("README.md", "bazel_dep(")
        + f'local_path_override(module_name = "rules_executorch", path = "{rules}")\n'
        # Without the network.
        + nested_bazel.module_tags()
    )
    (to / ".bazelrc").write_text(nested_bazel.STRICT_BAZELRC)
    return to


class GuidesTest(absltest.TestCase):
    workspace: nested_bazel.Workspace

    @classmethod
    def setUpClass(cls) -> None:
        cls.workspace = nested_bazel.Workspace(_make_workspace(), "--noenable_workspace", config="bazel10")
        cls.addClassCleanup(cls.workspace.__exit__)

    def _write(self, files: dict[str, str]) -> None:
        """Leaves nothing of another guide."""
        for entry in self.workspace.root.iterdir():
            if entry.name.startswith(("bazel-", ".bazelrc", "MODULE.bazel")):
                continue
            if entry.is_dir():
                shutil.rmtree(entry)
            else:
                entry.unlink()
        for name, text in files.items():
            file = self.workspace.root / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)

    def _run(self, command: str) -> subprocess.CompletedProcess[str]:
        program, *arguments = shlex.split(command)
        if program == "bazel":
            return self.workspace.bazel(*arguments)
        return subprocess.run([program, *arguments], cwd=self.workspace.root, capture_output=True, text=True)

    def test_guides(self) -> None:
        for page in guide.GUIDES:
            with self.subTest(page):
                self._follow(page)

    def _follow(self, page: str) -> None:
        text = pathlib.Path(page).read_text()
        files = guide.files(text)
        for block in guide.blocks(text):
            if block.language in _LANGUAGES:
                self.assertTrue(any(block.text in file for file in files.values()), f"{page}:{block.line}: of no file")
        self._write(files)
        commands = [command for block in guide.blocks(text) for command in guide.of_block(block)]
        self.assertTrue(commands)
        for command in commands:
            with self.subTest(command.text):
                place = f"{page}:{command.line}"
                run = self._run(command.text)
                printed = f"{run.stderr}\n{run.stdout}"
                self.assertEqual(": error: " in command.output, run.returncode != 0, f"{place}\n{printed}")
                position = 0
                for part in re.split(r"^\.\.\.\n", command.output, flags=re.MULTILINE):
                    position = printed.find(part, position)
                    self.assertGreaterEqual(position, 0, f"{place} shows\n{part}\nand there is\n{printed}")
                    position += len(part)


if __name__ == "__main__":
    absltest.main()
