"""C++ namespaces, and the spelling of types in namespaces."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping

from codegen.cpp import template
from codegen.model import schema, signatures
from codegen.model.operators import Operator


def blocks(contents: Mapping[str, Iterable[str]]) -> str:
    """Returns namespaces, sorted by name. Namespaces that hide other namespaces come last.

    Args:
        contents: the texts in each namespace, which are joined with an empty line.
    """
    ordered = sorted(contents.items(), key=lambda item: (bool(_hidden(item[0])), item[0]))
    return "".join(template.fill("namespace", name=name, content="\n".join(texts)) for name, texts in ordered)


def by_namespace(kernels: Iterable[tuple[str, Operator]]) -> dict[str, list[tuple[str, Operator]]]:
    """Groups kernels by namespace.

    Args:
        kernels: the kernels' qualified C++ names, each with an operator that the kernel computes.
    """
    groups: dict[str, list[tuple[str, Operator]]] = {}
    for name, operator in kernels:
        groups.setdefault(name.rpartition("::")[0], []).append((name, operator))
    return groups


def parameters(function: schema.FunctionSchema, namespace: str) -> list[str]:
    """Returns the parameters of a kernel, without the context, in the spelling for a namespace."""
    types, names = signatures.parameter_types(function), signatures.parameter_names(function)
    return [f"{spelled(type_, namespace)} {name}" for type_, name in zip(types, names, strict=True)]


@functools.cache
def spelled(types: str, namespace: str) -> str:
    """Returns types in the spelling for a namespace."""
    parts = namespace.split("::")
    if parts[:2] == ["torch", "executor"]:
        # ExecuTorch also declares all of its types in this namespace.
        types = re.sub(r"executorch::(?:aten|runtime)::", "", types)
    hidden = _hidden(namespace)
    return re.sub(rf"\b(?<!::)({'|'.join(hidden)})::", r"::\1::", types) if hidden else types


def _hidden(namespace: str) -> set[str]:
    """Returns the outer namespaces that an inner namespace of the same name hides."""
    return {"executorch", "std"}.intersection(namespace.split("::")[1:])
