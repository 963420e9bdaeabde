"""Runs programs that are compiled to C++, with all kernels."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from codegen.artifacts import registered_operators
from codegen.compiled import check, files
from codegen.inputs import program_content_reader, tensor_data_reader
from diagnostics.errors import InputError
from export.fuzz import kernels
from export.fuzz.judge import Reference
from export.fuzz.kernels import MissingOperatorsError
from export.fuzz.programs import Programs

_SCRATCH_BYTES = 64 << 20
# Of the generated sources. Warnings of what is written are failures.
_FLAGS = ("-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-fno-exceptions", "-fno-rtti")
# The message for a program that needs other operators or kernels.
_MISSING = re.compile(r"has no kernels? for \S+")


@dataclass(frozen=True)
class Compiled:
    """Compiles programs with the compiler of the machine, `CXX` or g++.

    Attributes:
        library: the file of the rule compiled_kernels.
        is_small: whether the programs are optimized for size.
    """

    library: Path
    is_small: bool

    def wrong(self, programs: Programs, reference: Reference, names: Sequence[str]) -> tuple[str, str]:
        """Runs the program with some passes. Returns `compiled` and the difference, or both empty.

        Raises:
            MissingOperatorsError: the library lacks kernels of the program.
        """
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            if not kernels.write(programs, reference, names, folder):
                return "", ""
            said = self._run(folder, reference.least_snr())
        return ("compiled", said) if said else ("", "")

    def _run(self, folder: Path, least_snr: float) -> str:
        """Returns the end of the output of a step that failed; empty if the program has the expected results."""
        library = json.loads(self.library.read_text())
        root = Path.cwd().parent
        headers = (library["native_functions"], library["typed_kernels"])
        names = files.Names("//:model", "model.pte", "model", "model.h", *headers)
        registered = registered_operators.read(str(root / library["manifest"]))
        try:
            content = program_content_reader.read(str(folder / "model.pte"), "model.pte")
            program = files.Program(content, registered, names, constants_by_pointer=False, is_small=self.is_small)
        except InputError as error:
            if missing := _MISSING.search(str(error)):
                raise MissingOperatorsError(missing[0]) from error
            raise
        samples = tensor_data_reader.read(str(folder / "model.ptd"))
        # Roundings may change the results of a module more than the tolerance by dtype allows.
        tolerance = check.AskedTolerance(min_snr=least_snr)
        compared = check.CheckProgram(program, names, samples, tolerance, _SCRATCH_BYTES)
        for name, text in (
            ("model.cpp", program.source()),
            ("model.h", program.header()),
            ("check.cpp", compared.source()),
            ("constants.S", files.constants_assembly(names.symbol, "constants.bin")),
            ("samples.S", files.constants_assembly(compared.symbol, "samples.bin")),
        ):
            (folder / name).write_text(text)
        (folder / "constants.bin").write_bytes(program.constants.content())
        (folder / "samples.bin").write_bytes(compared.constants.content())
        includes = [f"-isystem{root / folder}" for folder in library["includes"]]
        defines = [f"-D{define}" for define in library["defines"]]
        archives = [str(root / archive) for archive in library["archives"]]
        return kernels.run(
            [
                *(os.environ.get("CXX", "g++"), *_FLAGS, "-I.", *includes, *defines),
                *("model.cpp", "check.cpp", "constants.S", "samples.S"),
                *("-o", "model", "-Wl,--gc-sections", "-Wl,--start-group", *archives, "-Wl,--end-group", "-lm"),
            ],
            folder,
        ) or kernels.run(["./model"], folder)
