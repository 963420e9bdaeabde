"""The programs of a model file's method: one export, and one lowering for each set of preserved operators."""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from executorch.exir import EdgeCompileConfig, EdgeProgramManager, to_edge_transform_and_lower
from torch.export import ExportedProgram
from torch.fx.experimental.symbolic_shapes import ShapeEnv

from export.emulator.loaded import Loaded
from export.fuzz import judge
from export.fuzz.judge import Result
from export.graph_passes import graphs, passes
from export.graph_passes.graph_pass import GraphPass, Stage
from export.graph_passes.snapshot import forget_pending_symbols
from export.graph_passes.tests import rewriting
from export.lower import lowering, program, repeated_work, tracing
from export.lower.decompositions import DECOMPOSITIONS
from export.memory import dense_state
from export.patches import more_decompositions
from export.user import model_file
from export.user.model_file import Method

# Near infinities and NaN, this operator gives NaN in place of numbers (docs/optimized_kernels.md).
SPREADS_NAN = "rules_executorch::winograd_convolution"
# A callback, called after a pass that changed a program.
Observer = Callable[[GraphPass], None]

# The code of the graph before the lowering, and the operators that the lowering preserves.
_Key = tuple[str, frozenset[torch._ops.OpOverload]]


@dataclass(frozen=True)
class Lowered:
    """A lowered program after some passes.

    Attributes:
        edge: the program.
        code: equal for equal programs: the operators that the lowering preserved, the passes that changed the program,
            and the graph.
    """

    edge: EdgeProgramManager
    code: tuple[object, ...]

    def calls(self, name: str) -> bool:
        """Returns whether the program calls an operator."""
        return any(graphs.name_of(node) == name for node in self.edge.exported_program().graph.nodes)


class Programs:
    """The programs of a model file with one method.

    Args:
        path: the model file.
    Raises:
        InputError: PyTorch or a quantizer refuses the module.
    """

    def __init__(self, path: Path) -> None:
        model = _load(path)
        (self.method,) = model.methods
        how = lowering.read(model)["forward"]
        self._is_quantized = how.quantization is not None
        self.exported = program.export(self.method, (), how)
        module = self.exported.module() if self._is_quantized else self.method.module
        self._module: torch.nn.Module = copy.deepcopy(module)
        self._edges: dict[_Key, EdgeProgramManager] = {}
        self._copies: dict[_Key, EdgeProgramManager] = {}

    def read_samples(self, path: Path) -> None:
        """Reads the samples of another model file with the same module."""
        (method,) = _load(path).methods
        self.method = replace(self.method, samples=method.samples)

    def as_exported(self) -> Method:
        """Returns the method with a copy of the exported and quantized program."""
        forget_pending_symbols(self.exported)
        return replace(self.method, exported=copy.deepcopy(self.exported), module=self._module)

    def takes(self, sizes: Sequence[Sequence[int]]) -> bool:
        """Returns whether the module and the exported program accept inputs of other sizes."""
        inputs = [
            torch.zeros(one, dtype=given.dtype) for one, given in zip(sizes, self.method.example.args, strict=True)
        ]
        try:
            with torch.no_grad():
                copy.deepcopy(self._module)(*(one.clone() for one in inputs))
                copy.deepcopy(self.exported.module())(*inputs)
        except Exception:  # Errors about sizes have many types.
            return False
        return True

    def reference(self, *, is_of_bytes: bool) -> judge.Reference:
        """Returns the module's results for the samples."""
        values = [node.meta.get("val") for node in self.exported.graph.nodes]
        dtypes = {one.dtype for one in values if isinstance(one, torch.Tensor) and one.is_floating_point()}
        # PyTorch compiles each `cond` and each loop of each copy of the module, in some 0.1 s.
        with torch.compiler.set_stance("force_eager"):
            return judge.judge(
                self._module, self._samples(), self._buffers(), is_of_bytes=is_of_bytes, dtypes=frozenset(dtypes)
            )

    def results(self, loaded: Loaded) -> list[Result]:
        """Returns the results of an emitted program for the samples, from the emulator.

        Raises:
            Fault: the program has a fault in its memory plan, its layouts or the order of its instructions.
        """
        loaded.check_plan()
        machine = loaded.machine()
        written = graphs.written_inputs(loaded.executorch.exported_program(self.method.name))
        before = {**self.exported.constants, **self.exported.state_dict}

        def call(*inputs: Any) -> list[Any]:
            outputs = machine.run(inputs)
            for position, value in zip(written, outputs, strict=False):
                inputs[position].copy_(value)
            return outputs[len(written) :]

        def state() -> dict[str, torch.Tensor]:
            after = machine.buffers()
            return {name: after.get(name, before[name]) for name in self._buffers()}

        return judge.run(call, self._samples(), state)

    def _samples(self) -> list[list[Any]]:
        """Returns the flattened inputs of each sample, as a program has them."""
        return [sample.separate().flatten()[0] for sample in self.method.samples]

    def _buffers(self) -> list[str]:
        """Returns the names of the buffers. A parameter that the method writes to is a buffer of the program."""
        return sorted(set(self.exported.graph_signature.inputs_to_buffers.values()))

    def lower(self, names: Sequence[str], observer: Observer | None = None) -> Lowered:
        """Returns the lowered program after some passes. The observer gets each pass that changed the program.

        Raises:
            InputError: a pass raised.
        """
        selected = passes.select(names)
        exported = self.exported
        changing: list[str] = []
        if any(one.stage is Stage.EXPORTED for one in selected):
            exported = copy.deepcopy(self.exported)
            changing += self._run(selected, Stage.EXPORTED, exported, observer)
        called = {graphs.operator_of(node) for node in exported.graph.nodes}
        preserved = {one for of_pass in selected for one in of_pass.preserved} & called
        key = (str(exported.graph), frozenset(preserved))
        if key not in self._edges:
            forget_pending_symbols(exported)
            copied = {self.method.name: copy.deepcopy(exported)}
            with more_decompositions.added(DECOMPOSITIONS):
                self._edges[key] = repeated_work.to_edge(copied, _config(preserved))
        # If no pass changed the copy, the next call uses the copy.
        edge = self._copies.pop(key, None) or copy.deepcopy(self._edges[key])
        changing_edge = self._run(selected, Stage.LOWERED, edge.exported_program(), observer)
        if not changing_edge:
            self._copies[key] = edge
        code = (key, *changing, *changing_edge, str(edge.exported_program().graph))
        return Lowered(edge, code)

    def emit(self, lowered: Lowered) -> Loaded:
        """Emits a lowered program. This changes the graph of `lowered`, which `lower` does not return again."""
        edge = lowered.edge
        self._copies = {key: one for key, one in self._copies.items() if one is not edge}
        with unguarded():
            program.finish(edge.exported_program())
            executorch, emissions = program.emit(edge)
        name = self.method.name
        return Loaded.of(executorch, emissions[name], name)

    def is_taken_by_executorch(self) -> bool:
        """Returns whether ExecuTorch alone makes a program of the module."""
        try:
            exported = copy.deepcopy(self.exported)
            if not self._is_quantized:
                exported = tracing.trace(self.method, ())
                exported = dense_state.lay_out(exported)
            with unguarded():
                to_edge_transform_and_lower(exported, compile_config=_config(())).to_executorch()
        except Exception:  # ExecuTorch raises many types of exceptions.
            return False
        return True

    def _run(
        self, selected: Sequence[GraphPass], stage: Stage, exported: ExportedProgram, observer: Observer | None
    ) -> list[str]:
        """Runs the passes of a stage. Returns the names of the passes that changed the program.

        Raises:
            AssertionError: a pass assumes something of sizes that vary.
        """
        changing: list[str] = []
        known = rewriting.known_of_sizes(exported)

        def after_each(one: GraphPass) -> None:
            nonlocal known
            changing.append(one.name)
            before, known = known, rewriting.known_of_sizes(exported)
            assert before == known, f"{one.name} assumes something of sizes: {before} became {known}"
            if observer is not None:
                observer(one)

        passes.run(selected, stage, self.method, exported, is_partitioned=False, strict=True, after_each=after_each)
        return changing

    def sizes(self) -> tuple[list[tuple[Any, ...]], dict[Any, tuple[int, Any]]]:
        """Returns the sizes of each input, as numbers or expressions, and the value range of each symbol."""
        shapes = [tuple(map(graphs.expression, value.shape)) for _, value in graphs.user_inputs(self.exported)]
        symbols = {symbol for shape in shapes for size in shape for symbol in getattr(size, "free_symbols", ())}
        limits = self.exported.range_constraints
        return shapes, {symbol: (int(limits[symbol].lower), limits[symbol].upper) for symbol in symbols & limits.keys()}


def _config(preserved: Collection[torch._ops.OpOverload]) -> EdgeCompileConfig:
    return EdgeCompileConfig(_check_ir_validity=False, preserve_ops=sorted(preserved, key=str))


def _load(path: Path) -> model_file.ModelFile:
    return model_file.load(path, "get_model", (), rule="executorch_program")


def unguarded() -> AbstractContextManager[None]:
    """In the block, PyTorch adds no guards to the sizes of exported programs.

    ExecuTorch's to_executorch() compares strides. If a size of the example is 1, the comparison would make the size
    constant in all copies of the exported program.
    """
    return ShapeEnv().suppress_guards()
