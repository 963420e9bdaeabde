"""Loads an operator library into PyTorch once. A failure or an abort becomes one error.

Our library registrations.cpp records the registrations of the operator library during the load.
"""

from __future__ import annotations

import ctypes
import faulthandler
import importlib.machinery
import importlib.util
import json
import os
import re
import tempfile
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codegen.artifacts.torch_operators import TorchOperator
from codegen.binaries import python_modules, symbols
from codegen.checks import torch_namespaces
from codegen.model.torch_library import TorchLibrary, TorchRegistration
from diagnostics import derived_operator
from diagnostics.errors import Finding, InputError, Location
from torch_ops import load_message
from torch_ops.process_end import how_it_ended

# PyTorch's description of an operator has the dispatch key and the place of registration of each kernel.
_KERNEL = re.compile(r"^(?!debug:)(\w+)(?:\[alias\])?: registered at", re.MULTILINE)
_PLACE = re.compile(r"registered at (\S+)")


# The library that intercepts calls of PyTorch's registration functions, and records them.
_NOTER = Path(__file__).with_name("registrations.so")


@dataclass(frozen=True, slots=True)
class Loaded:
    """An operator library after its load.

    Attributes:
        manifest: the library's registrations.
        operators: the operators that the library defines, and those of the libraries that it needs.
    """

    manifest: TorchLibrary
    operators: tuple[TorchOperator, ...]


def _load(library: str, module: str | None, notes: str) -> dict[str, Any]:
    """Loads the library. Returns the additions to PyTorch's dispatcher.

    Args:
        library: the path of the library.
        module: the name of the Python extension module, if the library is one; otherwise None.
        notes: the path of the file for the recorded registrations.
    """
    import torch  # Only the child process needs PyTorch.

    dispatcher: Any = torch._C
    before = set(dispatcher._dispatch_get_all_op_names())
    dangling = dispatcher._dispatch_find_dangling_impls()
    ctypes.CDLL(str(_NOTER), mode=ctypes.RTLD_GLOBAL).NoteRegistrations(os.fsencode(notes))
    path = os.path.abspath(library)
    try:
        torch.ops.load_library(path)
    except OSError as error:
        return {"error": str(error.__cause__ or error)}
    if module:
        loader = importlib.machinery.ExtensionFileLoader(module, path)
        spec = importlib.util.spec_from_file_location(module, path, loader=loader)
        assert spec, "the loader is given"
        loader.exec_module(importlib.util.module_from_spec(spec))
    dangling = [text for text in dispatcher._dispatch_find_dangling_impls() if text not in dangling]
    undeclared = {_dangling_name(text) for text in dangling}
    operators = []
    for name in sorted(set(dispatcher._dispatch_get_all_op_names()) - before - undeclared):
        base, _, overload = name.partition(".")
        described = dispatcher._dispatch_dump(name)
        operators.append(
            {
                "name": name,
                "schema": str(dispatcher._get_schema(base, overload)),
                "kernels": _KERNEL.findall(described),
                "derived_by": derived_operator.derived_by(described) or "",
            }
        )
    return {"operators": operators, "dangling": dangling}


def _dangling_name(text: str) -> str:
    """Returns the operator in PyTorch's description of an operator with kernels and without a schema."""
    return text.removeprefix("name: ").partition("\n")[0]


def _in_child(library: str, module: str | None, notes: str) -> tuple[dict[str, Any] | None, int, str]:
    """Runs _load in a process of its own. Returns the result or None, the exit status, and the output."""
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as printed,
        tempfile.TemporaryFile("w+") as result,
    ):
        child = os.fork()
        if not child:
            for descriptor in (1, 2):
                os.dup2(printed.fileno(), descriptor)
            status = 1
            faulthandler.disable()  # The output of the C++ exception is sufficient.
            try:
                json.dump(_load(library, module, notes), result)
                result.flush()
                status = 0
            except Exception:
                traceback.print_exc()
            finally:
                # Exit handlers of the parent, or of a possibly broken library, must not run at the end.
                os._exit(status)
        _, wait_status = os.waitpid(child, 0)
        status = os.waitstatus_to_exitcode(wait_status)
        result.seek(0)
        printed.seek(0)
        # A library may end the process with any status, so only a written result means success.
        loaded = result.read()
        return (json.loads(loaded) if loaded else None), status, printed.read()


def check(library: str, label: str, module: str, nm: str) -> Loaded:
    """Loads a library.

    Args:
        library: the library's path.
        label: the library's label.
        module: the name of the Python module that loads the library.
        nm: the path of nm.
    Raises:
        InputError: the library cannot be loaded, or has a mistake that PyTorch does not report.
    """
    modules = python_modules.initialized_by(symbols.exported_names((library,), nm))
    extension = module if module in modules else None
    with tempfile.NamedTemporaryFile("r", encoding="utf-8", errors="replace") as notes:
        loaded, status, printed = _in_child(library, extension, notes.name)
        registered = _registered(notes.read())
    own = os.path.realpath(library)
    manifest = TorchLibrary(label, tuple(registered.pop(own, ())))
    if loaded is None:
        others = [TorchLibrary(Path(path).name, tuple(found)) for path, found in registered.items()]
        findings = torch_namespaces.mistakes(label, [manifest, *others])
        raise InputError(findings or load_message.aborted(label, how_it_ended(status), printed))
    if "error" in loaded:
        raise InputError(load_message.refused(label, loaded["error"], symbols.undefined_names(library, nm)))
    findings = _undeclared(label, loaded["dangling"])
    if findings:
        raise InputError(findings)
    operators = tuple(TorchOperator(**(o | {"kernels": tuple(o["kernels"])})) for o in loaded["operators"])
    return Loaded(manifest, operators)


def _registered(notes: str) -> dict[str, list[TorchRegistration]]:
    """Parses the recorded registrations. Returns them by the real path of the registering library."""
    registered: dict[str, list[TorchRegistration]] = {}
    for line in notes.splitlines():
        library, kind, namespace, key, file, number = line.split("\t")
        registration = TorchRegistration(kind, namespace, key, Location(file, int(number), 1))
        registered.setdefault(os.path.realpath(library), []).append(registration)
    return registered


def _undeclared(label: str, dangling: Sequence[str]) -> list[Finding]:
    """Returns findings for kernels of undefined operators, which PyTorch stores and never calls."""
    if not dangling:
        return []
    names = [_dangling_name(text) for text in dangling]
    places = [match[1] if (match := _PLACE.search(text)) else "" for text in dangling]
    return [
        Finding(
            id="undeclared-operator",
            where=label,
            found=f"the library has kernels for {', '.join(names)}, which no library that is loaded defines; PyTorch "
            "would keep them and never call them",
            cause="a typo in m.impl, a forgotten m.def, or another library defines the operator and is not in deps",
            fix="define the operator, correct its name, or add the torch_op_library that defines it to deps",
            details=tuple(f"{name}: {place}" for name, place in zip(names, places, strict=True)),
        )
    ]
