"""C++ namespaces, and how types are spelled in them."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping

from codegen.cpp import template
from codegen.model import schema, signatures
from codegen.model.operators import Operator


def blocks(contents: Mapping[str, Iterable[str]]) -> str:
    """Namespaces in the order of their names; those that hide others' come last.

    Args:
        contents: what is in each namespace, with an empty line between two.
    """
    ordered = sorted(contents.items(), key=lambda item: (bool(_hidden(item[0])), item[0]))
    return "".join(template.fill("namespace", name=name, content="\n".join(texts)) for name, texts in ordered)


def by_namespace(kernels: Iterable[tuple[str, Operator]]) -> dict[str, list[tuple[str, Operator]]]:
    """Kernels by namespace.

    Args:
        kernels: the kernels' qualified C++ names, each with an operator that the kernel computes.
    """
    groups: dict[str, list[tuple[str, Operator]]] = {}
    for name, operator in kernels:
        groups.setdefault(name.rpartition("::")[0], []).append((name, operator))
    return groups


def parameters(function: schema.FunctionSchema, namespace: str) -> list[str]:
    """The parameters of a kernel, without the context, as they are spelled in a namespace."""
    types, names = signatures.parameter_types(function), signatures.parameter_names(function)
    return [f"{spelled(type_, namespace)} {name}" for type_, name in zip(types, names, strict=True)]


@functools.cache
def spelled(types: str, namespace: str) -> str:
    """Types as they are spelled in a namespace."""
    parts = namespace.split("::")
    if parts[:2] == ["torch", "executor"]:
        # ExecuTorch has all of its types in this namespace too.
        types = re.sub(r"executorch::(?:aten|runtime)::", "", types)
    hidden = _hidden(namespace)
    return re.sub(rf"\b(?<!::)({'|'.join(hidden)})::", r"::\1::", types) if hidden else types


def _hidden(namespace: str) -> set[str]:
    """Outer namespaces that cannot be named in a namespace as they are."""
    return {"executorch", "std"}.intersection(namespace.split("::")[1:])
