"""Exports each architecture of transformers from its config to a program, and writes docs/zoo.md.

tools/bazel run //tools/zoo                               # takes hours, and keeps stored results
tools/bazel run //tools/zoo -- --models='bert|vit' --again
"""

from __future__ import annotations

import functools
import os
import re
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
import transformers
from absl import app, flags

from codegen.inputs import functions_yaml
from tools.zoo import architectures, limited, measuring, page, results
from tools.zoo.architectures import Architecture
from tools.zoo.measuring import Kernels
from tools.zoo.results import Row

_STATE = flags.DEFINE_string(
    "state", str(Path(tempfile.gettempdir()) / "rules_executorch_zoo.json"), "The file that keeps what was found."
)
_MODELS = flags.DEFINE_string("models", "", "Only models whose whole names are like this pattern. Default: all.")
_AGAIN = flags.DEFINE_bool("again", False, "Go through the models also where the file has them.")
_SECONDS = flags.DEFINE_float("seconds", 120, "How long a model may take.")
_MINUTES = flags.DEFINE_float("minutes", 0, "Begin no model after so many minutes. 0: no limit.")
_KERNELS = flags.DEFINE_string("kernels", "", "YAMLs of the operators that there are kernels for, with spaces between.")
_RUNNER = flags.DEFINE_string("runner", "", "A runner with the kernels. Without one, only graphs are compared.")
_PAGE = flags.DEFINE_string("page", "", "Where to write the page. Default: docs/zoo.md.")

# The suffix of the names of decoders with a static cache.
WITH_CACHE = "+cache"


def main(argv: Sequence[str]) -> None:
    if len(argv) > 1:
        raise app.UsageError(f"unknown argument: {argv[1]}")
    file = Path(_STATE.value)
    found, known = measure_all(file)
    docs = Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", ".")) / "docs" / "zoo.md"
    Path(_PAGE.value or docs).write_text(page.text(found, known))


def measure_all(file: Path) -> tuple[results.Results, int]:
    """Measures the models that a file of results lacks. Returns all results, and the number of models.

    Raises:
        app.UsageError: a flag has an invalid value.
    """
    runner = Path(_RUNNER.value).absolute() if _RUNNER.value else None
    if runner and not runner.is_file():
        raise app.UsageError(f"--runner={_RUNNER.value}: no such file; build //kernels/testing:runner")
    try:
        asked = re.compile(_MODELS.value or ".*")
    except re.error as error:
        raise app.UsageError(f"--models={_MODELS.value}: no regular expression: {error}") from error
    transformers.logging.set_verbosity_error()
    torch.set_num_threads(1)
    found = results.load(file)
    measuring.prepare()
    known = architectures.find()
    names = [*known, *(name + WITH_CACHE for name, one in known.items() if one.kind == "decoder")]
    wanted = [name for name in names if asked.fullmatch(name)]
    provided = frozenset(name for path in _KERNELS.value.split() for name in functions_yaml.names(path))
    kernels = Kernels(provided, runner)
    end = time.monotonic() + 60 * _MINUTES.value if _MINUTES.value else float("inf")
    for name in wanted:
        if (name not in found or _AGAIN.value) and time.monotonic() < end:
            start = time.monotonic()
            found[name] = _measured(known[name.removesuffix(WITH_CACHE)], kernels, name.endswith(WITH_CACHE))
            results.save(found, file)
            print(f"{name}, {time.monotonic() - start:.0f} s: {page.summary(found[name])}", flush=True)
    return {name: found[name] for name in names if name in found}, len(names)


def _measured(architecture: Architecture, kernels: Kernels, with_cache: bool) -> Row:
    step = functools.partial(_step, architecture, kernels, with_cache)
    ended = limited.run(step, _SECONDS.value)
    row: Row = ended.last
    return results.ended(row, ended.problem) if ended.problem else row


def _step(architecture: Architecture, kernels: Kernels, with_cache: bool, tell: Any) -> None:
    measuring.measure(architecture, kernels, tell, with_cache=with_cache)


if __name__ == "__main__":
    app.run(main)
