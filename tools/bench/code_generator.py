"""Runs the code generator for benchmarks, and measures the cost of the processes."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from absl import flags

CODEGEN = flags.DEFINE_string("codegen", None, "The code generator.", required=True)


@dataclass(frozen=True)
class Cost:
    """The cost of a process and of the child processes that it waits for.

    Attributes:
        seconds: the CPU time, in user and system mode.
        memory: the peak memory in bytes. On Linux, this is at least the memory of the parent process.
    """

    seconds: float
    memory: int


def run(command: Sequence[str], directory: str | None = None) -> Cost:
    """Runs a command.

    Raises:
        SystemExit: the command failed.
    """
    process = subprocess.Popen(command, cwd=directory)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{command[0]} failed: {process.returncode}")
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def generate(functions_yaml: str, selection: str) -> list[str]:
    """Returns the arguments that generate a library into the working directory."""
    return [
        "generate",
        "--label=//:lib",
        "--max_kernels=2000",
        f"--functions_yaml={functions_yaml}",
        f"--selection={selection}",
        "--boxed_kernels=boxed_kernels",
        "--kernel_table=KernelTable.cpp",
        "--registration=RegisterKernels.cpp",
        "--registered_names=RegisteredNames.cpp",
        "--native_functions=NativeFunctions.h",
        "--functions=Functions.h",
        "--manifest=registered.json",
    ]
