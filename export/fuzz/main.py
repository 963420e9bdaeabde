"""Fuzzes exports with random modules. Each program must have the results of the eager module.

    tools/bazel run //export/fuzz -- --count=20000 --seed=1
    tools/bazel run //export/fuzz -- --functions=. --samples=4   # calls of all functions and modules of PyTorch

Shows each class of failures once, with the smallest model file that Hypothesis finds for the class.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import logging
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NoReturn

import hypothesis
import hypothesis.errors
import torch
import torch._export.utils
from absl import app, flags

from export.fuzz import specs
from export.fuzz.check import Check, Counts, FailedError, Failure, Module, RefusedError, quiet
from export.fuzz.compiled import Compiled
from export.fuzz.draft import Draft, draft
from export.fuzz.functions import functions
from export.fuzz.kernels import Kernels
from export.fuzz.spec import Spec, parse
from export.lower import repeated_work
from kernels.testing.arm64 import Emulator

_COUNT = flags.DEFINE_integer("count", 40, "How many modules.")
_SEED = flags.DEFINE_integer("seed", 1, "The same seed makes the same modules.")
_FUNCTIONS = flags.DEFINE_string(
    "functions",
    "",
    "Checks a call of each of PyTorch's functions and modules with a name that this regular expression matches.",
)
_SAMPLES = flags.DEFINE_integer("samples", 1, "How many calls of a function or module in each dtype.", lower_bound=1)
_EVERY = flags.DEFINE_integer("every", 1, "Checks one of so many functions, which the seed selects.", lower_bound=1)
_SPEC = flags.DEFINE_string("spec", "", "Checks this module only, given as a failure prints it.")
_FOLDER = flags.DEFINE_string("folder", "", "Where the model files of failures are written, if anywhere.")
_REPORT = flags.DEFINE_integer("report", 100, "A line of counts each so many modules.")
_RUNNER = flags.DEFINE_string(
    "runner", "", "Runs programs with the kernels, too, by this executorch_binary of all of them."
)
_COMPILED = flags.DEFINE_string(
    "compiled",
    "",
    "Runs programs compiled to C++ in place of --runner, with the kernels in this file of the rule compiled_kernels.",
)
_OPTIMIZE = flags.DEFINE_enum(
    "optimize", "speed", ["size", "speed"], "What programs compiled to C++ are optimized for."
)
_EACH = flags.DEFINE_bool("each_pass", False, "Checks each pass alone, too.")
_SHRINK = flags.DEFINE_bool("shrink", True, "Reduces the module of each class of failures.")
_QEMU = flags.DEFINE_string("qemu", "", "QEMU's emulator, if the runner is for arm64.")
_LOADER = flags.DEFINE_string("loader", "", "The dynamic loader of arm64, below lib.")

# The number of modules for one seed of Hypothesis. After a failure, the rest of the batch is not checked.
_BATCH = 100


class Fuzzer:
    """Draws modules and checks them.

    Args:
        check: checks one module.
        counts: the counts of modules.
        folder: the folder for model files of failures; None to write none.
    """

    def __init__(self, check: Check, counts: Counts, folder: Path | None) -> None:
        self._check = check
        self._counts = counts
        self._folder = folder
        self._failure: Failure | None = None
        self._shown: set[str] = set()
        self._start = time.monotonic()

    def run(self, count: int, seed: int) -> None:
        """Checks `count` modules."""
        phases = [hypothesis.Phase.generate, *([hypothesis.Phase.shrink] if _SHRINK.value else [])]
        batch = 0
        while self._counts.modules < count:
            self._failure = None
            examples = min(_BATCH, count - self._counts.modules)
            try:
                specs.run(self._try, examples, f"{seed} {batch}", phases=phases, report_multiple_bugs=False)
            except FailedError as error:
                self._show(error.failure)
            except hypothesis.errors.Flaky:
                # The failure depends on the checks before it, so Hypothesis cannot reduce its module.
                if self._failure is not None:
                    self._show(self._failure)
            batch += 1

    def _try(self, spec: Spec) -> None:
        """Checks a module. After a failure, while Hypothesis shrinks, only checks whether this module fails alike."""
        if self._failure is not None:
            with contextlib.suppress(RefusedError):
                for failure in self._check(_drafted(spec), [self._failure.names]):
                    if failure.of_class == self._failure.of_class:
                        _fail(failure)
            return
        if new := self._new_failures(_drafted(spec)):
            self._shown.add(new[0].of_class)
            self._failure = new[0]
            _fail(new[0])

    def run_all(self, modules: Iterable[Module]) -> None:
        """Checks modules, and shows each class of failures once."""
        for module in modules:
            for failure in self._new_failures(module):
                self._shown.add(failure.of_class)
                self._show(failure)

    def _new_failures(self, module: Module) -> list[Failure]:
        """Checks and counts a module. Returns its failures of classes that were not shown."""
        self._counts.modules += 1
        new = []
        try:
            for failure in self._check(module):
                self._counts.failed[failure.of_class] += 1
                if failure.of_class not in self._shown:
                    new.append(failure)
        except RefusedError as error:
            self._counts.refused[str(error)[:120]] += 1
        if self._counts.modules % _REPORT.value == 0:
            self.report()
        return new

    def report(self) -> None:
        """Prints the elapsed seconds and the counts."""
        print(f"{time.monotonic() - self._start:.0f} s: {self._counts}", flush=True)

    def _show(self, failure: Failure) -> None:
        names = " ".join(failure.names)
        print(f"\n{failure.of_class}\n# graph_passes: {names}. {failure.said}\n{failure.source}", flush=True)
        if self._folder is not None:
            name = "_".join("".join(one if one.isalnum() else " " for one in failure.of_class).split())
            self._folder.mkdir(parents=True, exist_ok=True)
            (self._folder / f"{name}.py").write_text(
                f"# {failure.of_class}\n# {names}: {failure.said}\n{failure.source}"
            )


def _fail(failure: Failure) -> NoReturn:
    """Raises a failure. All failures come from this line, since Hypothesis tells failures apart by their lines."""
    raise FailedError(failure)


def _drafted(spec: Spec) -> Draft:
    with quiet():  # PyTorch warns about layers without elements.
        return draft(spec)


def main(_: list[str]) -> None:
    torch.set_num_threads(1)
    logging.disable(logging.ERROR)
    # PyTorch collects these operators for each export, a quarter of the time. No such operator is registered later.
    utils = torch._export.utils
    utils._collect_all_valid_cia_ops_for_namespace = functools.cache(utils._collect_all_valid_cia_ops_for_namespace)
    # The garbage collector need not visit PyTorch's modules, and should run less often (see export/process/command.py).
    gc.freeze()
    gc.set_threshold(50_000)
    counts = Counts()
    with tempfile.TemporaryDirectory() as temporary, repeated_work.avoided():
        emulator = Emulator(Path(_QEMU.value), Path(_LOADER.value)) if _QEMU.value else None
        kernels: Kernels | Compiled | None = Kernels(Path(_RUNNER.value), emulator) if _RUNNER.value else None
        if _COMPILED.value:
            kernels = Compiled(Path(_COMPILED.value).absolute(), _OPTIMIZE.value == "size")
        check = Check(Path(temporary), counts, kernels, with_each=_EACH.value)
        if _SPEC.value:
            for failure in check(_drafted(parse(_SPEC.value))):
                print(f"{failure.of_class}: {failure.said}")
            return
        folder = Path(_FOLDER.value) if _FOLDER.value else None
        fuzzer = Fuzzer(check, counts, folder)
        with contextlib.suppress(KeyboardInterrupt):  # A run that is interrupted prints its counts.
            if _FUNCTIONS.value:
                fuzzer.run_all(functions(_FUNCTIONS.value, _SAMPLES.value, _SEED.value, _EVERY.value))
            else:
                fuzzer.run(_COUNT.value, _SEED.value)
    fuzzer.report()
    for title, counter in (
        ("refused", counts.refused),
        ("without kernels", counts.without_kernels),
        ("changed by", counts.acted),
        ("failed", counts.failed),
    ):
        print(f"{title}:")
        for what, number in counter.most_common():
            print(f"  {number}: {what}")
    if counts.failed:
        sys.exit(f"{len(counts.failed)} classes of failures")


if __name__ == "__main__":
    app.run(main)
