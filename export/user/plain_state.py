"""Finds state in plain attributes of a module, which a program would lose.

torch.export compiles in the values that plain attributes have at the export. A module whose attributes change while it
runs is therefore run twice on a sample: as it is, and with the attributes that it had at first. The program would do
the latter. Attributes with which both runs give the same, such as a kept output or a cached table, are no state.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils import _pytree as pytree

from diagnostics.errors import Finding, InputError
from export.user import attributes
from export.user.attributes import Attribute, Buffers, Snapshot
from export.user.dense_tensors import dim_order
from export.user.inputs import Inputs
from export.user.messages import text_of
from export.user.model_file import Method

# The largest number of paths to one attribute in a message.
_MOST_PATHS = 4


@dataclass(frozen=True)
class Ran:
    """A run of a module.

    Attributes:
        inputs: the inputs after the run.
        outputs: the flattened outputs.
        spec: the nesting of the outputs.
    """

    inputs: Inputs
    outputs: tuple[Any, ...]
    spec: pytree.TreeSpec


def run(module: torch.nn.Module, inputs: Inputs) -> Ran:
    """Runs a module. The run writes to copies of the inputs."""
    inputs = inputs.separate()
    outputs, spec = pytree.tree_flatten(module(*inputs.args, **inputs.kwargs))
    return Ran(inputs, tuple(outputs), spec)


@dataclass(frozen=True)
class _Result:
    """What a run gave.

    Attributes:
        ran: the run; None if the module raised.
        buffers: the buffers after the run.
    """

    ran: Ran | None
    buffers: Mapping[str, torch.Tensor]

    def equals(self, other: _Result) -> bool:
        if self.ran is None or other.ran is None:
            return self.ran is other.ran
        pairs = [
            *zip(self.ran.outputs, other.ran.outputs, strict=False),
            *zip(self.ran.inputs.flatten()[0], other.ran.inputs.flatten()[0], strict=True),
            *((buffer, other.buffers.get(name)) for name, buffer in self.buffers.items()),
        ]
        return self.ran.spec == other.ran.spec and all(attributes.are_equal(*pair) for pair in pairs)


def _result(module: torch.nn.Module, inputs: Inputs, generator: torch.Tensor) -> _Result:
    """Runs a copy of a module. The random numbers start at a state of PyTorch's generator, which then is as before."""
    ran = None
    with torch.random.fork_rng(devices=[]):
        torch.set_rng_state(generator)
        with contextlib.suppress(BaseException):
            ran = run(module, inputs)
    return _Result(ran, dict(module.named_buffers()))


def leak(method: Method) -> Finding | None:
    """Returns the finding for a tensor without data that the trace of a method has left outside of the module."""
    try:
        with torch.no_grad():
            ran = run(attributes.copied(method.module), method.samples[0])
        is_left = any(isinstance(one, FakeTensor) for one in ran.outputs)
    except Exception as error:
        is_left = "FakeTensor" in text_of(error)
    if not is_left:
        return None
    return Finding(
        method.at,
        f"{method.name}() keeps a tensor in a global, a class or a closure",
        "a program keeps the state of buffers only.",
        "make a buffer of each such tensor: self.register_buffer(name, tensor) in __init__(), and self.name = ... in"
        " forward().",
        id="state-outside-buffers",
    )


def check_others(method: Method, attribute: Attribute, value: Any, others: Sequence[Method]) -> None:
    """Checks that no other method reads a plain attribute that a method changes, whose runs have given it `value`.

    Raises:
        InputError: another method gives other results with the value.
    """
    holder = method.module.get_submodule(attribute.module)
    for other in others:
        path = next((path for path, module in other.module.named_modules() if module is holder), None)
        if path is None or not _reads(other, Attribute(path, attribute.name), value):
            continue
        place = attributes.place(method.module, attribute)
        at, details = method.source.frames_of_text(place.frame) if place else (None, ())
        raise InputError.of(
            at or method.at,
            f"{method.name}() changes the attribute {attribute.name} ({attribute}), which {other.name}() reads",
            "the methods have one module, and keep state in a plain attribute. torch.export compiles in the value"
            f" that the attribute has at the export, so that {other.name}() would not see what {method.name}()"
            " assigns.",
            f"return the value from {method.name}(), and take it as an input of {other.name}().",
            details or ((str(place),) if place else ()),
            id="methods-share-state",
        )


def _reads(method: Method, attribute: Attribute, value: Any) -> bool:
    """Returns whether another value of an attribute changes the results of the first sample."""
    results = []
    with torch.no_grad():
        for is_changed in (False, False, True):
            module = attributes.copied(method.module)
            if is_changed:
                # The run may write to the value.
                vars(module.get_submodule(attribute.module))[attribute.name] = copy.deepcopy(value)
            results.append(_result(module, method.samples[0], torch.get_rng_state()))
    same, again, changed = results
    return same.equals(again) and not same.equals(changed)


def _is_changed(one: Any, other: Any) -> bool:
    """Returns whether two differing parts of an attribute are floats of the same sizes, of which one can be filled."""
    if not isinstance(one, torch.Tensor) or not isinstance(other, torch.Tensor) or one.shape != other.shape:
        return False
    # In other layouts, and where elements share memory, PyTorch refuses the write.
    return one.is_floating_point() and one.numel() > 0 and dim_order(one) is not None and not one.is_inference()


def _varied(inputs: Inputs) -> Inputs:
    """Returns inputs with other floats of the same range."""
    return inputs.with_tensors(
        lambda tensor: tensor.flip(tuple(range(tensor.dim()))) * 0.5 if tensor.is_floating_point() else tensor
    )


class Check:
    """Runs a module, and compares the runs with runs in which plain attributes have their first values.

    Args:
        method: the method, whose module has not run.
        module: the copy of the module that runs.

    Attributes:
        buffers: the buffers of the module that runs.
    """

    def __init__(self, method: Method, module: torch.nn.Module) -> None:
        self._method = method
        self._module = module
        self.buffers = Buffers(module)
        # The attributes of an exported graph do not change.
        self._snapshot = Snapshot(module) if method.exported is None else None
        self._versions = self._of_parameters()
        # The inputs of each run, and the state of the generator of random numbers before the run.
        self._runs: list[tuple[Inputs, torch.Tensor]] = []
        self._changed: list[Attribute] = []
        # The copy that ran with the first attributes, and what its run gave.
        self._first: torch.nn.Module | None = None
        self._without: _Result | None = None
        # Whether an attribute after a run depends on its value before the run.
        self._is_recurrent = False

    def run(self, inputs: Inputs) -> Ran:
        """Runs the module.

        Raises:
            InputError: the module keeps state in plain attributes.
        """
        self._before(inputs)
        ran = run(self._module, inputs)
        self._after(ran)
        return ran

    def _before(self, inputs: Inputs) -> None:
        self._runs.append((inputs, torch.get_rng_state()))
        self._changed = self.changes()
        self._first, self._without = None, None
        if self._changed:
            self._first = self._with_first_attributes()
            self._without = _result(self._first, *self._runs[-1])

    def _after(self, ran: Ran | None) -> None:
        """Compares a run. `ran` is None if the module raised."""
        if self._first is None or self._without is None:
            return
        result = _Result(ran, dict(self._module.named_buffers()))
        if not result.equals(self._without):
            kept = self._state(result)
            if kept:
                raise InputError(self._findings(kept))
        self._is_recurrent |= any(True for one in self._changed for _ in self._differences(self._module, one))

    def _differences(self, module: torch.nn.Module, attribute: Attribute) -> Iterator[tuple[Any, Any]]:
        """Yields the parts of an attribute in `module` that differ from those of the copy with the first attributes."""
        return attributes.differences(*(attributes.value(one, attribute) for one in (module, self._first) if one))

    def end(self) -> torch.nn.Module:
        """Ends the runs. Compares two more runs if only the last run has changed attributes, as with a single sample.

        Outputs may be the same by chance, as spikes are. An attribute that depends on its earlier value is also state
        if other values in it change the outputs.

        Returns:
            The module with the state that it had before this call.
        Raises:
            InputError: the module keeps state in plain attributes.
        """
        if not self.changes() or (self._changed and not self._is_recurrent):
            return self._module
        try:
            ended = attributes.copied(self._module)
        except Exception:  # The run has made an object that cannot be copied.
            return self._module
        last, _ = self._runs[-1]
        # A maximum of all inputs, for example, is the same for one input that is given twice.
        for inputs in (_varied(last), last):
            self._before(inputs)
            self._after(_result(self._module, *self._runs[-1]).ran)
        if self._is_recurrent and (kept := [one for one in self._changed if self._is_read(one)]):
            raise InputError(self._findings(kept))
        return ended

    def _is_read(self, attribute: Attribute) -> bool:
        """Returns whether other values of the same sizes in an attribute change the results of a run."""
        results = []
        for factor in (0, 0, 10, -10, 1000, -1000):
            module = attributes.copied(self._module)
            for one, other in self._differences(module, attribute) if factor else ():
                if _is_changed(one, other):
                    one.fill_(factor * (1 + one.abs().max().item()))
            results.append(_result(module, *self._runs[-1]))
        same, again, *others = results
        return same.equals(again) and not all(same.equals(one) for one in others)

    def changes(self) -> list[Attribute]:
        """Returns the plain attributes with other values than at first."""
        # The other copies of the module have the first values of the parameters.
        return self._snapshot.changed() if self._snapshot and self._versions == self._of_parameters() else []

    def _of_parameters(self) -> list[int]:
        return [attributes.version(parameter) for parameter in self._module.parameters()]

    def _with_first_attributes(self) -> torch.nn.Module:
        """Returns a copy of the module with the attributes that the module had at first."""
        module = attributes.copied(self._method.module)
        modules = dict(module.named_modules())
        for name, buffer in self._module.named_buffers(remove_duplicate=False):
            path, _, last = name.rpartition(".")
            buffers = modules[path]._buffers if path in modules else {}
            held = buffers.get(last)
            if held is None:
                continue  # A buffer without a value counts as a plain attribute.
            is_alike = (held.layout, held.dtype, held.shape) == (torch.strided, buffer.dtype, buffer.shape)
            if is_alike and dim_order(held) is not None:
                held.copy_(buffer)  # An attribute may have a view of the buffer.
            else:
                buffers[last] = buffer.clone()
        return module

    def _state(self, result: _Result) -> list[Attribute]:
        """Returns the attributes that make a difference for the result of the last run.

        None if the module is not deterministic.
        """
        *earlier, last = self._runs

        def again() -> torch.nn.Module:
            module = attributes.copied(self._method.module)
            for inputs, generator in earlier:
                _result(module, inputs, generator)
            return module

        if not result.equals(_result(again(), *last)):
            return []
        kept = []
        fresh = attributes.copied(self._method.module)
        for attribute in self._changed:
            module = again()
            attributes.reset(module, attribute, fresh)
            if not result.equals(_result(module, *last)):
                kept.append(attribute)
        return kept or self._changed

    def _findings(self, kept: Sequence[Attribute]) -> list[Finding]:
        """Returns a finding for each attribute of a class. Several modules may have the class."""
        modules = dict(self._method.module.named_modules())
        of_class: dict[tuple[type, str], list[Attribute]] = {}
        for attribute in kept:
            of_class.setdefault((type(modules[attribute.module]), attribute.name), []).append(attribute)
        return [self._finding(kind.__name__, same) for (kind, _), same in of_class.items()]

    def _finding(self, kind: str, same: Sequence[Attribute]) -> Finding:
        source, name = self._method.source, same[0].name
        paths = [*map(str, same[:_MOST_PATHS]), *["..."] * (len(same) > _MOST_PATHS)]
        place = attributes.place(self._method.module, same[0])
        at, details = source.frames_of_text(place.frame) if place else (None, ())
        return Finding(
            at or self._method.at,
            f"{self._method.name}() keeps state in the attribute {name} of {kind} ({', '.join(paths)})",
            "a program keeps the state of buffers only. torch.export compiles in the value that the attribute has at"
            " the export, so that each run of the program would start from this value.",
            _fix(name, *(attributes.value(module, same[0]) for module in (self._method.module, self._module))),
            details or ((str(place),) if place else ()),
            id="state-outside-buffers",
        )


def _fix(name: str, first: Any, now: Any) -> str:
    """Returns the fix for an attribute with a value at first, and with one after some runs."""
    if isinstance(now, torch.Tensor):
        dtype = "" if now.dtype == torch.float32 else f", dtype={now.dtype}"
        value = "..." if isinstance(first, torch.Tensor) else f"torch.zeros({list(now.shape)}{dtype})"
        also = " with the first value" if isinstance(first, torch.Tensor) else ""
    elif isinstance(now, (bool, int, float)):
        value, also = f"torch.tensor({first if isinstance(first, (bool, int, float)) else now!r})", ""
    else:
        return (
            f"make a buffer of each tensor that {name} keeps: self.register_buffer(name, tensor) in __init__(), with a"
            " tensor of the same size, and copy_(...) to this buffer in forward()."
        )
    buffer = f'self.register_buffer("{name}", {value})'
    return f"write {buffer}{also} in __init__(), and self.{name}.copy_(...) in forward()."
