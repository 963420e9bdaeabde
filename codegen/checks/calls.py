"""Compares the calls in a program with the schemas that the kernels were generated for.

A program keeps no schemas, only the values of each call, and a kernel takes them as its own schema says: another number
or kind of them aborts, or reads one argument as another. Arguments of equal kinds in another order cannot be told
apart.
"""

from __future__ import annotations

from collections.abc import Sequence

from codegen.model import schema
from codegen.model.operators import Operator
from diagnostics.errors import Finding

# The kinds of values, by their names in program.fbs, that the runtime takes for a type.
_KINDS = {
    "Tensor": frozenset({"Tensor"}),
    "Scalar": frozenset({"Int", "Double", "Bool"}),
    "int": frozenset({"Int"}),
    "SymInt": frozenset({"Int"}),
    "float": frozenset({"Double"}),
    "bool": frozenset({"Bool"}),
    "SymBool": frozenset({"Bool"}),
    "str": frozenset({"String"}),
    "ScalarType": frozenset({"Int"}),
    "Layout": frozenset({"Int"}),
    "MemoryFormat": frozenset({"Int"}),
}
_LISTS = {
    "Tensor": frozenset({"TensorList"}),
    "Tensor?": frozenset({"OptionalTensorList"}),
    "int": frozenset({"IntList"}),
    "SymInt": frozenset({"IntList"}),
    "float": frozenset({"DoubleList"}),
    "bool": frozenset({"BoolList"}),
}
_OPTIONAL = frozenset({"Null"})


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
        expected = _expected(argument.type)
        if expected and kind not in expected and not problem:
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


def _expected(type_: schema.Type) -> frozenset[str]:
    """The kinds of values that fit a type; empty for a type of which that is not known."""
    if isinstance(type_, schema.OptionalType):
        of_element = _expected(type_.element)
        return of_element | _OPTIONAL if of_element else of_element
    if isinstance(type_, schema.ListType):
        return _LISTS.get(str(type_.element), frozenset())
    return _KINDS.get(type_.name, frozenset())


def _article(kind: str) -> str:
    return f"an {kind}" if kind[0] in "AEIO" else f"a {kind}"
