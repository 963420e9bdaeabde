"""What the tests of the code generator have in common."""

from __future__ import annotations

from collections.abc import Callable

from codegen.commands import command_line
from diagnostics.errors import InputError
from diagnostics.golden import case


class TestCase(case.TestCase):
    def run_command(self, name: str, *arguments: str) -> None:
        """Runs `codegen <name> <arguments>` in this process.

        Raises:
            InputError: what the subcommand finds wrong.
        """
        command_line.run(name, arguments)

    def findings(self, function: Callable[[], object]) -> list[str]:
        """What the function finds wrong, as the user sees it, with written files' paths shortened to their names."""
        with self.assertRaises(InputError) as raised:
            function()
        findings = [str(finding).replace(f"{self.directory}/", "") for finding in raised.exception.findings]
        for finding in findings:
            self.assertIn("\n  Likely cause: ", finding)
            self.assertIn("\n  Fix: ", finding)
            self.assertIn("\n  See: docs/errors.md#", finding)
        return findings

    def finding(self, function: Callable[[], object]) -> str:
        """The one thing that the function finds wrong."""
        findings = self.findings(function)
        self.assertEqual(len(findings), 1, findings)
        return findings[0]

    def assert_id(self, finding: str, id_: str) -> None:
        self.assertEqual(finding.rpartition("docs/errors.md#")[2], id_)

    def assert_starts_with(self, text: str, start: str) -> None:
        self.assertEqual(text[: len(start)], start)
