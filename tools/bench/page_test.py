"""Each figure of docs/benchmarks.md is in a section that a command makes, and the command is there."""

from __future__ import annotations

import re
from pathlib import Path

from absl import flags
from absl.testing import absltest

from tools.bench import page

_BINARY = flags.DEFINE_multi_string("binary", [], "A target of //tools/bench that runs.")


class PageTest(absltest.TestCase):
    def test_no_figure_is_outside_a_section(self) -> None:
        text = page.outside(Path(page.PAGE).read_text())
        self.assertNotRegex(text, r"\d|^\||^##|<!--")
        self.assertStartsWith(text, "# Benchmarks\n")

    def test_each_section_has_a_command_that_is_there(self) -> None:
        commands = page.commands(Path(page.PAGE).read_text())
        self.assertGreater(len(commands), 5)
        for name, command in commands.items():
            target = re.search(r" //tools/bench:(\w+)( |$)", command)
            assert target, f"{name}: {command}"
            self.assertIn(target[1], _BINARY.value, name)
            source = Path("tools/bench", f"{target[1]}.py")
            if source.exists():  # peers_bench is in a folder of its own.
                self.assertIn(f'"{name}"', source.read_text(), f"{command} does not write the section {name}")

    def test_a_section_without_a_command(self) -> None:
        text = (
            "# B\n<!-- a: begin -->\n`tools/bazel run //x -- --y`\n<!-- a: end -->\n"
            "<!-- b: begin -->\n1\n<!-- b: end -->\n"
        )
        with self.assertRaisesRegex(ValueError, "the section b shows no command"):
            page.commands(text)
        self.assertEqual({"a": "tools/bazel run //x -- --y"}, page.commands(text.partition("<!-- b")[0]))
        self.assertEqual("# B\n", page.outside(text))

    def test_commands_run_once(self) -> None:
        workspace = Path(self.create_tempdir().full_path)
        bazel = workspace / "tools" / "bazel"
        bazel.parent.mkdir()
        bazel.write_text('#!/bin/sh\necho "$@" >> ran\ntest "$2" != //bad\n')
        bazel.chmod(0o755)
        commands = {
            "a": "tools/bazel run //x",
            "b": "tools/bazel run //bad",
            "c": "tools/bazel run //x",
            "d": "tools/bazel run //y",
        }
        self.assertEqual(["tools/bazel run //bad"], page.run(commands, workspace))
        self.assertEqual("run //x\nrun //bad\nrun //y\n", (workspace / "ran").read_text())


if __name__ == "__main__":
    absltest.main()
