"""Runs subcommands by their names."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from absl import flags

COMMANDS = {
    "select": "unites lists of operators, models and other selections",
    "collect": "collects the operators that C++ declares",
    "generate": "writes the C++ that registers kernels with the runtime",
    "generate_torch": "writes the C++ that defines operators in PyTorch",
    "bind": "finds the kernels in the libraries and adapts those without a context",
    "prune": "leaves dtypes that are not selected out of kernels",
    "check": "checks that no kernel of a binary is registered twice, and none of its program missing",
    "compile": "writes a program as C++ that calls kernels without the runtime",
    "bundle": "puts a binary and the files that it needs into a folder and a tar archive",
    "memory": "writes what holds the memory that a program needs",
    "memory_limit": "fails where a program needs more memory than a limit",
    "python_library": "writes the Python module of a program, and private copies of the runtime for the module",
    "size": "writes the binary size by operator",
    "size_limit": "fails where a binary has more bytes than a limit",
    "torch_library": "finds what an operator library registers with PyTorch",
    "torch_check": "checks that operator libraries can be loaded into one process",
    "wheel": "writes a wheel, and checks that the libraries in the wheel fit the platform",
}


def module(command: str) -> Any:
    """Imports the module of one subcommand only, since a build starts this program often."""
    return importlib.import_module(f"codegen.commands.{command}")


def run(command: str, arguments: Sequence[str]) -> None:
    """Runs a subcommand. Flags of an earlier run are reset.

    Raises:
        InputError: the subcommand found mistakes in its inputs.
        flags.Error: the arguments are not flags of the subcommand.
    """
    values = module(command).FLAGS
    values.unparse_flags()
    rest = values([f"codegen {command}", *arguments])[1:]
    if rest:
        raise flags.Error(f"'{rest[0]}' belongs to no flag.")
    module(command).run()
