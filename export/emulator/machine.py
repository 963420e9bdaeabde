"""Executes the steps of an emitted method over arenas laid out as planned, and finds wrong reads.

Beside the arenas, each tensor has a shadow: the elements that the same operators give if no two values share memory.
An operator computes from shadows. The result becomes the shadow of the out argument and is written to the arena. Before
an operator reads a tensor, the arena must equal the shadow bit by bit. So a fault of the memory plan, of the order of
instructions or of a layout shows at the first step that reads wrong elements, without a tolerance.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from executorch.exir import schema
from torch.utils import _pytree as pytree

from export.emulator import code as steps
from export.emulator import operators
from export.emulator.code import Code, CopyIndex, Delegate, Free, JumpFalse, Kernel, Move, Number, Step, View
from export.emulator.memory import Held, Memory, fits, fits_declared, in_order, is_contiguous, strides

_WITH_DIM_ORDER = "dim_order_ops::"
# The work of a step without multiplications. Python and PyTorch take some 0.1 ms for each step.
_WORK_OF_STEP = 1_000_000

# Parts of the names of operators that multiply matrices.
_PRODUCTS = ("attention", "convolution", "linear", "mm.")

# Gets a step and its results.
Observer = Callable[[Kernel, Sequence[Any]], None]


class Fault(Exception):  # noqa: N818  (It is no error of the emulator, but what the emulator looks for.)
    """A fault of an emitted method.

    Attributes:
        found: the description of the fault.
        step: the step that shows the fault; None for a fault of the method as a whole.
    """

    def __init__(self, found: str, step: Step | None = None) -> None:
        super().__init__(found)
        self.found = found
        self.step = step


class Machine:
    """A method that can run several times. Buffers keep their elements between the runs.

    Args:
        program: the emitted program.
        code: the steps of the method.
        state: the names of the buffers that the method writes to, by the index of the value.
        initial: the bytes of buffers with initial values, by number.

    Attributes:
        work: the multiplications of all runs, roughly.
        drawn: the names of the operators that gave random numbers.
    """

    def __init__(
        self, program: schema.Program, code: Code, state: Mapping[int, str], initial: Sequence[schema.Buffer]
    ) -> None:
        self._code = code
        self._state = state
        self._memory = Memory(program, code.plan, initial)
        self._values = [self._value(index, one.val) for index, one in enumerate(code.plan.values)]
        self._planned = dict(enumerate(self._values))
        self._last_reads = {} if code.has_loops else _last_reads(code)
        self._delegates: dict[int, Callable[..., Any]] = {}
        self._step: Step | None = None
        self._observe: Observer | None = None
        self.work = 0
        self.drawn: set[str] = set()

    def run(self, inputs: Sequence[Any], observe: Observer | None = None) -> list[Any]:
        """Runs the method.

        Args:
            inputs: the inputs of the method, tensors or numbers. Inputs that are no tensors are part of the program.
            observe: gets each call of an operator with its results.
        Returns:
            The outputs: tensors and numbers.
        Raises:
            Fault: the method has a fault.
        """
        self._memory.poison()
        self._observe = observe
        for index, value in self._planned.items():
            if isinstance(value, Held):
                self._values[index] = value
                value.begin()
                if not value.is_constant and index not in self._state:
                    value.shadow = None
        for index, given in zip(self._code.plan.inputs, inputs, strict=True):
            held = self._values[index]
            if isinstance(held, Held) and isinstance(given, torch.Tensor):
                self._write(held, given, "the caller")
        number = 0
        with torch.no_grad():
            while number < len(self._code.steps):
                self._step = self._code.steps[number]
                self.work += _WORK_OF_STEP
                following = self._run(self._step)
                for value in self._last_reads.get(number, ()):
                    self._forget(value)
                number = number + 1 if following is None else following
        self._step = None
        return [self._output(index) for index in self._code.plan.outputs]

    def buffers(self) -> dict[str, torch.Tensor]:
        """Returns the present elements of the buffers that the method writes to, by name.

        Raises:
            Fault: a buffer has wrong elements.
        """
        for index in self._state:
            self._values[index].is_stale = False
        return {name: self._read(index, f"the buffer {name}").clone() for index, name in self._state.items()}

    def _value(self, index: int, value: Any) -> Any:
        if isinstance(value, schema.Tensor):
            return self._memory.hold(value, is_state=index in self._state)
        if isinstance(value, schema.Null):
            return None
        if isinstance(value, schema.Double):
            return float(value.double_val)
        for kind, attribute in ((schema.Int, "int_val"), (schema.Bool, "bool_val"), (schema.String, "string_val")):
            if isinstance(value, kind):
                return getattr(value, attribute)
        return value  # A list.

    def _argument(self, index: int, what: str) -> Any:
        """Returns the correct value of an argument, after a check of the arena for tensors."""
        value = self._values[index]
        if isinstance(value, Held):
            return self._read(index, what)
        if isinstance(value, schema.IntList):
            return [self._values[one] for one in value.items]
        if isinstance(value, schema.TensorList | schema.OptionalTensorList):
            return [None if one < 0 else self._read(one, what) for one in value.items]
        if isinstance(value, schema.DoubleList | schema.BoolList):
            return list(value.items)
        return value

    def _read(self, index: int, what: str) -> torch.Tensor:
        held: Held = self._values[index]
        if held.shadow is None:
            raise self._fault(f"{what} is read before anything was written to it")
        if held.is_stale:
            raise self._fault(f"{what} is read after a write to a view of the same memory")
        if not held.is_constant and not held.equals_shadow():
            wrong = held.differing()
            first = int(wrong.flatten().to(torch.int8).argmax())
            now, right = held.elements().flatten()[first], held.shadow.flatten()[first]
            raise self._fault(
                f"{what} was overwritten: element {first} is {now.item()}, not {right.item()};"
                f" {int(wrong.sum())} of {wrong.numel()} elements are wrong"
            )
        return held.shadow

    def _output(self, index: int) -> Any:
        value = self._argument(index, "an output")
        return value.clone() if isinstance(value, torch.Tensor) else value

    def _run(self, step: Step) -> int | None:
        """Runs a step. Returns the number of the next step, or None for the step that follows."""
        if isinstance(step, Kernel):
            self._run_kernel(step)
        elif isinstance(step, View):
            self._run_view(step)
        elif isinstance(step, Number):
            self._run_number(step)
        elif isinstance(step, Move):
            moved = self._values[step.source]
            if isinstance(moved, Held):
                moved = dataclasses.replace(moved, views=[])
                moved.views.append(moved)
            self._values[step.target] = moved
        elif isinstance(step, JumpFalse):
            condition = self._argument(step.condition, "the condition")
            return None if bool(condition) else step.to
        elif isinstance(step, CopyIndex):
            self._run_copy_index(step)
        elif isinstance(step, Delegate):
            self._run_delegate(step)
        elif isinstance(step, Free):
            self._forget(step.value)
        return None

    def _forget(self, index: int) -> None:
        if not self._values[index].is_constant:
            self._values[index].shadow = None

    def _run_kernel(self, step: Kernel) -> None:
        operator = step.operator
        values: list[Any] = []
        for argument, index in zip(operators.taken(operator.schema), step.inputs, strict=True):
            if operator.name == steps.COPY and not values:
                values.append(self._target_of_copy(index))
                continue
            what = f"the argument {argument.name} of {operator.name}"
            value = operators.convert(argument, self._argument(index, what))
            if index in step.written:
                value = value.clone()
            values.append(value)
        self._check_orders(step, values)
        if operator.draws:
            self.drawn.add(operator.name)
        outs = list(steps.tensors(self._code.plan, step.outs))
        try:
            results = operator.compute(values, [self._values[out].dtype for out in outs])
        except Exception as error:  # A kernel of PyTorch may raise any exception for arguments that do not fit.
            first = next(iter(str(error).splitlines()), "")
            raise self._fault(f"{operator.name} raised {type(error).__name__}: {first}") from error
        self._count(operator.name, values, results)
        if self._observe is not None:
            self._observe(step, results)
        for index, value in zip(step.inputs, values, strict=True):
            if index in step.written:
                self._write(self._values[index], value, operator.name)
                self._values[index].spread()
        if outs:
            flat = [one for one in pytree.tree_leaves(results) if isinstance(one, torch.Tensor)]
            for out, result in zip(outs, flat, strict=False):
                self._write(self._values[out], result, operator.name)

    def _target_of_copy(self, index: int) -> torch.Tensor:
        """Returns a tensor for `copy_` to write to. The tensor need not have elements before."""
        held: Held = self._values[index]
        return in_order(torch.zeros(max(1, held.elements().numel()), dtype=held.dtype), held.sizes, held.order)

    def _check_orders(self, step: Kernel, values: Sequence[Any]) -> None:
        """Checks that tensors have the dim orders that the kernel of an operator requires."""
        operator = step.operator
        names = [one.name for one in operators.taken(operator.schema)]
        for name, index in (*zip(names, step.inputs, strict=True), *(("out", out) for out in step.outs)):
            order, held = operator.dim_orders.get(name, ""), self._values[index]
            if isinstance(held, Held) and order in ("contiguous", "channels_last") and not fits_declared(held, order):
                raise self._fault(
                    f"the argument {name} of {operator.name} has the sizes {held.sizes} in the dim order {held.order},"
                    f" and the kernel takes {order} memory only"
                )
        if operator.name.startswith(_WITH_DIM_ORDER):
            order, out = values[names.index("dim_order")], self._values[step.outs[0]]
            if order is not None and not fits(out.sizes, out.order, order):
                raise self._fault(f"{operator.name} gives the dim order {order}, and the plan has {out.order}")

    def _run_view(self, step: View) -> None:
        base, result = self._values[step.base], self._values[step.result]
        if not is_contiguous(base):
            raise self._fault(f"a view of memory with the sizes {base.sizes} in the dim order {base.order}")
        if step.sizes is not None:
            sizes = [int(one) for one in self._argument(step.sizes, "the sizes")]
            shape = tuple(torch.empty(base.sizes, device="meta").view(sizes).shape)
            result = dataclasses.replace(base, order=result.order, sizes=shape, is_static=False, views=[])
            self._values[step.result] = result
        result.view(base)

    def _run_number(self, step: Number) -> None:
        values = [self._argument(index, f"an argument of {step.operator}") for index in step.inputs]
        if step.operator in operators.NUMBERS:
            self._values[step.result] = operators.NUMBERS[step.operator](*values)
        else:
            self._values[step.result] = steps.size_of(step, *values)

    def _run_copy_index(self, step: CopyIndex) -> None:
        target: Held = self._values[step.target]
        source = self._read(step.source, "a result of the loop's body")
        index = self._values[step.index]
        # The runtime copies bytes.
        for held in (target, self._values[step.source]):
            if not is_contiguous(held):
                raise self._fault("a loop copies tensors that are not contiguous")
        before = [self._read(step.target, "the results of earlier iterations")[:index]] if index else []
        # The runtime grows the tensor by one element per iteration, unless the tensor has as many from the plan or from
        # the last run. Then the other sizes must be those of the result.
        if not index and target.sizes[0] and target.sizes[1:] != tuple(source.shape):
            raise self._fault(
                f"a loop gives results of the sizes {tuple(source.shape)}, and ExecuTorch's runtime takes only the"
                f" sizes {target.sizes[1:]} of the plan or of the last run"
            )
        target.is_static = False
        self._write(target, torch.cat([*before, source[None]]), "the loop")

    def _run_delegate(self, step: Delegate) -> None:
        if id(step) not in self._delegates:
            self._delegates[id(step)] = step.module.original_module.module()
        values = [self._argument(index, f"an input of {step.module.backend_id}") for index in step.inputs]
        results = pytree.tree_leaves(self._delegates[id(step)](*values))
        for out, result in zip(step.outs, results, strict=True):
            if isinstance(result, torch.Tensor):
                self._write(self._values[out], result, step.module.backend_id)
            else:
                self._values[out] = result

    def _write(self, held: Held, result: torch.Tensor, by: str) -> None:
        sizes = tuple(result.shape)
        if len(sizes) != len(held.order):
            raise self._fault(f"{by} gives the sizes {sizes}, and the plan has {len(held.order)} dimensions")
        if held.is_static and sizes != held.sizes:
            raise self._fault(f"{by} gives the sizes {sizes}, and the plan has {held.sizes}")
        if result.numel() * held.dtype.itemsize > held.capacity:
            raise self._fault(f"{by} gives the sizes {sizes}, for which the plan has {held.capacity} bytes only")
        held.sizes, held.is_stale = sizes, False
        wanted = strides(sizes, held.order)
        if result.dtype != held.dtype or result.stride() != wanted or result.is_conj() or result.is_neg():
            result = in_order(torch.empty(result.numel(), dtype=held.dtype), sizes, held.order).copy_(result)
        held.shadow = result
        held.elements().copy_(result)

    def _count(self, operator: str, values: Sequence[Any], results: Sequence[Any]) -> None:
        tensors = [one for one in results if isinstance(one, torch.Tensor)]
        self.work += sum(one.numel() for one in tensors)
        if tensors and any(word in operator for word in _PRODUCTS):
            # A product has a sum for each element, of as many products as the weight has elements for each feature.
            features = max([1, *tensors[0].shape[1:2], *tensors[0].shape[-1:]])
            weight = max((one.numel() for one in values[1:2] if isinstance(one, torch.Tensor)), default=0)
            self.work += tensors[0].numel() * (weight // features)

    def _fault(self, found: str) -> Fault:
        return Fault(found, self._step)


def _last_reads(code: Code) -> Mapping[int, Sequence[int]]:
    """Returns for each step the tensors that no later step reads, and that are no state, constant or output."""
    kept = {*code.plan.outputs, *code.placeholders.values()}
    last: dict[int, int] = {}
    for number, step in enumerate(code.steps):
        for value in steps.tensors(code.plan, _indices(step)):
            last[value] = number
    of_steps: dict[int, list[int]] = defaultdict(list)
    for value, number in last.items():
        if value not in kept:
            of_steps[number].append(value)
    return of_steps


def _indices(step: Step) -> Sequence[int]:
    """Returns the indices of all values that a step reads or writes."""
    if isinstance(step, Kernel | Delegate):
        return (*step.inputs, *step.outs)
    if isinstance(step, Number):
        return step.inputs
    if isinstance(step, View):
        return (step.base, step.result)
    if isinstance(step, CopyIndex):
        return (step.target, step.source)
    if isinstance(step, Move):
        return (step.source, step.target)
    return (step.condition,) if isinstance(step, JumpFalse) else ()
