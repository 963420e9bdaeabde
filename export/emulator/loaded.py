"""A method of an emitted program, ready for the emulator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from executorch.exir import ExecutorchProgramManager

from export.emulator import code, plan
from export.emulator.code import Code
from export.emulator.machine import Machine
from export.patches.recorded_emission import Emission


@dataclass(frozen=True)
class Loaded:
    """A decoded method.

    Attributes:
        executorch: the program.
        code: the steps of the method.
        state: the names of the buffers that the method writes to, by the index of the value.
    """

    executorch: ExecutorchProgramManager
    code: Code
    state: Mapping[int, str]

    @classmethod
    def of(cls, executorch: ExecutorchProgramManager, emission: Emission, name: str) -> Loaded:
        """Loads a method.

        Raises:
            UnknownOperatorError: PyTorch has no function for an operator of the method.
        """
        plans = executorch._emitter_output.program.execution_plan
        (emitted,) = (one for one in plans if one.name == name)
        signature = executorch.exported_program(name).graph_signature
        written = set(signature.buffers_to_mutate.values())
        state = {
            emission.placeholders[placeholder]: buffer
            for placeholder, buffer in signature.inputs_to_buffers.items()
            if buffer in written and placeholder in emission.placeholders
        }
        return cls(executorch, code.decode(emitted, emission), state)

    def check_plan(self) -> None:
        """Checks the memory plan on all paths.

        Raises:
            Fault: the plan is wrong.
        """
        plan.check(self.code, self.state)

    def machine(self) -> Machine:
        """Returns the method before its first run."""
        output = self.executorch._emitter_output
        return Machine(output.program, self.code, self.state, output.mutable_data or [])
