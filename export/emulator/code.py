"""Decodes the instructions of an emitted method into steps, with what each step reads and writes."""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from executorch.exir import schema
from executorch.exir.lowered_backend_module import LoweredBackendModule

from export.emulator import operators
from export.emulator.operators import Operator
from export.patches.recorded_emission import Emission, Instruction

_COPY_INDEX = "executorch_prim::et_copy_index.tensor"
_ET_VIEW = "executorch_prim::et_view.default"
_SIZE = "aten::sym_size.int"
_NUMEL = "aten::sym_numel"
_ITEM = "aten::_local_scalar_dense"
# An operator of PyTorch that programs call on a tensor which need not have a value before.
COPY = "aten::copy_"


@dataclass(frozen=True)
class Step:
    """A step of a method.

    Attributes:
        nodes: the nodes behind the step, as in `emission.Instruction`; empty for steps without an operator.
    """

    nodes: tuple[torch.fx.Node, ...]


@dataclass(frozen=True)
class Kernel(Step):
    """A call of an operator.

    Attributes:
        operator: the operator.
        inputs: the indices of the values of the arguments that are not out arguments.
        outs: the indices of the values of the out arguments.
        written: the indices of the values of other arguments that the operator writes to.
    """

    operator: Operator
    inputs: tuple[int, ...]
    outs: tuple[int, ...]
    written: tuple[int, ...]


@dataclass(frozen=True)
class Number(Step):
    """A computation of a number from numbers, or from the sizes or the element of a tensor."""

    operator: str
    inputs: tuple[int, ...]
    result: int


@dataclass(frozen=True)
class View(Step):
    """A view. Without `sizes`, the memory plan alone makes the view, and the sizes are those of the plan."""

    base: int
    sizes: int | None
    result: int


@dataclass(frozen=True)
class CopyIndex(Step):
    """Appends `source` to `target` as element `index` of the first dimension."""

    target: int
    source: int
    index: int


@dataclass(frozen=True)
class Delegate(Step):
    """A call of a backend."""

    module: LoweredBackendModule
    inputs: tuple[int, ...]
    outs: tuple[int, ...]


@dataclass(frozen=True)
class Move(Step):
    """Makes `target` the same value as `source`."""

    source: int
    target: int


@dataclass(frozen=True)
class JumpFalse(Step):
    """Continues at the step `to` if `condition` is false."""

    condition: int
    to: int


@dataclass(frozen=True)
class Free(Step):
    """Ends the life of a tensor."""

    value: int


@dataclass(frozen=True)
class Code:
    """A method as steps.

    Attributes:
        plan: the emitted method.
        steps: the steps.
        placeholders: the index of the value of each placeholder, by the placeholder's target.
        has_loops: whether a step continues at an earlier step.
    """

    plan: schema.ExecutionPlan
    steps: Sequence[Step]
    placeholders: dict[str, int]
    has_loops: bool


def decode(plan: schema.ExecutionPlan, emission: Emission) -> Code:
    """Decodes an emitted method, with the record of its emission.

    Raises:
        UnknownOperatorError: PyTorch has no function for an operator of the method.
    """
    instructions = plan.chains[0].instructions
    # A view without an instruction is a step before the instruction that follows.
    views = sorted(emission.views, key=lambda view: view.position)
    positions = [view.position for view in views]
    starts = [number + bisect.bisect_left(positions, number) for number in range(len(instructions) + 1)]
    steps: list[Step] = []
    for number, instruction in enumerate(instructions):
        while len(steps) - number < len(views) and views[len(steps) - number].position <= number:
            view = views[len(steps) - number]
            steps.append(View(view.nodes, view.base, None, view.value))
        steps.append(_step(plan, instruction.instr_args, emission.instructions.get(number), starts))
    steps += [View(view.nodes, view.base, None, view.value) for view in views[len(steps) - len(instructions) :]]
    has_loops = any(isinstance(step, JumpFalse) and step.to <= index for index, step in enumerate(steps))
    return Code(plan, steps, emission.placeholders, has_loops)


def _step(plan: schema.ExecutionPlan, call: Any, instruction: Instruction | None, starts: Sequence[int]) -> Step:
    nodes = instruction.nodes if instruction is not None else ()
    if isinstance(call, schema.MoveCall):
        return Move(nodes, call.move_from, call.move_to)
    if isinstance(call, schema.JumpFalseCall):
        return JumpFalse(nodes, call.cond_value_index, starts[call.destination_instruction])
    if isinstance(call, schema.FreeCall):
        return Free(nodes, call.value_index)
    if isinstance(call, schema.DelegateCall):
        return _delegate(nodes, call)
    return _kernel(plan, nodes, call)


def _delegate(nodes: tuple[torch.fx.Node, ...], call: schema.DelegateCall) -> Delegate:
    node = nodes[-1]
    module: Any = getattr(node.graph.owning_module, str(node.args[0].target))  # type: ignore[union-attr]
    count = len(node.args) - 1
    return Delegate(nodes, module, tuple(call.args[:count]), tuple(call.args[count:]))


def _kernel(plan: schema.ExecutionPlan, nodes: tuple[torch.fx.Node, ...], call: schema.KernelCall) -> Step:
    called, args = plan.operators[call.op_index], call.args
    name = f"{called.name}.{called.overload}" if called.overload else str(called.name)
    if name == _ET_VIEW:
        return View(nodes, args[0], args[1], args[2])
    if name == _COPY_INDEX:
        return CopyIndex(nodes, args[0], args[1], args[2])
    if name in operators.NUMBERS or name in (_SIZE, _NUMEL, _ITEM):
        return Number(nodes, name, tuple(args[:-1]), args[-1])
    operator = operators.find(called.name, called.overload)
    positions = range(len(operator.schema.arguments))
    inputs = tuple(args[position] for position in positions if position not in operator.outs)
    outs = tuple(args[position] for position in operator.outs)
    return Kernel(nodes, operator, inputs, outs, tuple(args[position] for position in operator.written))


def size_of(step: Number, tensor: Any, *numbers: int) -> Any:
    """Computes the number of a step that reads a tensor."""
    if step.operator == _SIZE:
        return tensor.shape[numbers[0]]
    return tensor.numel() if step.operator == _NUMEL else tensor.item()


def tensors(plan: schema.ExecutionPlan, values: Sequence[int]) -> Iterator[int]:
    """Yields the tensors of some values: those that are tensors, and the elements of lists of tensors."""
    for value in values:
        held = plan.values[value].val
        if isinstance(held, schema.Tensor):
            yield value
        elif isinstance(held, schema.TensorList | schema.OptionalTensorList):
            yield from (one for one in held.items if one >= 0)
