"""Processes that end with the program that started them."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import pathlib
import pwd
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence


class ProcessError(Exception):
    """A process did not start, or ended."""


@dataclasses.dataclass(frozen=True)
class Account:
    """Who runs a process.

    Attributes:
        name: its name, as PostgreSQL asks for one.
        options: arguments of subprocess.
    """

    name: str
    options: Mapping[str, object]

    @staticmethod
    def own() -> Account:
        return Account(pwd.getpwuid(os.geteuid()).pw_name, {})

    @staticmethod
    def without_rights() -> Account:
        """`nobody` if this account is root's, else this account."""
        if os.geteuid() != 0:
            return Account.own()
        nobody = pwd.getpwnam("nobody")
        return Account(nobody.pw_name, {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []})


class Process:
    """A process in a session of its own, with what it starts."""

    def __init__(
        self,
        command: Sequence[str | pathlib.Path],
        folder: pathlib.Path,
        log: pathlib.Path,
        account: Account,
        environment: Mapping[str, str],
    ) -> None:
        self.name = log.stem
        self._log = log
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                # Ended also where nothing else ends it: with the program that started it.
                ["setpriv", "--pdeathsig=TERM", *(str(argument) for argument in command)],
                cwd=folder,
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                **account.options,  # type: ignore[call-overload]
            )

    def wait_for(self, is_ready: Callable[[], bool], seconds: float = 300) -> None:
        """Waits until the process serves.

        Raises:
            ProcessError: it ended, or takes too long.
        """
        end = time.monotonic() + seconds
        while not is_ready():
            if self._process.poll() is not None:
                raise ProcessError(f"{self.name} ended with {self._process.returncode}: {self._last_words()}")
            if time.monotonic() > end:
                raise ProcessError(f"{self.name} does not serve after {seconds:.0f} s: {self._last_words()}")
            time.sleep(0.05)

    def _last_words(self) -> str:
        lines = self._log.read_text(errors="replace").splitlines()
        return "\n".join(lines[-5:]) or "it wrote nothing"

    def kill(self) -> None:
        """As a machine that fails ends it: at once, and all that it started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def stop(self, first: signal.Signals = signal.SIGTERM) -> None:
        """As its own documents end it; what is left after 10 seconds is killed."""
        if self._process.poll() is None:
            self._process.send_signal(first)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(10)
        self.kill()
