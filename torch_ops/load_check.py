"""Loads an operator library into PyTorch once; what would abort or fail a process becomes one error."""

from __future__ import annotations

import faulthandler
import json
import os
import re
import tempfile
import traceback
from collections.abc import Sequence
from typing import Any

from codegen.artifacts.torch_operators import TorchOperator
from codegen.binaries import symbols
from codegen.model.torch_library import TorchLibrary
from diagnostics.errors import Finding, InputError
from torch_ops import load_message
from torch_ops.process_end import how_it_ended

# PyTorch's description of an operator has the dispatch key of each kernel, and where the kernel is registered.
_KERNEL = re.compile(r"^(?!debug:)(\w+)(?:\[alias\])?: registered at", re.MULTILINE)
_PLACE = re.compile(r"registered at (\S+)")


def _load(library: str) -> dict[str, Any]:
    """What loading the library adds to PyTorch's dispatcher."""
    import torch  # Only the child process needs PyTorch.

    dispatcher: Any = torch._C
    before = set(dispatcher._dispatch_get_all_op_names())
    dangling = dispatcher._dispatch_find_dangling_impls()
    try:
        torch.ops.load_library(os.path.abspath(library))
    except OSError as error:
        return {"error": str(error.__cause__ or error)}
    dangling = [text for text in dispatcher._dispatch_find_dangling_impls() if text not in dangling]
    undeclared = {_dangling_name(text) for text in dangling}
    operators = []
    for name in sorted(set(dispatcher._dispatch_get_all_op_names()) - before - undeclared):
        base, _, overload = name.partition(".")
        keys = _KERNEL.findall(dispatcher._dispatch_dump(name))
        operators.append({"name": name, "schema": str(dispatcher._get_schema(base, overload)), "kernels": keys})
    return {"operators": operators, "dangling": dangling}


def _dangling_name(text: str) -> str:
    """The operator of which PyTorch's text says that it has kernels and no schema."""
    return text.removeprefix("name: ").partition("\n")[0]


def _in_child(library: str) -> tuple[dict[str, Any] | None, int, str]:
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
                json.dump(_load(library), result)
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


def check(library: str, manifest: TorchLibrary, nm: str) -> list[TorchOperator]:
    """Loads a library.

    Args:
        library: its path.
        manifest: what its symbols say.
        nm: the program that lists symbols.
    Returns:
        The operators that the library defines.
    Raises:
        InputError: it cannot be loaded, or does something else than its symbols say.
    """
    loaded, status, printed = _in_child(library)
    if loaded is None:
        raise InputError(load_message.aborted(manifest, how_it_ended(status), printed))
    if "error" in loaded:
        raise InputError(load_message.refused(manifest, loaded["error"], symbols.undefined_names(library, nm)))
    operators = [TorchOperator(o["name"], o["schema"], tuple(o["kernels"])) for o in loaded["operators"]]
    findings = _undeclared(manifest, loaded["dangling"]) + _unknown_namespaces(manifest, operators)
    if findings:
        raise InputError(findings)
    return operators


def _undeclared(manifest: TorchLibrary, dangling: Sequence[str]) -> list[Finding]:
    """Kernels of operators that are not defined, which PyTorch keeps for later and never calls."""
    if not dangling:
        return []
    names = [_dangling_name(text) for text in dangling]
    places = [match[1] if (match := _PLACE.search(text)) else "" for text in dangling]
    return [
        Finding(
            id="undeclared-operator",
            where=manifest.label,
            found=f"the library has kernels for {', '.join(names)}, which no library that is loaded defines; PyTorch "
            "would keep them and never call them",
            cause="a typo in m.impl, a forgotten m.def, or another library defines the operator and is not in deps",
            fix="define the operator, correct its name, or add the torch_op_library that defines it to deps",
            details=tuple(f"{name}: {place}" for name, place in zip(names, places, strict=True)),
        )
    ]


def _unknown_namespaces(manifest: TorchLibrary, operators: Sequence[TorchOperator]) -> list[Finding]:
    """Operators in namespaces that the symbols do not show."""
    shown = {registration.namespace for registration in manifest.registrations}
    hidden = sorted({operator.name.partition("::")[0] for operator in operators} - shown)
    if not hidden:
        return []
    return [
        Finding(
            id="namespace-from-macro",
            where=manifest.label,
            found=f"the library defines operators in {', '.join(hidden)}, but its symbols say "
            f"{', '.join(sorted(shown))}",
            cause="the first argument of TORCH_LIBRARY is a macro; its symbol has the macro's name, by which two "
            "libraries would never be found to define the same namespace",
            fix="write the namespace itself, or expand it first: #define MY_LIBRARY(ns, m) TORCH_LIBRARY(ns, m), and "
            "then MY_LIBRARY(THE_MACRO, m)",
            details=tuple(manifest.place(r) for r in manifest.registrations),
        )
    ]
