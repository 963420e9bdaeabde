"""Finds, orders, selects and runs the graph passes."""

from __future__ import annotations

import bisect
import dataclasses
import importlib
import json
import pkgutil
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, TypeVar

import torch
from torch.export import ExportedProgram

from diagnostics.errors import Finding, InputError, Location
from diagnostics.suggest import did_you_mean, nearest
from export.graph_passes import graphs, normal_form, report, rewrites
from export.graph_passes.graph_pass import TOUCHED, Change, GraphPass, Sites, Stage
from export.graph_passes.report import PassReport
from export.graph_passes.snapshot import Snapshot
from export.graph_passes.wrong_program import WrongProgramError
from export.process import phases
from export.user.messages import first_lines, text_of
from export.user.model_file import Method

_Emitted = TypeVar("_Emitted")


def ordered(passes: Iterable[GraphPass]) -> tuple[GraphPass, ...]:
    """Orders passes by stage, then by `after`, then by name.

    Raises:
        ValueError: passes have to run after each other, or after a pass of a later stage.
    """
    waiting = sorted(passes, key=lambda one: (list(Stage).index(one.stage), one.name))
    known = {one.name for one in waiting}
    done: list[GraphPass] = []
    while waiting:
        earlier = {one.name for one in done}
        ready = next((one for one in waiting if earlier >= set(one.after)), None)
        if ready is None or ready.stage is not waiting[0].stage:
            names = ", ".join(one.name for one in waiting)
            missing = sorted({name for one in waiting for name in one.after} - known)
            raise ValueError(f"no order has {names} after what they name in `after`; no such passes: {missing}")
        waiting.remove(ready)
        done.append(ready)
    return tuple(done)


def _found() -> tuple[GraphPass, ...]:
    names = [module.name for module in pkgutil.iter_modules(rewrites.__path__)]
    return ordered(importlib.import_module(f"{rewrites.__name__}.{name}").PASS for name in names)


# All passes in the order in which they run. The order of `graph_passes` does not matter.
PASSES = _found()
_ATTRIBUTE = "attribute graph_passes"
# Groups of passes.
_GROUPS: Mapping[str, frozenset[str]] = {
    "all": frozenset(one.name for one in PASSES),
    "default": frozenset(one.name for one in PASSES if one.is_default),
}


def select(names: Sequence[str]) -> tuple[GraphPass, ...]:
    """Returns the selected passes, in the order in which they run.

    Args:
        names: names of passes and groups. A name after `-` removes a pass or a group from the selection.
    Raises:
        InputError: there is no such pass, a name is both given and removed, or no pass is left.
    """
    known = [*_GROUPS, *sorted(one.name for one in PASSES)]
    for name in names:
        if name.removeprefix("-") not in known:
            raise _unknown(name, known)
    given = [name for name in names if not name.startswith("-")]
    left_out = [name.removeprefix("-") for name in names if name.startswith("-")]
    selected = _members(given) - _members(left_out)
    if names and (not selected or set(given) & set(left_out)):
        raise _contradiction(names, given, left_out)
    return tuple(one for one in PASSES if one.name in selected)


def _members(names: Iterable[str]) -> frozenset[str]:
    return frozenset(one for name in names for one in _GROUPS.get(name, (name,)))


def _unknown(name: str, known: Sequence[str]) -> InputError:
    words = name.replace(",", " ").split()
    if [name] != words and words and all(word.removeprefix("-") in known for word in words):
        found = f"there is no pass {name!r}: names contain no commas or spaces"
        cause = "the names are one string, as on a command line." if len(words) > 1 else "a typo."
        fix = f"give a list of names: {json.dumps(words)}."
    else:
        name = name.removeprefix("-")
        found = f"there is no pass {name or repr(name)}{did_you_mean(nearest(name, known))}"
        cause = "a typo, or a pass of another version."
        fix = (
            f"give some of {', '.join(known)}; -NAME removes a pass; an empty list selects no pass."
            " For passes of your own, define get_edge_passes() in the model file."
        )
    return InputError.of(_ATTRIBUTE, found, cause, fix, id="unknown-graph-pass")


def _contradiction(names: Sequence[str], given: Sequence[str], left_out: Sequence[str]) -> InputError:
    found = f"{json.dumps(names)} removes {'all passes that the list names' if given else 'passes, and names no pass'}"
    fix = f"write {json.dumps(['default', *(f'-{name}' for name in left_out)])}, for example; [] selects no pass."
    if both := sorted(set(given) & set(left_out)):
        found = f"{json.dumps(names)} has {', '.join(both)} and removes {', '.join(both)}"
        fix = "delete one of the two names."
    cause = "a name after - removes a pass from the passes of the other names."
    return InputError.of(_ATTRIBUTE, found, cause, fix, id="contradictory-graph-passes")


def emit(
    passes: Sequence[GraphPass], attempt: Callable[[Sequence[GraphPass]], _Emitted], *, strict: bool = False
) -> tuple[_Emitted, Mapping[str, Exception]]:
    """Writes a program, without the passes after which ExecuTorch fails or the program is wrong.

    Args:
        passes: the passes that `select` returned.
        attempt: runs some of the passes on the original methods, and writes the program.
        strict: whether to raise the first failure.
    Returns:
        The program, and for each removed pass the exception that ExecuTorch or the check of the program raised.
    """
    left, failures = list(passes), dict[str, Exception]()
    while True:
        try:
            return attempt(left), failures
        except InputError:
            raise
        except Exception as error:
            failure = error
        if strict or not left or (not failures and _fails(attempt, [])):
            raise failure
        # Bisection finds the first pass, in the order of the passes, after which an attempt fails.
        counts = range(1, len(left))
        count = bisect.bisect_left(counts, True, key=lambda count: _fails(attempt, left[:count])) + 1
        failures[left.pop(count - 1).name] = failure


def _fails(attempt: Callable[[Sequence[GraphPass]], object], passes: Sequence[GraphPass]) -> bool:
    try:
        attempt(passes)
    except Exception:
        return True
    return False


# The number of changes that a warning lists.
_MOST_DETAILS = 20
# After so many failing calls in a method, the pass is left out for the whole method.
_MOST_FAILURES = 20


def run(
    passes: Sequence[GraphPass],
    stage: Stage,
    method: Method,
    program: ExportedProgram,
    *,
    is_partitioned: bool,
    strict: bool = False,
    after_each: Callable[[GraphPass], None] = lambda _: None,
) -> tuple[PassReport, ...]:
    """Runs the passes of a stage on a method. Changes the method's graph in place. Returns the reports of the passes.

    If a pass raises, the call that the pass was rewriting stays unchanged, and the pass runs again on the other calls.

    Args:
        passes: the passes that `select` returned.
        stage: the stage whose passes run.
        method: the method, for reports.
        program: the method's graph.
        is_partitioned: whether the method has partitioners.
        strict: whether an exception in a pass ends the export.
        after_each: called after each pass that changed the graph.
    Raises:
        InputError: a pass raised, and `strict` is set.
    """
    chosen = [one for one in passes if one.stage is stage]
    if stage is Stage.EXPORTED and is_partitioned:
        reason = "the method has partitioners, and a pass could replace the operators that they look for"
        return tuple(PassReport(one.name, reason) for one in chosen)
    if not chosen:
        return ()
    before = Snapshot(program)
    try:
        _prepare(stage, program)
    except Exception as error:
        failure = _failure_of_normal_form(method, error)
        if strict:
            raise InputError(failure) from error
        before.restore()
        warning = dataclasses.replace(failure, severity="warning")
        left_out = [PassReport(one.name, "the preparation of the graph failed") for one in chosen]
        return (dataclasses.replace(left_out[0], failures=(warning,)), *left_out[1:])
    saved = None
    reports = []
    for one in chosen:
        with phases.phase(f"pass {one.name}"):
            saved = saved or Snapshot(program)
            of_pass = _run(one, method, program, saved, strict=strict)
        if of_pass.changes:
            saved = None
            after_each(one)
        reports.append(of_pass)
    return tuple(reports)


def apply(one: GraphPass, program: ExportedProgram) -> Sequence[Change]:
    """Runs a pass on the normal form of a graph. If the pass raises, the graph may be inconsistent."""
    _prepare(one.stage, program)
    return _apply(one, Sites(program))


def _prepare(stage: Stage, program: ExportedProgram) -> None:
    """Brings a graph into the normal form that the passes of a stage rely on."""
    if stage is Stage.LOWERED:
        normal_form.normalize(program)


def _apply(one: GraphPass, sites: Sites) -> Sequence[Change]:
    before = {node: (node.target, node.args, node.kwargs) for node in sites.program.graph.nodes}
    changes = one.apply(sites)
    if changes:
        graphs.finish(sites.program)
        for node in sites.program.graph.nodes:
            if node.op == "call_function" and before.get(node) != (node.target, node.args, node.kwargs):
                node.meta[TOUCHED] = one.name
    return changes


def _run(one: GraphPass, method: Method, program: ExportedProgram, saved: Snapshot, *, strict: bool) -> PassReport:
    failures: dict[str, Finding] = {}  # By the name of the call.
    while True:
        sites = Sites(program, failures)
        try:
            changes = _apply(one, sites)
        except InputError:
            raise
        except Exception as error:
            call = sites.current
            failure = _failure(one, method, error, call)
            if strict:
                raise InputError(failure) from error
            saved.restore()
            warning = dataclasses.replace(failure, severity="warning")
            if call is None or call.name in failures or len(failures) == _MOST_FAILURES:
                reason = f"the pass raised {type(error).__name__}, a fault of rules_executorch"
                return PassReport(one.name, reason, failures=(*failures.values(), warning))
            failures[call.name] = warning
        else:
            return report.of_pass(method, one.name, changes, tuple(failures.values()))


def blamed(done: PassReport, method: Method, error: Exception) -> PassReport:
    """Returns the report of a pass that was removed since ExecuTorch failed, or the program was wrong, after it."""
    if isinstance(error, WrongProgramError):
        return _blamed_for_wrong_program(done, method, error)
    raised = f"ExecuTorch raised {type(error).__name__} after"
    found = f"{raised} the graph pass {done.name}: {first_lines(text_of(error))}"
    details = dict.fromkeys(f"{one.at or one.node}: {one.what}" for one in done.changes)
    warning = _finding(method.at, found, _leaving_out(done.name), tuple(details)[:_MOST_DETAILS], severity="warning")
    return PassReport(done.name, f"{raised} the pass", failures=(warning,))


def _blamed_for_wrong_program(done: PassReport, method: Method, error: WrongProgramError) -> PassReport:
    """Returns the report of a pass with which the program is wrong. The warning belongs to the wrong method only."""
    left_out = "the program is wrong with the pass"
    if error.method != method.name:
        return PassReport(done.name, left_out)
    fault = error.finding
    found = f"with the graph pass {done.name}, {fault.found}"
    warning = _finding(fault.where, found, _leaving_out(done.name), fault.details, severity="warning")
    return PassReport(done.name, left_out, failures=(warning,))


def _failure_of_normal_form(method: Method, error: Exception) -> Finding:
    message = first_lines(text_of(error))
    found = f"the preparation of {method.name}() for graph passes raised {type(error).__name__}"
    return _finding(method.at, found + (f": {message}" if message else ""), "graph_passes = [] runs no pass")


def _failure(one: GraphPass, method: Method, error: Exception, call: torch.fx.Node | None) -> Finding:
    """Returns the finding for an exception in a pass, at the model's line of the node that the pass was reading."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    nodes = [value for frame in frames[::-1] for value in frame.f_locals.values() if isinstance(value, torch.fx.Node)]
    stacks = (method.source.frames_of_text(node.meta.get("stack_trace") or "") for node in [call, *nodes] if node)
    at, details = next(((at, details) for at, details in stacks if at), (method.at, ()))
    where = f" at {graphs.name_of(call)}" if call is not None and call.op == "call_function" else ""
    message = first_lines(text_of(error))
    found = f"the graph pass {one.name} raised {type(error).__name__}{where} in {method.name}()"
    return _finding(at, found + (f": {message}" if message else ""), _leaving_out(one.name), details)


def _leaving_out(name: str) -> str:
    return f'graph_passes = [..., "-{name}"] removes the pass'


def _finding(
    at: Location | str,
    found: str,
    workaround: str,
    details: tuple[str, ...] = (),
    severity: Literal["error", "warning"] = "error",
) -> Finding:
    return Finding(
        at,
        found,
        "a fault of rules_executorch, in a graph pass. The model has no fault.",
        f"please report this with the output of --traceback; {workaround}.",
        details,
        id="graph-pass-failed",
        severity=severity,
    )
