"""The code generator: from YAML files and selections of operators to the C++ that registers their kernels.

Each step of the build is one subcommand; `codegen <subcommand> --help` tells about its flags.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

from absl import app, flags

from codegen.errors import CodegenError

_COMMANDS = {
    "select": "unites lists of operators, models and other selections",
    "generate": "writes the C++ that registers the selected operators' kernels",
    "bind": "finds the kernels in the libraries and adapts those without a context",
    "check": "checks that a program's operators are all registered",
}
_HELP = ("help", "-h", "-help", "--help", "-?")


def _usage() -> str:
    commands = "\n".join(f"  {name:<10}{summary}" for name, summary in _COMMANDS.items())
    return f"{__doc__}\nUsage: codegen <subcommand> --flag value ...\n\n{commands}\n"


def _parse_flags(argv: Sequence[str]) -> list[str]:
    """Parses the subcommand's own flags, or prints help. Leaves the subcommand's name as the only argument."""
    flags.FLAGS(argv[:1])  # absl wants its own flags parsed too; none of them are offered.
    if len(argv) < 2 or argv[1] in _HELP:
        print(_usage())
        sys.exit(0 if len(argv) > 1 else 2)
    name = argv[1]
    if name not in _COMMANDS:
        sys.exit(f"codegen: there is no subcommand '{name}', only {', '.join(_COMMANDS)}. See codegen --help.")
    # Only the subcommand that runs is imported, since a build starts this program often.
    command = importlib.import_module(f"codegen.{name}_command")
    if any(argument in _HELP for argument in argv[2:]):
        print(f"{command.__doc__}\nFlags:\n{command.FLAGS.get_help(include_special_flags=False)}")
        sys.exit(0)
    try:
        rest = command.FLAGS([f"codegen {name}", *argv[2:]])[1:]
    except flags.Error as error:
        sys.exit(f"codegen {name}: {error} See codegen {name} --help.")
    if rest:
        sys.exit(f"codegen {name}: '{rest[0]}' belongs to no flag. See codegen {name} --help.")
    return [argv[0], name]


def main(argv: Sequence[str]) -> None:
    command = importlib.import_module(f"codegen.{argv[1]}_command")
    try:
        command.run()
    except CodegenError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    app.run(main, flags_parser=_parse_flags)
