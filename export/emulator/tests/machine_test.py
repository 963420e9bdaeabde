"""Tests that the emulator finds changed plans: memory, dim orders, sizes and instructions."""

from __future__ import annotations

import copy
import dataclasses
import itertools
import math
import warnings
from typing import Any

import torch
from absl.testing import absltest
from executorch.exir import EdgeCompileConfig, schema, to_edge_transform_and_lower
from torch import nn
from torch.nn import functional

from export.emulator.code import Kernel
from export.emulator.loaded import Loaded
from export.emulator.machine import Fault
from export.patches import recorded_emission


class _Net(nn.Module):
    """Layers, a view, two readers of one value, and state."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(6, 6)
        self.total: torch.Tensor
        self.register_buffer("total", torch.zeros(4, 6))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = functional.relu(self.layer(x))
        z = (y * 2).view(2, 12)
        self.total += y
        return z.view(4, 6) + y, self.total.exp()


class _Image(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = (x + 1) * 2
        return y.view(2, 24) - 1


class _Branches(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.cond(x.sum() > 0, lambda a: a * 2 + 1, lambda a: a - 3, (x,))
        z: torch.Tensor = torch.cond(x.sum() > 1000, lambda a: a * 3 - 1, lambda a: a + 5, (x,))
        return z.add(y)


def _loaded(module: nn.Module, *inputs: torch.Tensor) -> Loaded:
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        edge = to_edge_transform_and_lower(
            torch.export.export(module, inputs), compile_config=EdgeCompileConfig(_check_ir_validity=False)
        )
        with recorded_emission.recorded() as emissions:
            executorch = edge.to_executorch()
        return Loaded.of(executorch, emissions["forward"], "forward")


class MachineTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        torch.manual_seed(0)
        self.module = _Net().eval().requires_grad_(False)
        self.x = torch.randn(4, 6)
        self.loaded = _loaded(copy.deepcopy(self.module), self.x)
        self.plan = self.loaded.code.plan

    def tensors(self) -> list[Any]:
        """The planned tensors."""
        held = [one.val for one in self.plan.values]
        return [one for one in held if isinstance(one, schema.Tensor) and one.allocation_info is not None]

    def check_runs(self, module: nn.Module) -> None:
        """Checks the plan and two runs. A program without a fault must have the results of the module."""
        self.loaded.check_plan()
        machine = self.loaded.machine()
        for x in (self.x, -self.x):
            outputs = machine.run([x])
            torch.testing.assert_close(outputs, list(module(x)))
        torch.testing.assert_close(machine.buffers(), dict(module.named_buffers()))

    def test_right_program(self) -> None:
        self.check_runs(self.module)

    def test_every_other_place(self) -> None:
        """Each tensor at the place of each other one is a fault, or harmless."""
        faults = 0
        for one, other in itertools.permutations(self.tensors(), 2):
            place, moved = one.allocation_info, other.allocation_info
            if place == moved:
                continue
            one.allocation_info = dataclasses.replace(moved)
            try:
                self.check_runs(copy.deepcopy(self.module))
            except Fault:
                faults += 1
            one.allocation_info = place
        self.assertGreater(faults, 20)

    def test_run_finds_what_the_plan_shows(self) -> None:
        """A run alone finds values that are overwritten before they are read."""
        found = 0
        for one, other in itertools.permutations(self.tensors(), 2):
            place = one.allocation_info
            if len(one.sizes) and math.prod(one.sizes) > math.prod(other.sizes):
                continue  # The tensor could end outside of the arena.
            one.allocation_info = dataclasses.replace(other.allocation_info)
            try:
                self.loaded.machine().run([self.x])
            except Fault as fault:
                self.assertRegex(fault.found, "was overwritten|is read")
                found += 1
            one.allocation_info = place
        self.assertGreater(found, 10)

    def test_result_over_argument(self) -> None:
        by_name = {step.operator.name: step for step in self.loaded.code.steps if isinstance(step, Kernel)}
        relu = by_name["aten::relu.out"]
        held = [self.plan.values[index].val for index in (relu.outs[0], relu.inputs[0])]
        held[0].allocation_info = dataclasses.replace(held[1].allocation_info)
        with self.assertRaisesRegex(Fault, "the result of aten::relu.out lies in the memory of an argument"):
            self.loaded.check_plan()

    def test_place_outside_of_the_arena(self) -> None:
        self.tensors()[-1].allocation_info.memory_offset_low = self.plan.non_const_buffer_sizes[1] - 16
        with self.assertRaisesRegex(Fault, r"ends at byte \d+ of the arena 1, which has \d+ bytes"):
            self.loaded.check_plan()

    def test_sizes(self) -> None:
        (first, *_) = [one for one in self.tensors() if list(one.sizes) == [4, 6]][1:]
        first.sizes = [4, 5]
        with self.assertRaisesRegex(Fault, "sizes"):
            self.loaded.machine().run([self.x])

    def test_ranks(self) -> None:
        (result,) = [one for one in self.tensors() if list(one.sizes) == [4, 6]][1:2]
        result.sizes, result.dim_order = [24], [0]
        with self.assertRaisesRegex(Fault, r"gives the sizes \(4, 6\), and the plan has 1 dimensions"):
            self.loaded.machine().run([self.x])

    def test_order_of_instructions(self) -> None:
        steps = list(self.loaded.code.steps)
        changed = dataclasses.replace(
            self.loaded, code=dataclasses.replace(self.loaded.code, steps=[steps[1], steps[0], *steps[2:]])
        )
        with self.assertRaisesRegex(Fault, "is read before anything was written to it"):
            changed.machine().run([self.x])
        with self.assertRaisesRegex(Fault, "not written before"):
            changed.check_plan()

    def test_view_of_channels_last_memory(self) -> None:
        x = torch.randn(2, 3, 2, 4)
        self.loaded = _loaded(_Image(), x)
        self.plan = self.loaded.code.plan
        torch.testing.assert_close(self.loaded.machine().run([x]), [_Image()(x)])
        images = [one for one in self.tensors() if list(one.sizes) == [2, 3, 2, 4]]
        for one in images:
            one.dim_order = [0, 2, 3, 1]
        with self.assertRaisesRegex(Fault, r"a view of memory with the sizes \(2, 3, 2, 4\) in the dim order"):
            self.loaded.machine().run([x])

    def test_one_channel(self) -> None:
        """A dim order in which a dimension of size 1 has another place is no other order."""
        x = torch.randn(2, 1, 2, 12)
        self.loaded = _loaded(_Image(), x)
        self.plan = self.loaded.code.plan
        for one in self.tensors():
            if list(one.sizes) == [2, 1, 2, 12]:
                one.dim_order = [0, 2, 3, 1]
        torch.testing.assert_close(self.loaded.machine().run([x]), [_Image()(x)])

    def test_branches(self) -> None:
        """Without the copies of export/memory, ExecuTorch lets the second cond overwrite the first one's result."""
        x = torch.ones(4, 6)
        self.loaded = _loaded(_Branches(), x)
        with self.assertRaisesRegex(Fault, "overwritten before the read"):
            self.loaded.check_plan()
        with self.assertRaisesRegex(Fault, "the argument other of aten::add.out was overwritten: element 0 is"):
            self.loaded.machine().run([x])


if __name__ == "__main__":
    absltest.main()
