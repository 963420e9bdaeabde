"""Checks one module: after each pass and after groups of passes, its program has the results of the eager module."""

from __future__ import annotations

import contextlib
import os
import re
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

from torch.export import ExportedProgram

from diagnostics.errors import InputError
from export.fuzz.draft import Draft
from export.fuzz.judge import Reference
from export.fuzz.kernels import Kernels, MissingOperatorsError
from export.fuzz.programs import SPREADS_NAN, Programs, has_call, unguarded
from export.graph_passes import passes
from export.graph_passes.graph_pass import GraphPass

# The folder of //export.
_OURS = Path(__file__).parents[1]
_GROUPS = ("default", "all")
# Samples of other sizes have the smallest value of each symbolic size plus these numbers.
_MORE = (1, 3)


class RefusedError(Exception):
    """PyTorch or ExecuTorch refuses the module, or has wrong results without any pass."""


@dataclass(frozen=True)
class Failure:
    """The failure of a program.

    Attributes:
        names: the selected passes.
        at: the pass after which the program is wrong, `emit` or `kernels`.
        kind: the kind of failure; for `kernels`, the instruction set.
        said: the message.
        source: the model file that shows the failure.
    """

    names: tuple[str, ...]
    at: str
    kind: str
    said: str
    source: str

    @property
    def of_class(self) -> str:
        """The class of the failure. Failures of one fault mostly have one class."""
        chosen = "" if self.names == (self.at,) else f" with {' '.join(self.names) or 'no passes'}"
        return f"{self.at}{chosen}: {self.kind}"


class FailedError(Exception):
    """Carries a failure."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.said)
        self.failure = failure


@dataclass
class Counts:
    """Counts of checked modules.

    Attributes:
        modules: the number of modules.
        refused: the number of refused modules, by the message of the refusal.
        without_kernels: the number of modules that do not run, since an operator has no kernel, by message.
        acted: the number of modules that a pass changed, by the name of the pass.
        failed: the number of failures, by class.
        seconds: the seconds of each part of the work.
    """

    modules: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    without_kernels: Counter[str] = field(default_factory=Counter)
    acted: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    seconds: Counter[str] = field(default_factory=Counter)

    @contextlib.contextmanager
    def timed(self, part: str) -> Iterator[None]:
        """Adds the time of the block to the seconds of a part."""
        start = perf_counter()
        try:
            yield
        finally:
            self.seconds[part] += perf_counter() - start  # type: ignore[assignment]  # A Counter takes floats.

    def __str__(self) -> str:
        parts = " ".join(f"{part} {seconds / max(self.modules, 1):.2f}" for part, seconds in self.seconds.items())
        refused, failed = sum(self.refused.values()), sum(self.failed.values())
        return f"{self.modules} modules, {refused} refused, {failed} failed; s each: {parts}"


class Check:
    """Checks modules.

    Args:
        folder: the folder for model files. The last model file stays there.
        counts: gets the counts of modules.
        kernels: runs programs with kernels; None for no such runs.
    """

    def __init__(self, folder: Path, counts: Counts, kernels: Kernels | None = None) -> None:
        self._path = folder / "model.py"
        self._kernels = kernels
        self._counts = counts

    def __call__(self, draft: Draft, only: Sequence[tuple[str, ...]] = ()) -> list[Failure]:
        """Checks a module. Returns the failures of its programs.

        Args:
            draft: the module.
            only: the selections of passes to check; empty for all.
        Raises:
            RefusedError: the module has no program, or no results to compare with.
        """
        failures = []
        with quiet():
            programs, reference = self._begin(draft)
            kernels = self._kernels
            for names in only or [(), *((one.name,) for one in passes.PASSES), *((one,) for one in _GROUPS)]:
                try:
                    if names:
                        self._check(programs, reference, names)
                    if kernels is not None and (not names or names[0] in _GROUPS):
                        self._run(kernels, programs, reference, names)
                except MissingOperatorsError as error:
                    # ExecuTorch has no kernels of some operators. No program of the module runs.
                    self._counts.without_kernels[str(error)] += 1
                    kernels = None
                except FailedError as error:
                    failures.append(error.failure)
        return failures

    def _begin(self, draft: Draft) -> tuple[Programs, Reference]:
        """Returns the programs of a module, and the results to compare with."""
        self._path.write_text(draft.source())
        with self._counts.timed("export"), _refusing("torch.export"):
            programs = Programs(self._path)
        if draft.wants_dynamic and (sizes := _other_sizes(programs)):
            self._path.write_text(draft.source(sizes))
            with _refusing("other sizes"):
                programs.read_samples(self._path)
        with self._counts.timed("eager"), _refusing("eager PyTorch"):
            reference = programs.reference(is_of_bytes=draft.quantization is not None)
        if reference.is_ill():
            raise RefusedError("ill-conditioned: roundings change its results very much")
        with self._counts.timed("to_edge"), _refusing("ExecuTorch"):
            plain = programs.lower([]).exported_program()
        with self._counts.timed("run"), _refusing("the program without passes"):
            results = programs.results(plain)
        if wrong := reference.difference(results):
            raise RefusedError(f"the program without passes: {wrong}")
        return programs, reference.with_other(results)

    def _check(self, programs: Programs, reference: Reference, names: tuple[str, ...]) -> None:
        """Runs the graph after each pass that changed it. After groups of passes, also writes the program.

        Raises:
            FailedError: a pass raised, or the graph after a pass has wrong results.
        """
        at = ""

        def fail(kind: str, said: str) -> FailedError:
            return FailedError(Failure(names, at or names[0], kind, said, self._path.read_text()))

        def observe(one: GraphPass, program: ExportedProgram) -> None:
            nonlocal at
            at = one.name
            if names == (at,):
                self._counts.acted[at] += 1
            with self._counts.timed("run"):
                try:
                    results = programs.results(program)
                except Exception as error:
                    raise fail(f"does not run: {_class_of(error)}", _said(error)) from error
            if wrong := reference.difference(results, spreads_nan=has_call(program, SPREADS_NAN)):
                raise fail("wrong", wrong)

        try:
            with self._counts.timed("passes"):
                edge = programs.lower(names, observe)
            if at and names[0] in _GROUPS:
                at = "emit"
                with self._counts.timed("emit"):
                    programs.emit(edge)
        except FailedError:
            raise
        except Exception as error:
            if at == "emit" and not programs.is_emitted:
                return
            if of_pass := re.match(r".*the graph pass (\w+) raised", str(error), re.S):
                at = of_pass[1]
            cause = error.__cause__ if isinstance(error, InputError) and error.__cause__ else error
            raise fail(f"raises {_class_of(cause)}", _said(cause)) from error

    def _run(self, kernels: Kernels, programs: Programs, reference: Reference, names: tuple[str, ...]) -> None:
        """Runs a program with the kernels.

        Raises:
            FailedError: the program cannot be made, or its results are wrong.
            MissingOperatorsError: the program without passes has operators without kernels.
        """
        try:
            with self._counts.timed("kernels"), unguarded():
                on, wrong = kernels.wrong(programs, reference, names)
        except MissingOperatorsError as error:
            if not names:
                raise
            on, wrong = _class_of(error), str(error)
        except Exception as error:
            on, wrong = (_class_of(error), _said(error)) if programs.is_emitted else ("", "")
        if wrong:
            raise FailedError(Failure(names, "kernels", on, wrong, self._path.read_text()))


def _other_sizes(programs: Programs) -> list[list[tuple[int, ...]]]:
    """Returns further sizes of all inputs that the module accepts, besides the sizes of the example."""
    shapes, limits = programs.sizes()
    found = []
    for more in _MORE if limits else ():
        values = {
            symbol: int(min(max(least, 2) + more + index, most))
            for index, (symbol, (least, most)) in enumerate(limits.items())
        }
        sizes = [
            tuple(int(one.subs(values)) if hasattr(one, "subs") else int(one) for one in shape) for shape in shapes
        ]
        if programs.takes(sizes):
            found.append(sizes)
    return found


@contextlib.contextmanager
def _refusing(who: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        while error.__cause__ is not None and isinstance(error.__cause__, Exception):
            error = error.__cause__
        raise RefusedError(f"{who}: {type(error).__name__}: {_said(error)}") from error


def _said(error: BaseException) -> str:
    """Returns the type and the first line of an exception, at most 300 characters."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join([type(error).__name__, *lines[:1]])[:300]


def _class_of(error: BaseException) -> str:
    """Returns the type of an exception and the innermost function of //export in its traceback."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if Path(frame.filename).is_relative_to(_OURS)]
    frame = (ours or frames)[-1]
    return f"{type(error).__name__} in {Path(frame.filename).name}:{frame.name}"


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Hides the output and the warnings of PyTorch and ExecuTorch."""
    with contextlib.ExitStack() as stack:
        null = stack.enter_context(open(os.devnull, "w"))
        stack.enter_context(contextlib.redirect_stderr(null))
        stack.enter_context(contextlib.redirect_stdout(null))
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        yield
