"""Checks that files of weights have the constants that a program does not have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from codegen.artifacts.origins import Names, Origins
from codegen.model import elements, memory_plan
from codegen.model.execution_plan import ExecutionPlan, Layout, Tensor
from diagnostics.errors import Finding

# The layouts of the tensors of each file, by the file's name. Data of backends has no layout.
Files = Mapping[str, Mapping[str, Layout | None]]


@dataclass(frozen=True, slots=True)
class Program:
    """A program whose constants may be in other files.

    Attributes:
        label: the label.
        plans: the methods.
        lines: the lines of Python behind the instructions.
        names: the names of constants.
    """

    label: str
    plans: Sequence[ExecutionPlan]
    lines: Origins
    names: Names


def mistakes(label: str, program: Program, files: Files) -> Iterator[Finding]:
    """Yields findings for constants that no file has, or that two files have.

    Args:
        label: the label of what gets the program and the files.
        program: the program.
        files: the files.
    """
    given: dict[str, tuple[str, Layout | None]] = {}
    twice: list[str] = []
    for file, layouts in files.items():
        twice += [f"{key}: {given[key][0]}, {file}" for key in layouts if key in given]
        given.update((key, (file, layout)) for key, layout in layouts.items())
    if twice:
        yield Finding(
            id="constant-in-two-files",
            where=label,
            found=f"two files of weights have {_count(twice)}",
            details=tuple(twice),
            cause="a file has all constants of a program, and not only those that the other files do not have",
            fix="give a base, and files of an executorch_weights with this base",
        )
    needed = _needed(program)
    absent = [
        text if key not in given else f"{text}: {_described(given[key][1])} in {given[key][0]}"
        for key, (layout, text) in needed.items()
        if key not in given or given[key][1] != layout
    ]
    if absent:
        yield Finding(
            id="missing-constant",
            where=label,
            found=f"{program.label} needs {_count(absent)} that {_none_of(files)}",
            details=tuple(absent),
            cause=_cause(files),
            fix="name the .weights.ptd file of the program's export in weights; after an export, replace both files",
        )


def _needed(program: Program) -> dict[str, tuple[Layout, str]]:
    """Returns the layout and a description of each constant in another file, by its key."""
    found: dict[str, tuple[Layout, str]] = {}
    for plan in program.plans:
        names = program.names.get(plan.name, {})
        lines = program.lines.get(plan.name, {})
        for number, instruction in enumerate(plan.instructions):
            for value in memory_plan.named(plan, instruction):
                tensor = plan.values[value]
                if isinstance(tensor, Tensor) and tensor.external is not None and tensor.external not in found:
                    name = names.get(value, tensor.external)
                    parts = (_described(tensor.layout), f"of {instruction.operator or 'a delegate'}", lines.get(number))
                    found[tensor.external] = tensor.layout, f"{name}, {', '.join(filter(None, parts))}"
    return found


def _described(layout: Layout | None) -> str:
    if layout is None:
        return "data of a backend"
    text = f"{elements.name_and_size(layout.dtype)[0]} {list(layout.sizes)}"
    is_contiguous = layout.dim_order == tuple(range(len(layout.sizes)))
    return text if is_contiguous else f"{text} in dim order {list(layout.dim_order)}"


def _count(constants: Sequence[str]) -> str:
    return f"{len(constants)} constant{'s' if len(constants) > 1 else ''}"


def _none_of(files: Files) -> str:
    if not files:
        return "no file has: there are no weights"
    return f"{' and '.join(files)} {'does' if len(files) == 1 else 'do'} not have"


def _cause(files: Files) -> str:
    if not files:
        return 'the program was exported with weights = "external", and the target does not name the file'
    for file, layouts in files.items():
        if any("/input/" in key or "/output/" in key for key in layouts):
            return f"{file} has samples, and no weights"
    return "the weights are those of another program, or of another export of the model"
