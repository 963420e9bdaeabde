"""Compares the calls in a program with the schemas that the kernels were generated for.

A program keeps no schemas, only the values of each call, and a kernel takes them as its own schema says: another number
or kind of them aborts, or reads one argument as another. Arguments of equal kinds in another order cannot be told
apart.
"""

from __future__ import annotations

from collections.abc import Sequence

from codegen.model import schema_types
from codegen.model.operators import Operator
from diagnostics.errors import Finding


def finding(operator: Operator, kinds: Sequence[str], library: str, program: str) -> Finding | None:
    """What is wrong with a call of an operator; None if nothing is.

    Args:
        operator: the operator as the library registers it.
        kinds: the kind of each value of the call, by its name in program.fbs; the last one is what it returns, and may
            be left out where that is nothing.
        library: the label of the library.
        program: the label of the program.
    """
    arguments = operator.schema.arguments
    problem = ""
    given = kinds if operator.schema.gives_nothing and len(kinds) <= len(arguments) else kinds[:-1]
    if len(given) != len(arguments):
        problem = f"with {len(given)} arguments, but its kernel takes {len(arguments)}"
    for position, (argument, kind) in enumerate(zip(arguments, given, strict=False), start=1):
        if kind not in schema_types.find(str(argument.type)).tags and not problem:
            problem = f"with {_article(kind)} as argument {position}, but its kernel takes '{argument}' there"
    if not problem:
        return None
    return Finding(
        id="other-schema",
        where=program,
        found=f"the program calls {operator.name} {problem}",
        cause="the operator's schema in Python and the one in the YAML differ, or the program is of an older schema",
        fix=f"make the schema at {operator.location} the one that the operator has in Python, and export again",
        details=(f"the program's values: {', '.join(given)}", f"the schema of {library}: {operator.schema}"),
    )


def _article(kind: str) -> str:
    return f"an {kind}" if kind[0] in "AEIO" else f"a {kind}"
