"""The programs of a model file's method: one export, and one lowering for each set of preserved operators."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from executorch.exir import EdgeCompileConfig, EdgeProgramManager, ExecutorchProgramManager
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind
from torch.fx.experimental.symbolic_shapes import ShapeEnv

from export import dense_tensors, lowering, model_file, mutable_operators, repeated_work, tracing
from export.fuzz import judge
from export.fuzz.judge import Result
from export.graph_passes import graphs, passes
from export.graph_passes.graph_pass import GraphPass, Stage
from export.graph_passes.snapshot import forget_pending_symbols
from export.graph_passes.tests import rewriting
from export.model_file import Method

# Near infinities and NaN, this operator gives NaN in place of numbers (docs/optimized_kernels.md).
SPREADS_NAN = "rules_executorch::winograd_convolution"
# A callback, called after a pass that changed a program.
Observer = Callable[[GraphPass, ExportedProgram], None]

# The code of the graph before the lowering, and the operators that the lowering preserves.
_Key = tuple[str, frozenset[torch._ops.OpOverload]]


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
        quantization = lowering.read(model)["forward"].quantization
        self.exported = tracing.trace(self.method, ())
        mutable_operators.check(self.method, self.exported)
        module = copy.deepcopy(self.method.module)
        if quantization is not None:
            from export.quantization import quantize  # The import registers operators for quantized programs only.

            self.exported = quantize(self.method, self.exported, (), quantization)
            module = self.exported.module()
        self._module: torch.nn.Module = module
        dense_tensors.lay_out(self.exported)
        self._edges: dict[_Key, EdgeProgramManager] = {}
        self._copies: dict[_Key, EdgeProgramManager] = {}

    def read_samples(self, path: Path) -> None:
        """Reads the samples of another model file with the same module."""
        (method,) = _load(path).methods
        self.method = replace(self.method, samples=method.samples)

    def as_exported(self) -> Method:
        """Returns the method with a copy of the exported and quantized program."""
        return replace(self.method, exported=copy.deepcopy(self.exported), module=self._module)

    def takes(self, sizes: Sequence[Sequence[int]]) -> bool:
        """Returns whether the module and the exported program accept inputs of other sizes."""
        inputs = [
            torch.zeros(one, dtype=given.dtype) for one, given in zip(sizes, self.method.example.args, strict=True)
        ]
        try:
            with torch.no_grad():
                copy.deepcopy(self._module)(*(one.clone() for one in inputs))
                self.exported.module()(*inputs)
        except Exception:  # Errors about sizes have many types.
            return False
        return True

    def reference(self, *, is_of_bytes: bool) -> judge.Reference:
        """Returns the module's results for the samples."""
        values = [node.meta.get("val") for node in self.exported.graph.nodes]
        dtypes = {one.dtype for one in values if isinstance(one, torch.Tensor) and one.is_floating_point()}
        return judge.judge(
            self._module, self._samples(), self._written(), is_of_bytes=is_of_bytes, dtypes=frozenset(dtypes)
        )

    def results(self, program: ExportedProgram) -> list[Result]:
        """Returns a program's results for the samples."""
        state = rewriting.initial_state(program)
        written = self._written()

        def call(*inputs: Any) -> list[Any]:
            return rewriting.run_program(program, inputs, state)

        return judge.run(call, self._samples(), lambda: {name: state[name] for name in written})

    def _samples(self) -> list[list[Any]]:
        """Returns the flattened inputs of each sample."""
        return [sample.flatten()[0] for sample in self.method.samples]

    def _written(self) -> list[str]:
        """The buffers that the method writes to."""
        return sorted(set(self.exported.graph_signature.buffers_to_mutate.values()))

    def lower(self, names: Sequence[str], observer: Observer | None = None) -> EdgeProgramManager:
        """Returns the lowered program after some passes.

        Args:
            names: the passes.
            observer: called after each pass that changed the program.
        Raises:
            InputError: a pass raised.
        """
        selected = passes.select(names)
        exported = self.exported
        if any(one.stage is Stage.EXPORTED for one in selected):
            exported = copy.deepcopy(self.exported)
            self._run(selected, Stage.EXPORTED, exported, observer)
        called = {graphs.operator_of(node) for node in exported.graph.nodes}
        preserved = {one for of_pass in selected for one in of_pass.preserved} & called
        key = (str(exported.graph), frozenset(preserved))
        if key not in self._edges:
            config = EdgeCompileConfig(_check_ir_validity=False, preserve_ops=sorted(preserved, key=str))
            forget_pending_symbols(exported)
            self._edges[key] = repeated_work.to_edge({"forward": copy.deepcopy(exported)}, config)
        # If no pass changed the copy, the next call uses the copy.
        edge = self._copies.pop(key, None) or copy.deepcopy(self._edges[key])
        if not self._run(selected, Stage.LOWERED, edge.exported_program(), observer):
            self._copies[key] = edge
        return edge

    def emit(self, edge: EdgeProgramManager) -> ExecutorchProgramManager:
        """Writes a lowered program. This changes the graph of `edge`, which `lower` does not return again."""
        self._copies = {key: one for key, one in self._copies.items() if one is not edge}
        with unguarded():
            return edge.to_executorch()

    @functools.cached_property
    def is_emitted(self) -> bool:
        """Whether ExecuTorch can write the program without passes. ExecuTorch may lack some of the operators."""
        try:
            self.emit(self.lower([]))
        except Exception:  # ExecuTorch raises many types of exceptions.
            return False
        return True

    def _run(
        self, selected: Sequence[GraphPass], stage: Stage, program: ExportedProgram, observer: Observer | None
    ) -> bool:
        """Runs the passes of a stage. Returns whether a pass changed the program."""
        is_changed = False
        known = rewriting.known_of_sizes(program)

        def after_each(one: GraphPass) -> None:
            nonlocal is_changed, known
            is_changed = True
            before, known = known, rewriting.known_of_sizes(program)
            if observer is not None:
                observer(one, program)
                assert before == known, f"it assumes something of sizes: {before} became {known}"

        passes.run(selected, stage, self.method, program, is_partitioned=False, strict=True, after_each=after_each)
        return is_changed

    def sizes(self) -> tuple[list[tuple[Any, ...]], dict[Any, tuple[int, Any]]]:
        """Returns the sizes of each input, as numbers or expressions, and the value range of each symbol."""
        specs, nodes = self.exported.graph_signature.input_specs, self.exported.graph.find_nodes(op="placeholder")
        shapes = [
            tuple(getattr(getattr(size, "node", None), "expr", size) for size in node.meta["val"].shape)
            for spec, node in zip(specs, nodes, strict=True)
            if spec.kind is InputKind.USER_INPUT
        ]
        symbols = {symbol for shape in shapes for size in shape for symbol in getattr(size, "free_symbols", ())}
        limits = self.exported.range_constraints
        return shapes, {symbol: (int(limits[symbol].lower), limits[symbol].upper) for symbol in symbols & limits.keys()}


def _load(path: Path) -> model_file.ModelFile:
    return model_file.load(path, "get_model", (), rule="executorch_program")


def unguarded() -> AbstractContextManager[None]:
    """In the block, PyTorch adds no guards to the sizes of exported programs.

    ExecuTorch's to_executorch() compares strides. If a size of the example is 1, the comparison would make the size
    constant in all copies of the exported program.
    """
    return ShapeEnv().suppress_guards()


def has_call(program: ExportedProgram, name: str) -> bool:
    """Returns whether a program calls an operator."""
    return any(graphs.name_of(node) == name for node in program.graph.nodes)
