"""Runs the programs of an installation."""

import dataclasses
import os
import pathlib
import subprocess
from collections.abc import Sequence


class CommandError(Exception):
    """A program failed.

    Attributes:
        program: str: the program's name.
        complaint: str: the program's stderr.
    """

    def __init__(self, program: str, complaint: str) -> None:
        super().__init__(f"{program}: {complaint}")
        self.program = program
        self.complaint = complaint

    @property
    def reason(self) -> str:
        """The most informative line of the complaint."""
        lines = self.complaint.splitlines() or ["nothing"]
        return next((line for line in lines if line.startswith("E:")), lines[-1])


@dataclasses.dataclass(frozen=True)
class Commands:
    """Runs programs without output.

    Attributes:
        lock: int: a descriptor that each program holds open until it ends.
    """

    lock: int

    def run(self, command: Sequence[str | pathlib.Path], cwd: pathlib.Path | None = None) -> str:
        """Runs a program. Returns its stdout.

        Raises:
            CommandError: the program failed.
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
