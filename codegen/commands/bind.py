"""Finds the kernels of a generated library in its kernel libraries, and adapts those that take no context.

    codegen bind --manifest registered.json --nm nm --library libkernels.a --output KernelAdapters.cpp

A kernel may take a leading `KernelRuntimeContext&` or not; generated code always passes one. Where a library defines
only the form without, the output defines the other. A kernel that is defined in neither form is an error. A kernel that
takes `at::Tensor` has no context.
"""

from __future__ import annotations

from pathlib import Path

from absl import flags

from codegen.artifacts import registered_operators
from codegen.binaries import symbols
from codegen.checks import kernel_definitions
from codegen.commands import command_line
from codegen.cpp import emit

FLAGS = command_line.flag_values()

_MANIFEST = flags.DEFINE_string(
    "manifest", None, "The registered.json of 'codegen generate'.", required=True, flag_values=FLAGS
)
_NM = flags.DEFINE_string("nm", None, "The C++ toolchain's nm.", required=True, flag_values=FLAGS)
_LIBRARIES = flags.DEFINE_multi_string(
    "library", [], "An archive, object file or shared library with kernels.", flag_values=FLAGS
)
_OUTPUT = flags.DEFINE_string("output", None, "Where to write the adapters.", required=True, flag_values=FLAGS)


def run() -> None:
    library = registered_operators.read(_MANIFEST.value)
    found = kernel_definitions.find(library, symbols.read(tuple(_LIBRARIES.value), _NM.value), _LIBRARIES.value)
    source = emit.Source(library.label, library.yaml_names)
    Path(_OUTPUT.value).write_text(emit.adapters(source, found))
