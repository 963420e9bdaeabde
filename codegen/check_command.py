"""Checks that every operator a program calls is registered by one of the libraries it is linked with.

    codegen check --program model.pte --program_name //models:model --manifest registered.json --output report.txt

Writes a report of the operators and of the libraries that register them.
"""

from __future__ import annotations

from pathlib import Path

from absl import flags

from codegen import command_line, manifest, missing_operators, prim_ops, program_reader
from codegen.errors import CodegenError

FLAGS = command_line.flag_values()

_PROGRAM = flags.DEFINE_string("program", None, "The ExecuTorch program (.pte).", required=True, flag_values=FLAGS)
_PROGRAM_NAME = flags.DEFINE_string(
    "program_name", None, "What to call the program in errors, such as its label.", required=True, flag_values=FLAGS
)
_MANIFESTS = flags.DEFINE_multi_string(
    "manifest", [], "The registered.json of a library that the program is linked with.", flag_values=FLAGS
)
_OUTPUT = flags.DEFINE_string("output", None, "Where to write the report.", required=True, flag_values=FLAGS)


def run() -> None:
    program = _PROGRAM_NAME.value
    called = program_reader.operators(_PROGRAM.value, program)
    manifests = [manifest.read(path) for path in _MANIFESTS.value]
    registered_by = {operator.name: library.label for library in manifests for operator in library.operators}
    providers = " or ".join(library.label for library in manifests) or "any library: the binary links none"
    missing = sorted(called - registered_by.keys() - prim_ops.PRIM_OPS)
    if missing:
        findings = [
            missing_operators.finding(
                name,
                asked_by=[program],
                provided=registered_by,
                providers=providers,
                where=program,
                fix="select the operator for the binary's library, for example with models = [the program]",
            )
            for name in missing
        ]
        raise CodegenError(findings)
    report = [f"{name}: {registered_by.get(name, 'the runtime')}\n" for name in sorted(called)]
    headline = f"The {len(report)} operators of {program}, and what registers them:\n"
    Path(_OUTPUT.value).write_text(headline + "".join(report))
