"""Compares a program with eager PyTorch node by node, and writes a web page.

    bazel run //package:binary.numbers

The program runs on its samples with the kernels of the binary. The result of each instruction is compared with
PyTorch's value of the node that the instruction computes. The page is sorted by the drop of the signal-to-noise ratio.
Flags that are not listed here go to the binary.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from absl import app, flags

from profiles import calls, numbers_page, numbers_table, profile_data

_RUNNER = flags.DEFINE_string("runner", None, "The binary that compares.", required=True)
_PROGRAM = flags.DEFINE_string("built_program", None, "The program that the binary runs.")
_ORIGINS = flags.DEFINE_string("origins", None, "Where the instructions of the program come from.")
_VALUES = flags.DEFINE_string("eager_values", None, "PyTorch's values.")
_NODES = flags.DEFINE_string("eager_nodes", None, "The nodes of these values.")
_TITLE = flags.DEFINE_string("title", "numbers", "What is compared.")
_PAGE = flags.DEFINE_string("page", "numbers.html", "Where to write the page.")
_TEXT = flags.DEFINE_string("text", None, "Where to write the whole table as text.")
_JSON = flags.DEFINE_string("json", None, "Where to write the table as JSON.")
_METHOD = flags.DEFINE_string("method", None, "The method. Default: forward, or the only method.")

# The most rows of the table on the terminal.
_PRINTED = 20


def main(argv: Sequence[str]) -> int:
    """Returns the exit status."""
    if not (_VALUES.value and _NODES.value and _ORIGINS.value and _PROGRAM.value):
        print(
            f"error: {_TITLE.value} has no values of PyTorch to compare with.\n"
            "  Likely cause: its program is a plain .pte file, or it has none.\n"
            "  Fix: give it an executorch_program.",
            file=sys.stderr,
        )
        return 1
    runner, values = Path(_RUNNER.value).absolute(), Path(_VALUES.value).absolute()
    document = json.loads(Path(_NODES.value).read_text("utf-8"))
    methods = document["methods"]
    method = _METHOD.value or (next(iter(methods)) if len(methods) == 1 else "forward")
    if method not in methods:
        print(
            f"error: there is no method {method}; there are: {', '.join(methods)}.\n"
            "  Likely cause: the program has several methods, or the name is misspelt.\n"
            "  Fix: give one of these with --method=NAME.",
            file=sys.stderr,
        )
        return 1
    origin_of = profile_data.origins(Path(_ORIGINS.value).read_text("utf-8"), method)
    call_of = calls.read(Path(_PROGRAM.value).read_bytes(), method)
    # `bazel run` starts tools elsewhere.
    os.chdir(os.environ.get("BUILD_WORKING_DIRECTORY", "."))
    with tempfile.TemporaryDirectory() as folder:
        numbers = Path(folder) / "numbers.jsonl"
        command = [str(runner), f"--eager_values={values}", f"--numbers={numbers}", f"--method={method}", *argv[1:]]
        done = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True)
        if not numbers.exists():
            print(done.stdout, end="")
            return done.returncode
        compared = numbers.read_text("utf-8")
    found = numbers_table.rows(compared, methods[method], origin_of, call_of, is_complete=document["is_complete"])
    print(numbers_table.as_text(found[:_PRINTED]), end="")
    if len(found) > _PRINTED:
        print(f"and {len(found) - _PRINTED} more: --text=FILE writes all")
    for path, text, what in (
        (_PAGE.value, numbers_page.render(_TITLE.value, method, found), "page"),
        (_TEXT.value, numbers_table.as_text(found), "text"),
        (_JSON.value, numbers_table.as_json(found), "json"),
    ):
        if path:
            Path(path).write_text(text, "utf-8")
            print(f"{what} {Path(path).absolute()}")
    return 0


if __name__ == "__main__":
    app.run(main, flags_parser=lambda argv: flags.FLAGS(argv, known_only=True))
