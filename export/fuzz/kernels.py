"""Runs programs with a runner that has all kernels, on each instruction set and with several threads."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from executorch.exir import EdgeCompileConfig

from export.fuzz.judge import Reference
from export.fuzz.programs import SPREADS_NAN, Programs
from export.graph_passes import passes
from export.lower import program
from export.lower.lowering import Lowering
from export.user import samples
from kernels.testing import arm64, processor

# Near infinities and NaN, the kernels of these operators have other results than PyTorch (docs/optimized_kernels.md).
_OTHER_NAN = (SPREADS_NAN, "rules_executorch::scaled_dot_product_attention")
_THREADS = (1, 2, 3)
# The timeout of a run, in seconds.
_TIMEOUT = 60
# The runner's message for a program that needs other operators.
_MISSING = re.compile(r"needs operators that this binary does not have: .*")


class MissingOperatorsError(Exception):
    """The runner lacks kernels of a program."""


@dataclass(frozen=True)
class Kernels:
    """The runner with all kernels.

    Attributes:
        runner: an executorch_binary with all kernels and without a program.
        emulator: the emulator for a runner for arm64. None for a runner for this machine.
    """

    runner: Path
    emulator: arm64.Emulator | None = None

    def wrong(self, programs: Programs, reference: Reference, names: Sequence[str]) -> tuple[str, str]:
        """Runs the program with some passes.

        Returns the first instruction set with wrong results, and the difference; both empty if all are correct.

        Raises:
            MissingOperatorsError: the runner lacks kernels of the program.
        """
        with tempfile.TemporaryDirectory() as folder:
            if not write(programs, reference, names, Path(folder)):
                return "", ""
            pte, ptd = Path(folder, "model.pte"), Path(folder, "model.ptd")
            command = [str(self.runner), f"--program={pte}", f"--samples={ptd}", "--check"]
            command.append(f"--min_snr={reference.least_snr()}")
            for (instruction_set, machine), threads in itertools.product(self._machines().items(), _THREADS):
                environment = {**os.environ, "EXECUTORCH_INSTRUCTION_SET": instruction_set}
                if said := run([*machine, *command, f"--threads={threads}"], environment=environment):
                    return instruction_set, f"{threads} threads: {said}"
        return "", ""

    def _machines(self) -> dict[str, list[str]]:
        """Returns the instruction sets, and the start of the command of a run on each."""
        if self.emulator is None:
            return {instruction_set: [] for instruction_set in processor.instruction_sets()}
        return {name: self.emulator.command(one) for name, one in arm64.PROCESSORS.items()}


def write(programs: Programs, reference: Reference, names: Sequence[str], folder: Path) -> bool:
    """Writes model.pte and model.ptd of a method into a folder. False, without files, if results cannot be compared."""
    if not reference.is_sure():
        return False
    method = programs.as_exported()
    # After runs with other sizes, PyTorch compiles a torch.cond for all sizes, and cannot do so with each branch.
    with torch.compiler.set_stance("force_eager"):
        recorded = samples.record(method)
    config = EdgeCompileConfig(_check_ir_validity=False)
    options = program.Options(config=config, strict_passes=True, with_check=False)
    lowerings = {method.name: Lowering()}
    built = program.build([method], {method.name: recorded}, lowerings, passes.select(names), options)
    if any(name.encode() in built.pte for name in _OTHER_NAN) and not reference.is_finite():
        return False
    stored = [one.with_written(built.written[method.name]) for one in recorded.samples]
    (folder / "model.pte").write_bytes(built.pte)
    (folder / "model.ptd").write_bytes(samples.serialize({method.name: stored}))
    return True


def run(command: Sequence[str], folder: Path | None = None, environment: Mapping[str, str] | None = None) -> str:
    """Returns the end of the output of a run that failed; empty if the run succeeded.

    Raises:
        MissingOperatorsError: the runner lacks kernels of the program.
    """
    try:
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=_TIMEOUT)
    except subprocess.TimeoutExpired:
        return f"does not end in {_TIMEOUT} seconds"
    if done.returncode == 0:
        return ""
    if missing := _MISSING.search(done.stderr):
        raise MissingOperatorsError(missing[0])
    return f"status {done.returncode}: " + (done.stdout + done.stderr)[-2000:]
