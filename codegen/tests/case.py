"""What the tests of the code generator have in common."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from absl.testing import absltest

from codegen.commands import command_line
from diagnostics.errors import InputError


class TestCase(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.directory = Path(self.create_tempdir().full_path)

    def write(self, name: str, content: str | bytes) -> str:
        """Writes a file and gives its path."""
        path = self.directory / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return str(path)

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
