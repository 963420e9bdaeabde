"""The common parts of the sources for all backends."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path

from codegen.source_templates.source_templates import SourceTemplates
from qnn.opdef.model import OpDef, Tensor

TEMPLATES = SourceTemplates(Path(__file__).with_name("templates"))
# The layout of Google's style, which clang-format does not change.
WIDTH = 120
_KEYWORDS = frozenset(
    re.findall(
        r"\w+",
        """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const constexpr continue
    decltype default delete do double else enum explicit export extern false float for friend goto if inline int long
    mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register return short
    signed sizeof static struct switch template this throw true try typedef typeid typename union unsigned using virtual
    void volatile wchar_t while xor xor_eq""",
    )
)


def cpp_names(op_def: OpDef) -> dict[str, str]:
    """Returns a C++ name for each tensor of an op."""
    names: dict[str, str] = {}
    for _, tensor in op_def.tensors:
        name = re.sub(r"\W+", "_", tensor.name).strip("_") or "tensor"
        name = f"_{name}" if name[0].isdigit() else name
        while name in _KEYWORDS or name in names.values():
            name += "_"
        names[tensor.name] = name
    return names


def free_name(name: str, op_def: OpDef) -> str:
    """Returns a C++ name that no tensor of an op has."""
    while name in cpp_names(op_def).values():
        name += "_"
    return name


def signatures(op_defs: Sequence[OpDef], *, has_execute: bool = False) -> str:
    """Returns the table of the ops' signatures, and the functions that read the table.

    Args:
        op_defs: the ops.
        has_execute: whether the table also has the functions that compute the ops.
    """
    unbounded = any(tensor.repeated for op_def in op_defs for tensor in op_def.inputs + op_def.outputs)
    return TEMPLATES.fill(
        "signatures.cpp",
        any_number="\n" + ("constexpr uint32_t kAnyNumber = UINT32_MAX;\n\n" if unbounded else ""),
        execute="  Qnn_ErrorHandle_t (*execute)(const QnnCpuOpPackage_Node_t& node);\n" if has_execute else "",
        param_names="".join(f"{_param_names(op_def)}\n\n" for op_def in op_defs if op_def.parameters),
        op_count=str(len(op_defs)),
        signatures=lines(f"    {_signature(op_def, has_execute)}," for op_def in op_defs),
    )


def _param_names(op_def: OpDef) -> str:
    names = ", ".join(f'"{parameter.name}"' for parameter in op_def.parameters)
    return f"constexpr const char* k{op_def.name}Params[] = {{{names}}};"


def _signature(op_def: OpDef, has_execute: bool) -> str:
    params = f"k{op_def.name}Params" if op_def.parameters else "nullptr"
    counts = ", ".join(_count(tensors) for tensors in (op_def.inputs, op_def.outputs, op_def.parameters))
    execute = f", {op_def.name}Execute" if has_execute else ""
    return f'{{"{op_def.name}", {counts}, {params}{execute}}}'


def _count(tensors: Sequence[Tensor]) -> str:
    least = sum(tensor.mandatory for tensor in tensors)
    most = "kAnyNumber" if any(tensor.repeated for tensor in tensors) else str(len(tensors))
    return f"{{{least}, {most}}}"


def comment(description: str) -> str:
    """Returns the description of an op as lines of a comment."""
    if not description:
        return ""
    # A backslash at a line's end would continue the comment.
    wrapped = textwrap.wrap(description.replace("\\", "/"), WIDTH - 3, break_long_words=False)
    return "".join(f"\n// {line}" for line in ["", *wrapped]).replace("// \n", "//\n")


def lines(texts: Iterable[str]) -> str:
    """Joins texts as lines."""
    return "".join(f"{line}\n" for line in texts)
