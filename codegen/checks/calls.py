"""Compares the calls in a program with the schemas that the kernels were generated for.

A program stores the values of each call, but no schemas, and a kernel reads the values by its own schema. With another
number or other kinds of values, the kernel aborts, or reads one argument as another. The check cannot detect arguments
of equal kinds in another order.
"""

from __future__ import annotations

from collections.abc import Sequence

from codegen.model import schema_types
from codegen.model.operators import Operator
from diagnostics.errors import Finding


def finding(operator: Operator, kinds: Sequence[str], library: str, program: str) -> Finding | None:
    """Returns the finding for a call that does not fit the operator's schema; None if the call fits.

    Args:
        operator: the operator as the library registers it.
        kinds: the kind of each value of the call, named as in program.fbs. The last value is the result. A call of an
            operator without results may leave the last value out.
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
