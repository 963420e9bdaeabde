"""Checks one module: its programs without passes and with groups of passes have the results of the eager module.

A program is judged as an export emits it: the emulator checks the memory plan, and runs the instructions on all samples
over memory laid out as planned.
"""

from __future__ import annotations

import bisect
import contextlib
import os
import re
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Protocol

from diagnostics.errors import InputError
from export.emulator.machine import Fault
from export.emulator.operators import UnknownOperatorError
from export.fuzz.compiled import Compiled
from export.fuzz.judge import Reference
from export.fuzz.kernels import Kernels, MissingOperatorsError
from export.fuzz.programs import SPREADS_NAN, Lowered, Programs, unguarded
from export.fuzz.quantization import Quantization
from export.graph_passes import passes
from export.graph_passes.graph_pass import GraphPass
from export.lower import patched
from export.user import equal_elements

# The folder of //export.
_OURS = Path(__file__).parents[1]
_GROUPS = ("default", "all")
# The messages for an operator without an out variant, for a recurrent layer that only a pass can keep, and for a view
# with fixed sizes of a tensor with open sizes.
_REFUSALS = ("Missing out variants", "has a varying number of time steps", "_ViewSpec is incompatible")
# Samples of other sizes have the smallest value of each symbolic size plus these numbers.
_MORE = (1, 3)


class Module(Protocol):
    """A module to check, as a `Draft`."""

    @property
    def wants_dynamic(self) -> bool:
        """Whether sizes may vary."""

    @property
    def quantization(self) -> Quantization | None:
        """The quantization; None for none."""

    def source(self, sizes: Sequence[Sequence[tuple[int, ...]]] = ()) -> str:
        """Returns the text of the model file, with a further sample for each element of `sizes`."""


class RefusedError(Exception):
    """PyTorch or ExecuTorch refuses the module, or its results cannot be compared."""


@dataclass(frozen=True)
class Failure:
    """The failure of a program.

    Attributes:
        names: the selected passes; empty for the program without passes.
        at: the pass with which the program becomes wrong, `program` or `kernels`.
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
        acted: the number of modules that a pass changed in the group `all`, by the name of the pass.
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
        with_each: whether to check each pass alone, too.
    """

    def __init__(
        self, folder: Path, counts: Counts, kernels: Kernels | Compiled | None = None, *, with_each: bool = False
    ) -> None:
        self._path = folder / "model.py"
        self._kernels = kernels
        self._counts = counts
        self._with_each = with_each

    def __call__(self, module: Module, only: Sequence[tuple[str, ...]] = ()) -> list[Failure]:
        """Checks a module. Returns the failures of its programs, one of each class.

        If the program without passes is wrong, the others are not checked.

        Args:
            module: the module.
            only: the selections of passes to check, besides no passes; empty for all.
        Raises:
            RefusedError: the module has no program, or no results to compare with.
        """
        each = [(one.name,) for one in passes.PASSES] if self._with_each else []
        failures: dict[str, Failure] = {}
        with quiet(), patched.lowering(), equal_elements.kept():
            try:
                checked = self._begin(module)
            except FailedError as error:
                return [error.failure]
            kernels = self._kernels
            for names in only or [(), *each, *((one,) for one in _GROUPS)]:
                try:
                    is_made = self._check(checked, names) if names else checked.refused is None
                    if is_made and kernels is not None and (not names or names[0] in _GROUPS):
                        self._run(kernels, checked.programs, checked.reference, names)
                except MissingOperatorsError as error:
                    # ExecuTorch has no kernels of some operators. No program of the module runs.
                    self._counts.without_kernels[str(error)] += 1
                    kernels = None
                except FailedError as error:
                    failures.setdefault(error.failure.of_class, error.failure)
        if checked.refused is not None and checked.refused.error is not None and not checked.has_results:
            raise _refusal("ExecuTorch", checked.refused.error)
        return [*failures.values()]

    def _begin(self, module: Module) -> _Checked:
        """Checks the program of a module without passes.

        Raises:
            RefusedError: the module has no program, or no results to compare with.
            FailedError: the program is wrong.
        """
        self._path.write_text(module.source())
        with self._counts.timed("export"), self._refusing("torch.export"):
            programs = Programs(self._path)
        if module.wants_dynamic and (sizes := _other_sizes(programs)):
            self._path.write_text(module.source(sizes))
            with self._refusing("other sizes"):
                programs.read_samples(self._path)
        with self._counts.timed("eager"), self._refusing("eager PyTorch"):
            reference = programs.reference(is_of_bytes=module.quantization is not None)
        if reference.is_ill():
            raise RefusedError("ill-conditioned: roundings change its results very much")
        checked = _Checked(programs, reference, self._counts)
        wrong = checked.wrong(())
        if wrong is None:
            return checked
        if wrong.error is None or not _is_refusal(wrong.error, programs):
            raise self._failure((), "program", wrong)
        # Passes may replace the operators that ExecuTorch refuses.
        checked.refused = wrong
        return checked

    def _check(self, checked: _Checked, names: tuple[str, ...]) -> bool:
        """Checks the program with some passes. Returns false if ExecuTorch refuses it as it refuses the one without.

        Raises:
            FailedError: the program is wrong, or cannot be made.
        """
        changing: list[str] = []
        wrong = checked.wrong(names, lambda one: changing.append(one.name))
        if names == ("all",):
            self._counts.acted.update(changing)
        if not checked.is_fault(wrong):
            return wrong is None
        selected = [one.name for one in passes.select(names)]
        # Bisection finds the first pass, in the order of the passes, with which the program becomes wrong.
        counts = range(1, len(selected))
        count = bisect.bisect_left(counts, True, key=lambda one: checked.is_fault(checked.wrong(selected[:one]))) + 1
        at = selected[count - 1]
        alone = checked.wrong((at,))
        if alone is not None and checked.is_fault(alone):
            raise self._failure((at,), at, alone)
        assert wrong is not None
        raise self._failure(names, at, wrong)

    def _failure(self, names: tuple[str, ...], at: str, wrong: _Wrong) -> FailedError:
        return FailedError(Failure(names, at, wrong.kind, wrong.said, self._path.read_text()))

    @contextlib.contextmanager
    def _refusing(self, who: str) -> Iterator[None]:
        """Turns an exception of PyTorch in the block into a refusal, and an exception of //export into a failure."""
        try:
            yield
        except Exception as error:
            if not isinstance(error, InputError) and _is_of_ours(error):
                raise self._failure((), "program", _Wrong.of(error)) from error
            raise _refusal(who, error) from error

    def _run(
        self, kernels: Kernels | Compiled, programs: Programs, reference: Reference, names: tuple[str, ...]
    ) -> None:
        """Runs a program with the kernels.

        Raises:
            FailedError: the program cannot be made, or its results are wrong.
            MissingOperatorsError: the program without passes has operators without kernels.
            RefusedError: the program without passes cannot be made, for a known reason.
        """
        try:
            with self._counts.timed("kernels"), unguarded():
                on, wrong = kernels.wrong(programs, reference, names)
        except MissingOperatorsError as error:
            if not names:
                raise
            on, wrong = _class_of(error), str(error)
        except Exception as error:
            if not names and any(text in str(error) for text in _REFUSALS):
                raise _refusal("ExecuTorch", error) from error
            on, wrong = _class_of(error), _said(error)
        if wrong:
            raise FailedError(Failure(names, "kernels", on, wrong, self._path.read_text()))


@dataclass(frozen=True)
class _Wrong:
    """What is wrong with a program.

    Attributes:
        kind: the kind of failure.
        said: the message.
        error: the exception; None for wrong results.
    """

    kind: str
    said: str
    error: Exception | None = None

    @classmethod
    def of(cls, error: Exception) -> _Wrong:
        """Describes an exception. The kind of a fault has no names and numbers."""
        if isinstance(error, Fault):
            kind = re.split("[:;]", re.sub(r"\b[a-z_]+::[\w.]+", "an operator", error.found))[0]
            kind = re.sub(r"the argument \w+ of", "an argument of", kind)
            return cls("fault, " + re.sub(r"[\[(][^])]*[])]|[a-z_]*\d+", "_", kind), error.found, error)
        cause = error.__cause__ if isinstance(error, InputError) and isinstance(error.__cause__, Exception) else error
        return cls(f"raises {_class_of(cause)}", _said(cause), error)


class _Checked:
    """A module whose programs are checked.

    Args:
        programs: the programs of the module.
        reference: the correct results.
        counts: gets the seconds.

    Attributes:
        refused: why ExecuTorch makes no program without passes; None if there is one.
        has_results: whether a program ran.
    """

    def __init__(self, programs: Programs, reference: Reference, counts: Counts) -> None:
        self.programs = programs
        self.reference = reference
        self.refused: _Wrong | None = None
        self.has_results = False
        self._counts = counts
        # What is wrong with the programs that were checked, by their code.
        self._known: dict[tuple[object, ...], _Wrong | None] = {}

    def wrong(self, names: Sequence[str], observer: Callable[[GraphPass], None] | None = None) -> _Wrong | None:
        """Makes the program with some passes. Returns what is wrong with the program; None if nothing is wrong.

        The observer gets each pass that changed the program.
        """
        try:
            with self._counts.timed("lower"):
                lowered = self.programs.lower(names, observer)
            if lowered.code not in self._known:
                self._known[lowered.code] = self._run(lowered, is_plain=not names)
            return self._known[lowered.code]
        except Exception as error:  # ExecuTorch and passes raise many types of exceptions.
            return _Wrong.of(error)

    def is_fault(self, wrong: _Wrong | None) -> bool:
        """Returns whether something is wrong that is not wrong without passes."""
        if wrong is None or self.refused is None:
            return wrong is not None
        return wrong.kind != self.refused.kind and not any(text in wrong.said for text in _REFUSALS)

    def _run(self, lowered: Lowered, *, is_plain: bool) -> _Wrong | None:
        spreads_nan = lowered.calls(SPREADS_NAN)
        with self._counts.timed("emit"):
            loaded = self.programs.emit(lowered)
        with self._counts.timed("run"):
            results = self.programs.results(loaded)
        self.has_results = True
        if said := self.reference.difference(results, spreads_nan=spreads_nan):
            return _Wrong("wrong", said)
        if is_plain:
            self.reference = self.reference.with_other(results)
        return None


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


def _refusal(who: str, error: Exception) -> RefusedError:
    while isinstance(error.__cause__, Exception):
        error = error.__cause__
    return RefusedError(f"{who}: {_said(error)}")


def _is_of_ours(error: Exception) -> bool:
    """Returns whether code of //export raised an exception."""
    frames = traceback.extract_tb(error.__traceback__)
    return bool(frames) and Path(frames[-1].filename).is_relative_to(_OURS)


def _is_refusal(error: Exception, programs: Programs) -> bool:
    """Returns whether ExecuTorch or the emulator refuses the program without passes."""
    if isinstance(error, UnknownOperatorError) or any(text in str(error) for text in _REFUSALS):
        return True
    return not _is_of_ours(error) and not programs.is_taken_by_executorch()


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
    with (
        open(os.devnull, "w") as null,
        contextlib.redirect_stderr(null),
        contextlib.redirect_stdout(null),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        yield
