"""Finds the kernels of a generated library in its kernel libraries, and adapts those that take no context.

    codegen bind --manifest registered.json --nm nm --library libkernels.a --output KernelAdapters.cpp

A kernel may have a leading parameter `KernelRuntimeContext&` or not. Generated code always passes a context. If a
library defines a kernel without a context only, the output defines the overload with a context. A kernel without any
definition is an error. A kernel that takes `at::Tensor` has no context.
"""

from __future__ import annotations

from pathlib import Path

from absl import flags

from codegen.artifacts import registered_operators
from codegen.binaries import symbols
from codegen.checks import kernel_definitions
from codegen.commands import define, shared_flags
from codegen.cpp import adapters
from codegen.cpp.source import Source

FLAGS = shared_flags.flag_values()

_MANIFEST = shared_flags.registered(FLAGS)
_NM = shared_flags.nm(FLAGS)
_LIBRARIES = define.several(FLAGS, "library", "An archive, object file or shared library with kernels.")
_ATTRIBUTE = flags.DEFINE_string(
    "attribute", "kernel_deps", "The attribute that names the libraries, for messages.", flag_values=FLAGS
)
_LEFT_OUT = define.several(
    FLAGS,
    "left_out",
    "The label of a library of --attribute that is not linked, since it has no custom operators, for messages.",
)
_OUTPUT = shared_flags.output(FLAGS, "the adapters")


def run() -> None:
    library = registered_operators.read(_MANIFEST.value)
    paths = tuple(_LIBRARIES.value)
    defined = symbols.read(paths, _NM.value)
    kernels = kernel_definitions.KernelLibraries(_ATTRIBUTE.value, paths, defined, tuple(_LEFT_OUT.value))
    found = kernel_definitions.find(library, kernels)
    Path(_OUTPUT.value).write_text(adapters.text(Source(library.label, library.yaml_names), found))
