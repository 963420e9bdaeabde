"""Collects from object files the operators that C++ declares with EXECUTORCH_OPERATOR of runtime/operator.h.

codegen collect --label //ops:kernels --object kernels.o --output kernels.declared.json
"""

from __future__ import annotations

from codegen.artifacts import declared_operators
from codegen.binaries import declarations
from codegen.commands import define, shared_flags
from diagnostics.errors import InputError

FLAGS = shared_flags.flag_values()

_LABEL = shared_flags.label(FLAGS, "the library")
_OBJECTS = define.several(FLAGS, "object", "An object file of the library.")
_OUTPUT = shared_flags.output(FLAGS, "the operators, as JSON")


def run() -> None:
    declared = [declaration for path in _OBJECTS.value for declaration in declarations.read(path)]
    if not declared:
        raise InputError.of(
            id="declares-nothing",
            where=_LABEL.value,
            found="declares_operators = True, and no source has an EXECUTORCH_OPERATOR",
            cause="the sources were moved, or the compiler leaves nothing readable in object files (-flto)",
            fix="declare operators by EXECUTORCH_OPERATOR of runtime/operator.h, or leave the attribute out",
        )
    declared_operators.write(declared, _OUTPUT.value)
