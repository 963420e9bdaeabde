"""Writes the files of an executorch_python_library: the module, its stub, and private copies of shared libraries.

    codegen python_library --label //app:classifier --program classifier.pte --program_name //app:model \\
        --base program_module.py --module classifier.py --stub classifier.pyi --key et0123abcd \\
        --library libexecutorch.so --copy libet0123abcd.so
"""

from __future__ import annotations

from pathlib import Path

from codegen.binaries.private_copy import private_copy
from codegen.commands import define, shared_flags
from codegen.inputs import program_content_reader
from codegen.python import python_library
from diagnostics.errors import InputError

FLAGS = shared_flags.flag_values()

_LABEL = shared_flags.label(FLAGS, "the Python library")
_PROGRAM = define.required(FLAGS, "program", "The program (.pte).")
_PROGRAM_NAME = define.required(FLAGS, "program_name", "The name of the program for errors.")
_BASE = define.required(FLAGS, "base", "The module without its methods: runtime/python/program_module.py.")
_MODULE = define.required(FLAGS, "module", "Where to write the module.")
_STUB = define.required(FLAGS, "stub", "Where to write the stub.")
_KEY = define.required(FLAGS, "key", "What stands for `executorch` in the names of the copies.")
_LIBRARIES = define.several(FLAGS, "library", "A shared library to copy.")
_COPIES = define.several(FLAGS, "copy", "Where to write the copy, one for each --library.")


def run() -> None:
    content = program_content_reader.read(_PROGRAM.value, _PROGRAM_NAME.value)
    findings = python_library.mistakes(_LABEL.value, Path(_MODULE.value).stem, content)
    if findings:
        raise InputError(findings)
    title = f"The program {_PROGRAM_NAME.value}. Generated for {_LABEL.value}; do not edit."
    Path(_MODULE.value).write_text(python_library.module(title, Path(_BASE.value).read_text(), content))
    Path(_STUB.value).write_text(python_library.stub(title, content))
    for library, copy in zip(_LIBRARIES.value, _COPIES.value, strict=True):
        Path(copy).write_bytes(private_copy(Path(library).read_bytes(), _KEY.value, "$ORIGIN"))
