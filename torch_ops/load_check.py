"""Loads an operator library into PyTorch once; what would abort or fail a process becomes one error.

A library of ours (registrations.cpp) notes on the way what the operator library registers.
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

# PyTorch's description of an operator has the dispatch key of each kernel, and where the kernel is registered.
_KERNEL = re.compile(r"^(?!debug:)(\w+)(?:\[alias\])?: registered at", re.MULTILINE)
_PLACE = re.compile(r"registered at (\S+)")


# Stands before PyTorch, and notes what is registered.
_NOTER = Path(__file__).with_name("registrations.so")


@dataclass(frozen=True, slots=True)
class Loaded:
    """What an operator library is, to a process that has loaded it.

    Attributes:
        manifest: what it registers.
        operators: the operators that it defines, with those of the libraries that it needs.
    """

    manifest: TorchLibrary
    operators: tuple[TorchOperator, ...]


def _load(library: str, module: str | None, notes: str) -> dict[str, Any]:
    """What loading the library adds to PyTorch's dispatcher.

    Args:
        library: path of the library.
        module: the name of the Python extension module that the library is; None if it is none.
        notes: path of the file to note registrations in.
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
    """The operator of which PyTorch's text says that it has kernels and no schema."""
    return text.removeprefix("name: ").partition("\n")[0]


def _in_child(library: str, module: str | None, notes: str) -> tuple[dict[str, Any] | None, int, str]:
    """Runs _load in a process of its own; returns the result or None, the exit status, and what was printed."""
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as printed,
        tempfile.TemporaryFile("w+") as result,
    ):
        child = os.fork()
        if not child:
            for descriptor in (1, 2):
                os.dup2(printed.fileno(), descriptor)
            status = 1
            faulthandler.disable()  # The C++ exception alone tells what is wrong.
            try:
                json.dump(_load(library, module, notes), result)
                result.flush()
                status = 0
            except Exception:
                traceback.print_exc()
            finally:
                # No exit handler of the parent, or of a library that may be broken, should run at the end.
                os._exit(status)
        _, wait_status = os.waitpid(child, 0)
        status = os.waitstatus_to_exitcode(wait_status)
        result.seek(0)
        printed.seek(0)
        # A library may end the process with any status.
        loaded = result.read()
        return (json.loads(loaded) if loaded else None), status, printed.read()


def check(library: str, label: str, module: str, nm: str) -> Loaded:
    """Loads a library.

    Args:
        library: its path.
        label: its label.
        module: the name of the Python module that loads it.
        nm: the program that lists symbols.
    Raises:
        InputError: it cannot be loaded, or does something that PyTorch would keep quiet about.
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
    """What was noted: registrations by the real path of the library that made them."""
    registered: dict[str, list[TorchRegistration]] = {}
    for line in notes.splitlines():
        library, kind, namespace, key, file, number = line.split("\t")
        registration = TorchRegistration(kind, namespace, key, Location(file, int(number), 1))
        registered.setdefault(os.path.realpath(library), []).append(registration)
    return registered


def _undeclared(label: str, dangling: Sequence[str]) -> list[Finding]:
    """Kernels of operators that are not defined, which PyTorch keeps for later and never calls."""
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
