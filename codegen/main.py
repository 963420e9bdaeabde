"""The code generator: from YAML files and selections of operators to the C++ that registers their kernels.

Each step of the build is one subcommand. `codegen <subcommand> --help` shows the subcommand's flags. `codegen @<file>`
reads the subcommand and its flags from a file, one a line. `codegen --persistent_worker` reads them from Bazel.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from absl import flags

from bazel_worker import protocol
from codegen import worker
from codegen.commands import command_line
from diagnostics.errors import InputError, shown

_HELP = ("help", "-h", "-help", "--help", "-?")


def _usage() -> str:
    commands = "\n".join(f"  {name:<15}{summary}" for name, summary in command_line.COMMANDS.items())
    return f"{__doc__}\nUsage: codegen <subcommand> --flag value ...\n\n{commands}\n"


def run(arguments: Sequence[str]) -> int:
    """Runs one command line. Prints errors to stderr, and returns the exit code."""
    if not arguments or arguments[0] in _HELP:
        print(_usage())
        return 0 if arguments else 2
    name, *rest = arguments
    if name not in command_line.COMMANDS:
        commands = ", ".join(command_line.COMMANDS)
        return _fail(shown(f"codegen: there is no subcommand '{name}', only {commands}. See codegen --help."))
    if any(argument in _HELP for argument in rest):
        command = command_line.module(name)
        print(f"{command.__doc__}\nFlags:\n{command.FLAGS.get_help(include_special_flags=False)}")
        return 0
    try:
        command_line.run(name, rest)
    except flags.Error as error:
        return _fail(shown(f"codegen {name}: {error} See codegen {name} --help."))
    except InputError as error:
        return _fail(str(error))
    except OSError as error:
        return _fail(shown(f"codegen {name}: {_problem(error)}"))
    return 0


def _fail(message: str) -> int:
    print(message.encode(errors="backslashreplace").decode(), file=sys.stderr)
    return 1


def _problem(error: OSError) -> str:
    """Returns the message for an error of the operating system, mostly about a file that a flag names."""
    return f"{error.filename}: {error.strerror}" if error.filename is not None else str(error)


def main(arguments: Sequence[str]) -> int:
    if protocol.FLAG in arguments:
        worker.serve(run)
        return 0
    try:
        expanded = protocol.expanded(arguments)
    except OSError as error:
        return _fail(shown(f"codegen: cannot read the arguments in {_problem(error)}"))
    return run(expanded)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
