"""Writes a memory report of a program: what holds the planned memory and the constants, with the lines of Python.

    codegen memory --label //app:model --program model.pte --origins model.origins.json \\
        --text memory.txt --json memory.json --html memory.html

With --what_if, the report compares the program with others, such as the same model for a larger batch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from codegen.artifacts import memory_report, origins
from codegen.artifacts.memory_report import Constant, MemoryReport, Method, PlannedTensor, Port, WhatIf
from codegen.commands import define, shared_flags
from codegen.inputs import program_content_reader
from codegen.model import elements, memory_plan
from codegen.model.execution_plan import Content, ExecutionPlan, Instruction, Tensor
from codegen.pages import memory_page, memory_text

FLAGS = shared_flags.flag_values()

_LABEL = shared_flags.label(FLAGS, "the program")
_PROGRAM = define.required(FLAGS, "program", "The program (.pte).")
_WEIGHTS = define.several(FLAGS, "weights", "A file (.ptd) with constants that the program does not have.")
_ORIGINS = define.optional(FLAGS, "origins", "The lines of Python of the instructions, if the export wrote them.")
_WHAT_IF = define.several(FLAGS, "what_if", "The label of another program, a tab, and the program.")
_TEXT = define.required(FLAGS, "text", "Where to write the text.")
_JSON = define.required(FLAGS, "json", "Where to write the JSON.")
_HTML = define.required(FLAGS, "html", "Where to write the web page.")

_KINDS = {"DelegateCall": "call of a delegate", "FreeCall": "release", "JumpFalseCall": "branch", "MoveCall": "move"}


def run() -> None:
    lines = origins.read(_ORIGINS.value) if _ORIGINS.value else origins.NONE
    content = program_content_reader.read(_PROGRAM.value, _LABEL.value)
    methods = tuple(_method(plan, lines.get(plan.name, {})) for plan in content.plans)
    report = MemoryReport(
        _LABEL.value,
        Path(_PROGRAM.value).stat().st_size,
        sum(Path(name).stat().st_size for name in _WEIGHTS.value),
        methods,
        _constants(content, methods),
        tuple(_what_if(*given.split("\t")) for given in _WHAT_IF.value),
    )
    Path(_TEXT.value).write_text(memory_text.render(report))
    Path(_JSON.value).write_text(memory_report.write(report))
    Path(_HTML.value).write_text(memory_page.render(report))


def _method(plan: ExecutionPlan, lines: Mapping[int, str]) -> Method:
    uses = memory_plan.uses(plan)
    state = memory_plan.state(plan)
    ports = tuple(_ports(plan))
    names = {value: name for value, name in _port_values(plan)}
    tensors = []
    for use in uses:
        tensor = _tensor(plan, use.value)
        kept = f"state {tensor.name}".rstrip() if use.value in state else ""
        tensors.append(
            PlannedTensor(
                kept or names.get(use.value, ""),
                _described(tensor),
                use.place.memory,
                use.place.offset,
                use.bytes,
                use.first,
                use.last,
            )
        )
    return Method(
        plan.name,
        plan.memory_sizes,
        tuple(_instruction(each, lines.get(number, "")) for number, each in enumerate(plan.instructions)),
        tuple(memory_plan.bytes_in_use(uses, len(plan.instructions))),
        tuple(tensors),
        ports,
        plan.backends,
    )


def _tensor(plan: ExecutionPlan, value: int) -> Tensor:
    tensor = plan.values[value]
    assert isinstance(tensor, Tensor)
    return tensor


def _described(tensor: Tensor) -> str:
    name, _ = elements.name_and_size(tensor.dtype)
    at_most = " at most" if tensor.is_dynamic else ""
    return f"{name} {list(tensor.sizes)}{at_most}"


def _instruction(instruction: Instruction, line: str) -> str:
    return ", ".join(filter(None, (instruction.operator or _KINDS[instruction.kind], line)))


def _port_values(plan: ExecutionPlan) -> Iterator[tuple[int, str]]:
    for kind, values in (("output", plan.outputs), ("input", plan.inputs)):
        for number, value in enumerate(values):
            if isinstance(plan.values[value], Tensor):
                yield value, f"{kind} {number}"


def _ports(plan: ExecutionPlan) -> Iterator[Port]:
    # The target of a move, such as the result of a branch, is in the memory of the move's source.
    moved = {each.numbers[1] for each in plan.instructions if each.kind == "MoveCall"}
    for kind, values in (("input", plan.inputs), ("output", plan.outputs)):
        for number, value in enumerate(values):
            tensor = plan.values[value]
            if isinstance(tensor, Tensor):
                is_planned = tensor.place is not None or value in moved
                yield Port(f"{kind} {number}", _described(tensor), memory_plan.nbytes(tensor), is_planned)


def _constants(content: Content, methods: Sequence[Method]) -> tuple[Constant, ...]:
    """Returns the constants that instructions read, the largest first."""
    found: dict[int | str, Constant] = {}
    for plan, method in zip(content.plans, methods, strict=True):
        for number, instruction in enumerate(plan.instructions):
            for value in memory_plan.named(plan, instruction):
                tensor = _tensor(plan, value)
                key = tensor.external or tensor.data
                if tensor.place is not None or not key:
                    continue
                is_external = tensor.external is not None
                size = memory_plan.nbytes(tensor) if is_external else len(content.constants[tensor.data])
                user = f"{plan.name}: {method.instructions[number]}"
                found.setdefault(key, Constant(_described(tensor), size, user, is_external))
    return tuple(sorted(found.values(), key=lambda constant: -constant.bytes))


def _what_if(label: str, path: str) -> WhatIf:
    plans = program_content_reader.read(path, label).plans
    return WhatIf(label, Path(path).stat().st_size, tuple((plan.name, sum(plan.memory_sizes)) for plan in plans))
