"""What the tests of the code generator have in common."""

from __future__ import annotations

from codegen.commands import command_line
from diagnostics.golden import case


class TestCase(case.TestCase):
    def run_command(self, name: str, *arguments: str) -> None:
        """Runs `codegen <name> <arguments>` in this process.

        Raises:
            InputError: what the subcommand finds wrong.
        """
        command_line.run(name, arguments)

    def assert_starts_with(self, text: str, start: str) -> None:
        self.assertEqual(text[: len(start)], start)
