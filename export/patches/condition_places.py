"""Patch: a trace knows the lines behind the conditions on sizes that it assumes.

**What**: wraps `_get_stack_summary` of `torch.fx.experimental.symbolic_shapes.ShapeEnv`, which says where a condition
comes from.

**Why**: `if x.shape[0] % 2 == 0:`, or a function that takes numbers only, makes a trace assume a condition. PyTorch
keeps the innermost frame, which is one of its own for most functions, and not the line of the model.

**Effect**: without the patch, messages about sizes do not have the line that depends on them.

**Report**, to PyTorch: `ShapeEnv.guards` should have the stack of each guard.
"""

from __future__ import annotations

import contextlib
import re
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch._guards import SLoc
from torch._subclasses import FakeTensor
from torch.export import ExportedProgram
from torch.fx.experimental.symbolic_shapes import ShapeEnv, uninteresting_files

from export.patches import patch
from export.patches.patch import Patch

PATCH = Patch(
    "condition_places",
    known={
        "torch.fx.experimental.symbolic_shapes:ShapeEnv._get_stack_summary": {"2.13": "4d92265b3627"},
        "torch._guards:SLoc": {"2.13": "c3bba63d8d44"},
    },
    without="messages about sizes name no line of the model",
)
# The name of a size of an input.
_SIZE = re.compile(r"^L\['(\w+)'\](.*)\.size\(\)\[(\d+)\]$")


@dataclass(frozen=True)
class _Place(SLoc):
    """Where a condition comes from, with the stack."""

    stack_trace: str


@dataclass(frozen=True)
class Condition:
    """A condition on sizes that held for the example inputs, and on which a trace depends.

    Attributes:
        expression: the condition, of SymPy.
        names: the sizes of inputs in the condition by their symbols, as `x.shape[0]`.
        stack_trace: the stack of the line that needs the condition; empty if unknown.
    """

    expression: Any
    names: Mapping[Any, str]
    stack_trace: str

    def __str__(self) -> str:
        condition = self.expression.xreplace({symbol: symbol.func(name) for symbol, name in self.names.items()})
        operator = getattr(condition, "rel_op", None)
        return f"{condition.lhs} {operator} {condition.rhs}" if operator else str(condition)

    def excludes(self, sizes: Mapping[Any, int]) -> bool:
        """Returns whether the condition does not hold for the sizes of all its symbols."""
        if not self.expression.free_symbols <= sizes.keys():
            return False
        try:
            # SymPy's false is not Python's.
            return bool(self.expression.subs(sizes) == False)  # noqa: E712
        except ZeroDivisionError:  # A remainder by a size of 0 has no value.
            return False


def noted() -> contextlib.AbstractContextManager[None]:
    """Notes the stacks of conditions in traces of torch.export during the block."""
    return PATCH.wrapped(ShapeEnv, "_get_stack_summary", _with_stack)


def _with_stack(
    original: Callable[..., Any], environment: Any, is_debug: bool = False, framework_loc: Any = None
) -> tuple[SLoc, str]:
    stack = [
        traceback.FrameSummary(frame.f_code.co_filename, line, frame.f_code.co_name, lookup_line=False)
        for frame, line in traceback.walk_stack(None)
    ]
    # As PyTorch does, without the frames of this patch.
    of_pytorch = uninteresting_files() | {__file__, patch.__file__}
    innermost = next((frame for frame in stack if frame.filename not in of_pytorch), None)
    place, more = original(environment, is_debug, framework_loc or innermost)
    text = "".join(f'  File "{frame.filename}", line {frame.lineno}, in {frame.name}\n' for frame in reversed(stack))
    return _Place(place.framework_loc, place.maybe_user_loc, text), more


def conditions(program: ExportedProgram) -> Sequence[Condition]:
    """Returns the conditions of a program, in the order in which the trace met them."""
    values = (node.meta.get("val") for node in program.graph.find_nodes(op="placeholder"))
    mode = next((value.fake_mode for value in values if isinstance(value, FakeTensor)), None)
    if mode is None or mode.shape_env is None:
        return []
    names = {
        symbol: _SIZE.sub(r"\1\2.shape[\3]", sources[0].name)
        for symbol, sources in mode.shape_env.var_to_sources.items()
    }
    # Of the same conditions, the first one.
    places = {guard.expr: guard.sloc for guard in reversed(mode.shape_env.guards)}
    return [
        Condition(one, {symbol: names[symbol] for symbol in one.free_symbols & names.keys()}, _stack_trace(place))
        for one, place in reversed(places.items())
    ]


def _stack_trace(place: SLoc) -> str:
    return place.stack_trace if isinstance(place, _Place) else ""
