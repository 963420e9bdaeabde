"""Runs the methods of an emitted program on their samples, before the program is written.

Two comparisons decide whether the program is right. The machine compares all that an operator reads with the elements
that it must have, bit by bit. The outputs and the state are compared with those of the eager module, within the
tolerance of the dtype.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from executorch.exir import ExecutorchProgramManager
from torch.export import ExportedProgram
from torch.fx import Node

from diagnostics.errors import Finding, InputError
from export.emulator import code, inputs, locate, tolerance
from export.emulator.code import Code
from export.emulator.loaded import Loaded
from export.emulator.locate import Located, Original
from export.emulator.machine import Fault, Machine
from export.emulator.operators import UnknownOperatorError
from export.graph_passes import graphs
from export.graph_passes.graph_pass import TOUCHED
from export.graph_passes.wrong_program import WrongProgramError
from export.patches.condition_places import Condition
from export.patches.recorded_emission import Emission
from export.user import attributes, plain_state, samples
from export.user.inputs import Inputs
from export.user.messages import first_lines, text_of
from export.user.model_file import Method
from export.user.samples import Recorded, Sample

# The work of further runs, in multiplications for each step of a method. An export needs 25 ms for each step, so that
# further runs cost a tenth of the export at most. The first run is never left out.
_WORK_OF_STEP = 30_000_000
_MOST_DRAWN = 2
# Operators of quantized programs. Their results differ by a step of the quantization.
_QUANTIZED = (
    "quantized_decomposed::",
    "torchao::",
    "rules_executorch::dynamic_linear",
    "rules_executorch::quantized_",
    "rules_executorch::weight_only_linear",
)
_LEAST_SNR_OF_QUANTIZED = 20.0
# A program whose error is at most so many times the error of the module has the module's precision.
_TIMES_OF_NOISE = 4.0


@dataclass(frozen=True)
class Checked:
    """The check of a method.

    Attributes:
        samples: how many samples ran.
        all_samples: how many samples the method has.
        drawn: how many further inputs ran.
        left_out: the reason why nothing ran; empty if samples ran.
        warnings: differences that are no fault of the program.
    """

    samples: int = 0
    all_samples: int = 0
    drawn: int = 0
    left_out: str = ""
    warnings: tuple[Finding, ...] = ()

    def __str__(self) -> str:
        if self.left_out:
            return f"not run: {self.left_out}"
        more = f" and {self.drawn} drawn inputs" if self.drawn else ""
        return f"{self.samples} of {self.all_samples} samples{more} have the results of the module"


@dataclass(frozen=True)
class Subject:
    """What a program is compared with, for one method.

    Attributes:
        method: the method.
        recorded: the runs of the eager module.
        quantized: the quantized module, before its first run; None for a method that is not quantized.
        original: the graph of the method before the graph passes of the edge dialect; None if unknown.
        has_own_passes: whether functions of the model file change the graph. The results may then differ.
    """

    method: Method
    recorded: Recorded
    quantized: torch.nn.Module | None = None
    original: Original | None = None
    has_own_passes: bool = False


def check(
    executorch: ExecutorchProgramManager,
    emissions: Mapping[str, Emission],
    subjects: Sequence[Subject],
    *,
    strict: bool = False,
) -> Mapping[str, Checked]:
    """Checks the methods of an emitted program.

    Args:
        executorch: the program.
        emissions: the record of the emission of each method.
        subjects: the methods.
        strict: whether to raise exceptions of the emulator itself. If not, the method counts as not run, with a
            warning.
    Raises:
        WrongProgramError: a method has a fault in its memory plan, its layouts or the order of its instructions, or has
            other results than the module.
        InputError: a module gives other results each time.
    """
    checked = {}
    for one in subjects:
        of_method = _Check(executorch, emissions[one.method.name], one)
        try:
            checked[one.method.name] = of_method.run()
        except (InputError, WrongProgramError):
            raise
        except Exception as error:
            if leak := plain_state.leak(one.method):
                raise InputError(leak) from error
            if strict:
                raise
            checked[one.method.name] = of_method.failed(error)
    return checked


_SAMPLE = "a sample"
# The number of an output, or the name of a buffer.
_Place = int | str


@dataclass(frozen=True)
class _Run:
    """A run of the module.

    Attributes:
        given: the arguments of the call.
        inputs: the inputs of the program.
        outputs: the outputs of the program: first the new values of written inputs.
        state: the buffers after the run, by name.
        kind: `a sample`, or how the inputs are drawn.
        is_resized: whether the inputs have other sizes than the example inputs of the export.
        least: the smallest possible size of a dimension of which the inputs have a smaller one; None if there is none.
        excluded_by: a condition of the trace that does not hold for the inputs; None if there is none.
    """

    given: Inputs
    inputs: Sequence[Any]
    outputs: Sequence[Any]
    state: Mapping[str, torch.Tensor]
    kind: str = _SAMPLE
    is_resized: bool = False
    least: int | None = None
    excluded_by: Condition | None = None

    @classmethod
    def of_sample(cls, given: Inputs, sample: Sample) -> _Run:
        taken, outputs = (
            [None if one is None else samples.tensor(one) for one in of] for of in (sample.inputs, sample.outputs)
        )
        return cls(given, taken, outputs, {name: samples.tensor(one) for name, one in sample.state.items()})

    @classmethod
    def of(cls, module: torch.nn.Module, given: Inputs, written: Sequence[int], kind: str = _SAMPLE) -> _Run:
        with torch.no_grad():
            ran = plain_state.run(module, given)
        after = ran.inputs.flatten()[0]
        outputs = [after[position] for position in written] + list(ran.outputs)
        # The next run writes to the buffers.
        state = {name: buffer.detach().clone() for name, buffer in module.named_buffers(remove_duplicate=False)}
        return cls(given, given.separate().flatten()[0], outputs, state, kind)

    @property
    def is_drawn(self) -> bool:
        return self.kind != _SAMPLE

    def shapes(self) -> list[torch.Size | None]:
        """Returns the shapes of the outputs that are tensors."""
        return [one.shape if isinstance(one, torch.Tensor) else None for one in self.outputs]

    def value(self, place: _Place) -> Any:
        """Returns an output by its number, or a buffer by its name."""
        return self.outputs[place] if isinstance(place, int) else self.state[place]

    def name(self, place: _Place) -> str:
        """Returns the name of a place for messages."""
        return f"output {place} for {self.kind}" if isinstance(place, int) else f"the buffer {place} after {self.kind}"


def _shapes(given: Inputs) -> list[torch.Size | None]:
    return [one.shape if isinstance(one, torch.Tensor) else None for one in given.flatten()[0]]


@dataclass
class _Check:
    """The check of one method."""

    executorch: ExecutorchProgramManager
    emission: Emission
    subject: Subject
    warnings: list[Finding] = field(default_factory=list)

    def run(self) -> Checked:
        method = self.subject.method
        try:
            loaded = Loaded.of(self.executorch, self.emission, method.name)
        except UnknownOperatorError as error:
            return Checked(left_out=str(error))
        try:
            loaded.check_plan()
            return self._run(loaded)
        except Fault as fault:
            raise self._wrong(fault.found, fault.step.nodes if fault.step else ()) from fault

    def failed(self, error: Exception) -> Checked:
        """Returns the result for an exception of the emulator."""
        name, said = self.subject.method.name, f"{type(error).__name__}: {first_lines(text_of(error))}"
        warning = Finding(
            self.subject.method.at,
            f"the check of {name}() raised {said}",
            "a fault of rules_executorch, in the emulator. The model has no fault, and the program was not checked.",
            "please report this with the output of --traceback.",
            id="wrong-program",
            severity="warning",
        )
        return Checked(left_out=f"the check raised {said}", warnings=(warning,))

    def _run(self, loaded: Loaded) -> Checked:
        machine = loaded.machine()
        budget = _WORK_OF_STEP * len(loaded.code.steps)
        runs: list[_Run] = []
        for run in self._runs():
            done = len(runs)
            if done and machine.work + machine.work // done * (2 if run.is_drawn else 1) > budget:
                break
            runs.append(run)
            try:
                outputs: dict[_Place, Any] = dict(enumerate(machine.run(run.inputs)))
            except Exception as error:
                if run.least is not None and run.is_drawn:
                    break  # An error in place of a wrong result. The samples must run.
                if not run.is_resized:
                    raise
                found = f"the program fails: {first_lines(text_of(error))}"
                if run.excluded_by is not None:
                    raise InputError(self._other_behavior(f"{found}, for {run.kind}", run)) from error
                nodes: Sequence[Node] = ()
                if isinstance(error, Fault):
                    found, nodes = error.found, error.step.nodes if error.step else ()
                raise self._wrong(f"{found}, for {run.kind}", nodes, is_resized=True) from error
            outputs |= {name: buffer for name, buffer in machine.buffers().items() if name in run.state}
            for place, actual in outputs.items():
                self._compare(machine, loaded, runs, place, actual)
        drawn = sum(run.is_drawn for run in runs)
        return Checked(len(runs) - drawn, len(self.subject.method.samples), drawn, "", tuple(self.warnings))

    def _runs(self) -> Iterator[_Run]:
        """Yields the samples, then drawn inputs until the module refuses some."""
        method, recorded, written = self.subject.method, self.subject.recorded, self._written()
        if self.subject.quantized is None:
            module = attributes.copied(recorded.module)
            for given, sample in zip(method.samples, recorded.samples, strict=True):
                yield self._with_sizes(_Run.of_sample(given, sample.with_written(written)))
        else:
            # The bisection of the graph passes checks a method several times.
            module = copy.deepcopy(self.subject.quantized)
            for given in method.samples:
                yield self._with_sizes(_Run.of(module, given, written))
        for given in inputs.drawn(method, len(method.samples), _MOST_DRAWN):
            try:
                run = _Run.of(module, given, written, "drawn inputs")
            except Exception:  # A module may raise any exception for inputs that are not the user's.
                return
            yield self._with_sizes(run)
        for resized in inputs.of_other_sizes(method, self._program(), len(method.samples)):
            # The state stays as it is if the module refuses the sizes.
            copied, given = attributes.copied(module), resized.inputs
            try:
                run = _Run.of(copied, given, written, f"drawn inputs {given.shown()}")
                if self.subject.quantized is not None:
                    # torch.export may have compiled sizes into the quantized module, too.
                    original = _Run.of(attributes.copied(recorded.module), given, written)
                    if original.shapes() != run.shapes():
                        run = replace(run, outputs=original.outputs)
            except Exception:
                continue
            module = copied
            yield replace(run, is_resized=True, least=resized.least, excluded_by=resized.excluded_by)

    def _with_sizes(self, run: _Run) -> _Run:
        """Returns the run of inputs of the user, with what their sizes say."""
        method = self.subject.method
        if _shapes(run.given) == _shapes(method.example):
            return run
        resized = inputs.resized(method, self._program(), run.given)
        return replace(run, is_resized=True, least=resized.least, excluded_by=resized.excluded_by)

    def _program(self) -> ExportedProgram:
        program: ExportedProgram = self.executorch.exported_program(self.subject.method.name)
        return program

    def _written(self) -> Sequence[int]:
        return graphs.written_inputs(self._program())

    def _compare(self, machine: Machine, loaded: Loaded, runs: Sequence[_Run], place: _Place, actual: Any) -> None:
        """Compares an output of the program, or a buffer, after the last of the runs."""
        expected = runs[-1].value(place)
        if not isinstance(expected, torch.Tensor):
            return
        if not isinstance(actual, torch.Tensor):
            actual = torch.tensor(actual, dtype=expected.dtype)
        if self.subject.quantized is None and not _is_quantized(loaded.code):
            difference = tolerance.difference(expected, actual)
        elif runs[-1].is_drawn and actual.shape == expected.shape:
            return  # The ranges of the quantization are those of the samples.
        else:
            difference = tolerance.noise(expected, actual, _LEAST_SNR_OF_QUANTIZED)
        if not difference:
            return
        found = f"{runs[-1].name(place)} differs from the module's: {difference}"
        if machine.drawn:
            cause = f"the model draws random numbers: {', '.join(sorted(machine.drawn))}."
            self._warn(found, cause, "nothing is wrong. A test of the outputs needs a model without random numbers.")
            return
        if self.subject.has_own_passes:
            cause = "a pass of get_aten_passes() or get_edge_passes() changes the results."
            self._warn(found, cause, "correct the pass, unless the difference is intended.")
            return
        self._check_repeats(runs, place)
        if runs[-1].least is not None or runs[-1].excluded_by is not None:
            raise InputError(self._other_behavior(found, runs[-1]))
        if self._is_as_exact(runs, place, expected, actual):
            return
        located = self._locate(loaded, [run.inputs for run in runs])
        if located is not None and located.is_discontinuous:
            cause = (
                f"{located}, which is not continuous, and whose arguments are within the tolerance: a rounding error"
                " becomes a difference."
            )
            self._warn(found, cause, "nothing is wrong if the results are equally good.", located.nodes)
            return
        more = f"; {located}" if located is not None else ""
        nodes = located.nodes if located is not None else ()
        raise self._wrong(found + more, nodes, is_rounding=True, is_resized=runs[-1].is_resized)

    def _other_behavior(self, found: str, run: _Run) -> Finding:
        """Returns the finding for sizes that torch.export excludes."""
        method, condition = self.subject.method, run.excluded_by
        at, details = method.source.frames_of_text(condition.stack_trace if condition else "")
        where = f"where `{condition}` does not hold" if condition else f"for sizes below {run.least}"
        fix = (
            "ask for sizes for which this holds, such as by one torch.export.Dim for equal sizes, or"
            ' 2 * torch.export.Dim("half", max=...) for even ones; or have the line do the same for all sizes.'
        )
        if run.least is not None and (condition is None or len(condition.names) == 1):
            fix = f'ask for the sizes that are possible, such as torch.export.Dim("n", min={run.least}, max=...).'
        return Finding(
            at or method.at,
            f"{method.name}() does something else {where}, and get_dynamic_shapes() asks for such sizes, too: {found}",
            f"{'this line' if at else 'a line of the model'} depends on the size, as `if x.shape[1] > 4:` does. The"
            " program has what the model does for the example inputs, and ExecuTorch does not check sizes when it"
            " runs.",
            fix,
            details,
            id="narrowed-size",
        )

    def _check_repeats(self, runs: Sequence[_Run], place: _Place) -> None:
        """Checks that the module gives the same in another run with the same inputs and buffers.

        Raises:
            InputError: the module keeps state that no copy of the module has, or draws numbers without PyTorch.
        """
        method = self.subject.method
        if leak := plain_state.leak(method):
            raise InputError(leak)
        if self.subject.quantized is not None:
            return
        try:
            module, written = attributes.copied(method.module), self._written()
            for run in runs:
                again = _Run.of(module, run.given, written)
            difference = tolerance.difference(runs[-1].value(place), again.value(place))
        except Exception:  # Some modules run once only. Errors of many types say so.
            return
        if difference:
            raise InputError.of(
                method.at,
                f"{method.name}() gives other results in another run with the same inputs and buffers:"
                f" {runs[-1].name(place)} differs: {difference}",
                f"{method.name}() keeps state in a global, a class or a closure, or draws random numbers"
                " without PyTorch. torch.export compiles in what these are at the export.",
                "keep state in buffers of the module (register_buffer), and draw random numbers with PyTorch.",
                id="state-outside-buffers",
            )

    def _is_as_exact(self, runs: Sequence[_Run], place: _Place, expected: torch.Tensor, actual: torch.Tensor) -> bool:
        """Returns whether the program is about as far from the exact results as the module is.

        The exact results are those of the module in float64. Half precision, deep models and long sums have rounding
        errors beyond any tolerance.
        """
        has_kind = (actual.dtype, actual.shape) == (expected.dtype, expected.shape)
        if self.subject.quantized is not None or not expected.is_floating_point() or not has_kind:
            return False
        try:
            module = attributes.copied(self.subject.method.module).double()
            written = self._written()
            for run in runs:
                given = run.given.with_tensors(lambda one: one.double() if one.is_floating_point() else one)
                exact_run = _Run.of(module, given, written)
            exact = exact_run.value(place).double()
        except Exception:  # A layer may not run in float64. Errors of many types say so.
            return False
        if exact.shape != expected.shape or not (exact.isfinite().all() and actual.isfinite().all()):
            return False
        own, programs = ((one.double() - exact).abs() for one in (expected, actual))
        return bool(programs.square().mean() <= (_TIMES_OF_NOISE * own).square().mean()) and bool(
            programs.max() <= _TIMES_OF_NOISE * own.max()
        )

    def _locate(self, loaded: Loaded, given: Sequence[Sequence[Any]]) -> Located | None:
        if self.subject.original is None:
            return None
        return locate.first_difference(loaded.machine(), self.subject.original, given)

    def _warn(self, found: str, cause: str, fix: str, nodes: Sequence[Node] = ()) -> None:
        """Adds a warning, unless there is one."""
        if not self.warnings:
            finding = self._finding(found, nodes, f"the results of {self.subject.method.name}() differ")
            self.warnings.append(replace(finding, cause=cause, fix=fix, severity="warning"))

    def _wrong(
        self, found: str, nodes: Sequence[Node], *, is_rounding: bool = False, is_resized: bool = False
    ) -> WrongProgramError:
        name = self.subject.method.name
        finding = self._finding(found, nodes, f"the program of {name}() is wrong", is_rounding=is_rounding)
        if is_resized:
            cause = (
                "a line of the model depends on the size, as `if x.shape[1] % 2 == 0:` does, and the program has what"
                " the model does for the example inputs; or ExecuTorch or rules_executorch have a fault."
            )
            fix = (
                "ask in get_dynamic_shapes() for sizes for which the line does the same, such as"
                ' 2 * torch.export.Dim("half", max=...). Without such a line, please report this with the model.'
            )
            finding = replace(finding, cause=cause, fix=fix)
        return WrongProgramError(name, finding)

    def _finding(self, found: str, nodes: Sequence[Node], what: str, *, is_rounding: bool = False) -> Finding:
        method = self.subject.method
        places = [method.source.frames_of_text(node.meta.get("stack_trace") or "") for node in reversed(nodes)]
        at, details = next(((at, details) for at, details in places if at), (method.at, ()))
        node = nodes[-1] if nodes else None
        where = f", at the node {node.name}" if node is not None else ""
        touched = node.meta.get(TOUCHED) if node is not None else None
        by = f", which the graph pass {touched} made" if touched else ""
        condition = " If the difference is no more than rounding," if is_rounding else ""
        return Finding(
            at,
            f"{what}{where}{by}: {found}",
            "a fault of ExecuTorch or of rules_executorch. The model has no fault.",
            f"please report this with the model.{condition} --@rules_executorch//rules:check_programs=false (by hand:"
            " --nocheck_program) writes the program without this check.",
            details,
            id="wrong-program",
        )


def _is_quantized(decoded: Code) -> bool:
    """Returns whether kernels or backends of a method compute with quantized numbers."""
    for step in decoded.steps:
        if isinstance(step, code.Kernel) and step.operator.name.startswith(_QUANTIZED):
            return True
        if isinstance(step, code.Delegate):
            nodes = step.module.original_module.graph.nodes
            if any(graphs.name_of(node).startswith(_QUANTIZED) for node in nodes):
                return True
    return False
