"""What tests of rewritten graphs share: each node is run, and compared with what the graph says of it."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import torch
from executorch.exir import EdgeCompileConfig, EdgeProgramManager
from executorch.exir.dialects.edge._ops import EdgeOpOverload
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, OutputKind
from torch.fx import Node
from torch.utils import _pytree as pytree

from export.graph_passes import graphs, padding_operators, passes
from export.graph_passes.graph_pass import Change, GraphPass, Stage
from export.graph_passes.operators import registration
from export.graph_passes.tests import own_operators
from export.lower import repeated_work
from export.patches import dim_orders

Inputs = tuple[Any, ...]

_T = TypeVar("_T")
# Set by --test_env=GRAPH_PASS_CASES=all.
_WITH_ALL_CASES = os.environ.get("GRAPH_PASS_CASES") == "all"

# PyTorch's modules stay: the collector need not look at them behind every export.
gc.freeze()


def sampled(cases: Sequence[_T], one_in: int, number: int) -> Sequence[_T]:
    """A sample of the cases of a product; all of them with --test_env=GRAPH_PASS_CASES=all.

    Args:
        cases: the product.
        one_in: how many samples have all cases together.
        number: of the sample.
    """
    return cases if _WITH_ALL_CASES else cases[number % one_in :: one_in]


@dataclass
class Rewritten:
    """A method after some passes.

    Attributes:
        program: the graph.
        edge: what the graph belongs to, once it is lowered.
        changes: what each pass did, by its name.
    """

    program: ExportedProgram
    edge: EdgeProgramManager | None = None
    changes: dict[str, list[Change]] = field(default_factory=dict)

    @dim_orders.known()
    def run(self, inputs: Inputs) -> list[Any]:
        """What the graph gives.

        Raises:
            AssertionError: a node gives another dtype, other sizes or another order than the graph says.
        """
        return run_program(self.program, pytree.tree_leaves(inputs), initial_state(self.program))

    @dim_orders.known()
    def emit(self) -> bytes:
        """The program in a file."""
        assert self.edge is not None
        program: bytes = self.edge.to_executorch().buffer
        return program


@repeated_work.avoided()
def rewrite(
    module: torch.nn.Module,
    inputs: Inputs,
    names: Sequence[str] = ("all",),
    dynamic_shapes: Any = None,
    *,
    times: int = 1,
) -> Rewritten:
    """Exports and lowers a module, and runs passes at their stages; each one several times in a row, if asked for."""
    rewritten = Rewritten(torch.export.export(module, inputs, dynamic_shapes=dynamic_shapes))
    for one in steps(rewritten, names):
        for _ in range(times):
            run(rewritten, one)
    return rewritten


def steps(rewritten: Rewritten, names: Sequence[str]) -> Iterator[GraphPass]:
    """The passes to run on an exported program, which is lowered in between."""
    selected = passes.select(names)
    for stage in Stage:
        if stage is Stage.LOWERED:
            preserved = [operator for one in selected for operator in one.preserved]
            config = EdgeCompileConfig(_check_ir_validity=False, preserve_ops=preserved)
            rewritten.edge = repeated_work.to_edge({"forward": rewritten.program}, config)
            rewritten.program = rewritten.edge.exported_program()
        for one in selected:
            if one.stage is stage:
                yield one


def run(rewritten: Rewritten, one: GraphPass) -> None:
    """Runs a pass.

    Raises:
        AssertionError: it says more of sizes that vary than the graph did.
    """
    before = known_of_sizes(rewritten.program)
    rewritten.changes.setdefault(one.name, []).extend(passes.apply(one, rewritten.program))
    after = known_of_sizes(rewritten.program)
    assert before == after, f"{one.name} assumes something of sizes: {before} became {after}"


def known_of_sizes(program: ExportedProgram) -> tuple[list[str], dict[str, str]]:
    """What is assumed of sizes that vary."""
    for value in (node.meta.get("val") for node in program.graph.nodes):
        mode = getattr(value, "fake_mode", None)
        if mode is not None and mode.shape_env is not None:
            guards = [str(guard.expr) for guard in mode.shape_env.guards]
            return guards, {str(symbol): str(by) for symbol, by in mode.shape_env.replacements.items()}
    return [], {}


def initial_state(program: ExportedProgram) -> dict[str, torch.Tensor]:
    """The tensors that a program holds, as they are before the first run: copies, by their names."""
    return {name: tensor.clone() for name, tensor in {**program.state_dict, **program.constants}.items()}


def run_program(program: ExportedProgram, inputs: Sequence[Any], state: dict[str, torch.Tensor]) -> list[Any]:
    """What a graph gives. Writes to inputs and state what the graph writes, as the eager module does.

    Args:
        program: the graph.
        inputs: the method's inputs, flat.
        state: of `initial_state`, and of the runs before.
    Raises:
        AssertionError: a node gives another dtype, other sizes or another order than the graph says.
    """
    return _Described(program, inputs, state).outputs()


class _Described(torch.fx.Interpreter):
    """Runs a graph, and compares what each node gives with what the graph says of it.

    Views share memory, as they do in ExecuTorch's runtime.
    """

    def __init__(self, program: ExportedProgram, inputs: Sequence[Any], state: dict[str, torch.Tensor]) -> None:
        super().__init__(program.graph_module)
        self._program = program
        self._inputs = inputs
        self._state = state
        self._sizes: dict[Any, int] = {}
        given = iter(inputs)
        self._values = [
            next(given) if spec.kind is InputKind.USER_INPUT else state[str(spec.target)]
            for spec in program.graph_signature.input_specs
        ]
        for node, value in zip(program.graph.find_nodes(op="placeholder"), self._values, strict=True):
            if isinstance(value, torch.Tensor):
                for size, actual in zip(node.meta["val"].shape, value.shape, strict=True):
                    if isinstance(size, torch.SymInt) and size.node.expr.is_Symbol:
                        self._sizes[size.node.expr] = actual

    def outputs(self) -> list[Any]:
        with torch.no_grad():
            results = self.run(*self._values)
        signature = self._program.graph_signature
        names = [spec.arg.name for spec in signature.input_specs if spec.kind is InputKind.USER_INPUT]
        # What is given out stays as it is when the next run writes to the state.
        results = [one.clone() if isinstance(one, torch.Tensor) else one for one in results]
        outputs = []
        for spec, one in zip(signature.output_specs, results, strict=True):
            if spec.kind is OutputKind.BUFFER_MUTATION:
                self._state[str(spec.target)] = one
            elif spec.kind is OutputKind.USER_INPUT_MUTATION:
                self._inputs[names.index(str(spec.target))].copy_(one)
            else:
                outputs.append(one)
        return outputs

    def run_node(self, n: Node) -> Any:
        result = super().run_node(n)
        if graphs.name_of(n).startswith(f"{registration.NAMESPACE}::"):
            operator = n.target._op if isinstance(n.target, EdgeOpOverload) else n.target
            own_operators.check(operator, *self.fetch_args_kwargs_from_env(n))
        if graphs.name_of(n) == "aten::view_copy":
            # ExecuTorch has it share the memory of the source.
            source = n.all_input_nodes[0]
            assert graphs.is_contiguous(graphs.value(source)), f"{n.format_node()}: of {source.format_node()}"
            if isinstance(n.target, EdgeOpOverload):
                result = self.env[source].view(result.shape)
        if n.op != "call_function":
            return result
        given, nesting = pytree.tree_flatten(result)
        described = pytree.tree_leaves(n.meta["val"])
        return pytree.tree_unflatten([self._compared(n, *both) for both in zip(described, given, strict=True)], nesting)

    def _compared(self, node: Node, described: Any, given: Any) -> Any:
        """What a node gives, with the strides that the graph says, where sizes of 1 leave a choice."""
        if not isinstance(given, torch.Tensor):
            return given
        assert described.dtype == given.dtype, f"{node.format_node()}: {described.dtype}, not {given.dtype}"
        sizes = [self._size(size) for size in described.shape]
        assert None in sizes or sizes == list(given.shape), f"{node.format_node()}: {sizes}, not {list(given.shape)}"
        if not isinstance(node.target, EdgeOpOverload):
            return given  # Before the lowering, views share memory.
        order = graphs.dim_order(described)
        if graphs.name_of(node) in {"aten::permute_copy", *padding_operators.OF_IMAGES}:
            # The kernel writes in the order of its result, which `channels_last` may choose.
            given = torch.empty_permuted(given.shape, order, dtype=given.dtype).copy_(given)
        is_ordered = given.permute(order).is_contiguous()
        assert is_ordered, f"{node.format_node()}: in the order {order}, not with the strides {given.stride()}"
        usual = torch.empty_permuted(given.shape, order, dtype=given.dtype)
        return given if given.stride() == usual.stride() else usual.copy_(given)

    def _size(self, size: Any) -> int | None:
        """A size; None where nothing of the inputs tells it."""
        if isinstance(size, int):
            return size
        expression = size.node.expr.subs(self._sizes)
        return int(expression) if expression.is_number else None


def compare(
    module: Callable[..., Any],
    rewritten: Rewritten,
    *inputs: Inputs,
    tolerance: float = 1e-4,
) -> None:
    """Compares a rewritten method with the eager module."""
    for one in inputs:
        with torch.no_grad():
            expected = pytree.tree_leaves(module(*one))
        torch.testing.assert_close(rewritten.run(one), expected, rtol=tolerance, atol=tolerance)


def randomized(module: torch.nn.Module, seed: int = 0) -> torch.nn.Module:
    """A module for inference with random weights, statistics of norms included."""
    generator = torch.Generator().manual_seed(seed)
    for tensor in module.state_dict().values():
        if tensor.is_floating_point():
            tensor.copy_(torch.rand(tensor.shape, generator=generator) + 0.5)
    return module.eval()
