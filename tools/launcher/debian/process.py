"""The programs that an install runs."""

import dataclasses
import os
import pathlib
import subprocess
from collections.abc import Sequence


class CommandError(Exception):
    """A program failed.

    Attributes:
        program: str: its name.
        complaint: str: what it wrote to stderr.
    """

    def __init__(self, program: str, complaint: str) -> None:
        super().__init__(f"{program}: {complaint}")
        self.program = program
        self.complaint = complaint

    @property
    def reason(self) -> str:
        """The line of the complaint that says most."""
        lines = self.complaint.splitlines() or ["nothing"]
        return next((line for line in lines if line.startswith("E:")), lines[-1])


@dataclasses.dataclass(frozen=True)
class Commands:
    """Runs programs, silently.

    Attributes:
        lock: int: a descriptor that each program holds open until it ends.
    """

    lock: int

    def run(self, command: Sequence[str | pathlib.Path], cwd: pathlib.Path | None = None) -> str:
        """Returns what the program wrote to stdout.

        Raises:
            CommandError: it failed.
        """
        done = subprocess.run(
            command,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            env={**os.environ, "LC_ALL": "C.UTF-8"},
            pass_fds=[self.lock],
            check=False,
        )
        if done.returncode != 0:
            raise CommandError(pathlib.Path(command[0]).name, done.stderr.strip())
        return done.stdout
