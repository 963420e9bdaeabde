"""Checks an operator library's registrations with PyTorch. Writes the manifest, and the Python module that loads it.

    codegen torch_library --label //ops:my_ops --library libmy_ops.so --nm nm --loaded my_ops.loaded.torch.json \\
        --manifest my_ops.torch.json --module my_ops.py

Without --loaded, for a library that the build machine cannot load, the command reads the registrations from the
library's symbols, and the lines from --source. With --torch_library, the library may use only PyTorch's stable ABI.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from absl import flags

from codegen.artifacts import torch_manifest
from codegen.binaries import python_modules, symbols, torch_registrations
from codegen.checks import torch_namespaces
from codegen.commands import define, shared_flags
from codegen.model.torch_library import TorchLibrary
from codegen.python import torch_loader
from diagnostics.errors import Finding, InputError

FLAGS = shared_flags.flag_values()

_LABEL = shared_flags.label(FLAGS, "the library")
_LIBRARY = define.required(FLAGS, "library", "The shared library.")
_NM = shared_flags.nm(FLAGS)
_LOADED = define.optional(FLAGS, "loaded", "What the library registered when it was loaded, as .torch.json.")
_SOURCES = define.several(FLAGS, "source", "A source or header of the library, to find the registrations' lines in.")
_NAMESPACE = flags.DEFINE_string(
    "namespace", "", "The one namespace that the library should define operators in.", flag_values=FLAGS
)
_TORCH_LIBRARIES = define.several(
    FLAGS, "torch_library", "A library of PyTorch, of which only the C functions of the stable ABI may be used."
)
_MANIFEST = define.required(FLAGS, "manifest", "Where to write the manifest.")
_MODULE = define.required(FLAGS, "module", "Where to write the Python module.")

# The C functions of PyTorch's stable ABI.
_STABLE = re.compile(r"aoti_torch_\w+|torch_\w+")
# Symbols of the C++ standard library in PyTorch's libraries. The compiler provides these symbols, too.
_STANDARD_LIBRARY = re.compile(r"(?:(?:vtable|VTT|typeinfo|typeinfo name) for |.*? )?(?:std|__gnu_cxx|__cxxabiv1)::.*")
# The header that declares an unstable symbol. The first matching pattern counts.
_HEADERS = (
    (re.compile(r"at::_ops::(\w+?)(?:_)?::"), r"ATen/ops/\1.h"),
    (re.compile(r"at::Tensor(?:Base)?\b"), "ATen/core/Tensor.h"),
    (re.compile(r"torch::Library\b|torch::CppFunction\b|torch::detail::TorchLibraryInit"), "torch/library.h"),
    (re.compile(r"c10::(?:Dispatcher|OperatorHandle|impl::OperatorEntry)\b"), "ATen/core/dispatch/Dispatcher.h"),
    (re.compile(r"c10::(?:Error|Warning|detail::torch\w+)\b"), "c10/util/Exception.h"),
    (re.compile(r"c10::(\w+Impl|Storage|Scalar|SymInt|Device|Stream|Allocator)\b"), r"c10/core/\1.h"),
    (re.compile(r"at::"), "ATen/"),
    (re.compile(r"c10::"), "c10/"),
    (re.compile(r"torch::"), "torch/csrc/"),
)
_SHOWN = 10


def run() -> None:
    module = Path(_MODULE.value).stem
    manifest = _manifest(module)
    initialized = python_modules.initialized_by(symbols.exported_names((_LIBRARY.value,), _NM.value))
    findings = [] if initialized else list(_nothing(manifest))
    findings += [*_other_module(module, initialized), *_other_namespace(manifest)]
    findings += torch_namespaces.mistakes(_LABEL.value, [manifest])
    findings += _unstable()
    if findings:
        raise InputError(findings)
    torch_manifest.write(manifest, _MANIFEST.value)
    torch_loader.write(_MODULE.value, Path(_LIBRARY.value).name, manifest, is_extension=module in initialized)


def _manifest(module: str) -> TorchLibrary:
    if _LOADED.value:
        return torch_manifest.read(_LOADED.value)
    found = torch_registrations.read(_LIBRARY.value, _SOURCES.value, _NM.value, module)
    return TorchLibrary(_LABEL.value, found)


def _nothing(manifest: TorchLibrary) -> Iterator[Finding]:
    if not manifest.registrations:
        yield Finding(
            id="registers-nothing",
            where=_LABEL.value,
            found="the library registers nothing with PyTorch, and is not a Python extension module",
            cause="no source has a TORCH_LIBRARY macro, or the cc_library of deps that has it was left out by the "
            "linker",
            fix="write TORCH_LIBRARY(my_namespace, m) (STABLE_TORCH_LIBRARY with api = 'stable'), or set alwayslink = "
            "True in that cc_library",
        )


def _other_module(module: str, initialized: Sequence[str]) -> Iterator[Finding]:
    if initialized and module not in initialized:
        yield Finding(
            id="other-module",
            where=_LABEL.value,
            found=f"the library is the Python extension module {' and '.join(initialized)}, and its target makes the "
            f"module {module}",
            cause="a source names the module (PYBIND11_MODULE, PyInit_<name>), and the target has another name",
            fix=f"rename the target to {initialized[0]}, or write PYBIND11_MODULE(TORCH_EXTENSION_NAME, m), which "
            "takes the target's name",
        )


def _other_namespace(manifest: TorchLibrary) -> Iterator[Finding]:
    found = manifest.namespaces()
    if _NAMESPACE.value and found and found != [_NAMESPACE.value]:
        yield Finding(
            id="other-namespace",
            where=_LABEL.value,
            found=f"the library registers in {' and '.join(found)}, not in {_NAMESPACE.value} alone",
            cause="the attribute namespace, or the first argument of a TORCH_LIBRARY macro, was not changed with the "
            "other",
            fix="make the two agree, or leave out the attribute",
            details=tuple(f"{r.kind} of {r.namespace}: {manifest.place(r)}" for r in manifest.registrations),
        )


def _unstable() -> list[Finding]:
    """Returns findings for symbols of PyTorch's libraries that the library uses outside of the stable ABI."""
    if not _TORCH_LIBRARIES.value:
        return []
    offered = symbols.exported_names(tuple(_TORCH_LIBRARIES.value), _NM.value)
    unstable = [
        demangled
        for name, demangled in symbols.undefined_names(_LIBRARY.value, _NM.value).items()
        if name in offered and not _STABLE.fullmatch(name) and not _STANDARD_LIBRARY.fullmatch(demangled)
    ]
    if not unstable:
        return []
    shown = [f"{name}{_header(name)}" for name in sorted(unstable)[:_SHOWN]]
    if len(unstable) > _SHOWN:
        shown.append(f"and {len(unstable) - _SHOWN} more")
    return [
        Finding(
            id="unstable-symbol",
            where=_LABEL.value,
            found=f"the library uses {len(unstable)} {'symbol' if len(unstable) == 1 else 'symbols'} of PyTorch that "
            "are not of its stable ABI, so that it would fit one version of PyTorch only",
            cause="a source, or a C++ library of deps, includes other headers of PyTorch than torch/csrc/stable, "
            "torch/headeronly and torch/csrc/inductor/aoti_torch/c",
            fix="use torch::stable::Tensor and the functions of torch/csrc/stable/ops.h, or set api = 'aten'",
            details=tuple(shown),
        )
    ]


def _header(name: str) -> str:
    for pattern, header in _HEADERS:
        if match := pattern.search(name):
            return f", likely of {match.expand(header)}"
    return ""
