"""Runs programs with the runner that has all kernels."""

from __future__ import annotations

import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tools.zoo.messages import first_line
from tools.zoo.results import EQUAL

_MEDIAN = re.compile(r"median ([\d.]+) ms")
# The timeout of a run, in seconds.
_SECONDS = 120


@dataclass(frozen=True)
class Ran:
    """The result of a run.

    Attributes:
        seconds: the seconds of an inference; None if there was none.
        problem: the first line of the error; empty if the outputs equal those of the samples.
    """

    seconds: float | None
    problem: str


def run(runner: Path, program: bytes, samples: bytes, iterations: int) -> Ran:
    """Runs a program on one thread, and compares the outputs with the samples.

    Args:
        runner: the path of an executorch_binary.
        program: the bytes of the .pte file.
        samples: the bytes of the .ptd file.
        iterations: the number of timed inferences.
    """
    with tempfile.TemporaryDirectory() as folder:
        files = {"program": Path(folder) / "model.pte", "samples": Path(folder) / "model.ptd"}
        files["program"].write_bytes(program)
        files["samples"].write_bytes(samples)
        flags = [f"--{name}={file}" for name, file in files.items()]
        flags += ["--check", f"--min_snr={EQUAL}", f"--iterations={iterations}", "--print=0", "--threads=1"]
        command = [str(runner), *flags]
        try:
            done = subprocess.run(
                command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=_SECONDS
            )
        except subprocess.TimeoutExpired:
            return Ran(None, f"took more than {_SECONDS} s")
    median = _MEDIAN.search(done.stdout)
    wrong = [line for line in done.stdout.splitlines() if "DIFFERS" in line or "error:" in line]
    if done.returncode and not wrong:
        wrong = [*filter(None, done.stdout.splitlines()[-1:]), f"the runner ended with {done.returncode}"]
    return Ran(float(median[1]) / 1e3 if median else None, first_line(wrong[0]) if wrong else "")
