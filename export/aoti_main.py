"""Compiles a PyTorch model ahead of time with AOTInductor, to a package that C++ runs without Python.

The model is a Python file with an entry point; README.md beside this file has the contract. The command also writes
sample inputs and eager outputs, against which a test compares the package. Success prints nothing. Bad input prints one
error and exits with status 1.
"""

from __future__ import annotations

import functools
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from absl import app, flags

from diagnostics.errors import Finding
from export.process import command

_PACKAGE = flags.DEFINE_string("package", None, "Where to write the package (.pt2).", required=True)
_SAMPLES = flags.DEFINE_string("samples", None, "Where to write sample inputs and eager outputs (.ptd).")
_OPERATORS = flags.DEFINE_string("operators", None, "Where to write the names of the operators that are not PyTorch's.")
_COMPILER = flags.DEFINE_string("compiler", "g++", "The C++ compiler.")
_COMPILE_FLAGS = flags.DEFINE_multi_string("compile_flag", [], "Flag of every compilation. May be given several times.")
_LINK_FLAGS = flags.DEFINE_multi_string("link_flag", [], "Flag of linking. May be given several times.")
_NATIVE = flags.DEFINE_bool("native", False, "Compile for the processor of this machine, with its vector instructions.")


def main(argv: Sequence[str]) -> int:
    with tempfile.TemporaryDirectory() as scratch:
        # Modules of PyTorch read this variable when they are imported.
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = scratch
        # The model file may change the working directory.
        outputs = [Path(flag.value).absolute() if flag.value else None for flag in (_PACKAGE, _SAMPLES, _OPERATORS)]
        return command.run(argv, "export.aoti", functools.partial(_export, Path(scratch), outputs))


def _export(
    scratch: Path, outputs: Sequence[Path | None], model: Path, entry_point: str, import_paths: Sequence[Path]
) -> Sequence[Finding]:
    """Compiles a model file and writes the outputs: the package, the samples, and the names of the operators."""
    from export import aoti

    package, to_samples, to_operators = outputs
    assert package, "--package is required"
    compiler = aoti.Compiler(
        _COMPILER.value, tuple(_COMPILE_FLAGS.value), tuple(_LINK_FLAGS.value), native=_NATIVE.value
    )
    samples, operators = aoti.package(
        model, entry_point, import_paths, compiler=compiler, scratch=scratch, output=package
    )
    if to_samples:
        to_samples.write_bytes(samples)
    if to_operators:
        to_operators.write_text("".join(f"{name}\n" for name in operators))
    return ()


if __name__ == "__main__":
    app.run(main)
