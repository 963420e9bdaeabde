"""Checks that all operators of op packages were delegated. ExecuTorch's backend only logs those that were not."""

from __future__ import annotations

import contextlib
import logging
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import torch
from executorch.backends.qualcomm.serialization.qc_schema_serialize import flatbuffer_to_option

from diagnostics.errors import Finding, InputError, Location

# The name of ExecuTorch's backend, and the key of the compile spec with the backend's options.
BACKEND = "QnnBackend"
_OPTIONS = "qnn_compile_spec"
_LOGGER = "executorch.backends.qualcomm"


def operators(compile_specs: Sequence[Any]) -> dict[str, str]:
    """Returns the operators that op packages in compile specs compute, each with its package."""
    found: dict[str, str] = {}
    for spec in compile_specs:
        if spec.key == _OPTIONS:
            for info in flatbuffer_to_option(spec.value).op_package_options.op_package_infos:
                found.setdefault(info.custom_op_name, info.op_package_name)
    return found


class _Collector(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


@contextlib.contextmanager
def listening() -> Iterator[list[str]]:
    """Collects the backend's logs and warnings, which have the reasons why an operator is not delegated."""
    collector = _Collector()
    logger = logging.getLogger(_LOGGER)
    level = logger.level
    logger.addHandler(collector)
    logger.setLevel(logging.INFO)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            show = warnings.showwarning

            def showwarning(message: Warning | str, *others: Any, **named: Any) -> None:
                collector.messages.append(str(message))
                show(message, *others, **named)

            warnings.showwarning = showwarning
            yield collector.messages
    finally:
        logger.removeHandler(collector)
        logger.setLevel(level)


def check(
    programs: Mapping[str, torch.export.ExportedProgram],
    packages: Mapping[str, str],
    messages: Sequence[str],
    where: Location | str,
) -> None:
    """Checks lowered programs.

    Args:
        programs: the lowered programs of a model, by method.
        packages: the operators of op packages, each with its package.
        messages: the backend's messages during the lowering.
        where: the model, for error messages.

    Raises:
        InputError: an operator was not delegated, or the model has no operator of a package.
    """
    findings = []
    seen: set[str] = set()
    for method, program in programs.items():
        outside = set(_calls(program.graph_module))
        seen |= outside | {call for delegate in _delegates(program.graph_module) for call in _calls(delegate)}
        findings += [_left_out(name, method, packages[name], messages, where) for name in packages if name in outside]
    if not findings and packages:
        findings = [
            _never_called(package, [name for name in packages if packages[name] == package], where)
            for package in dict.fromkeys(packages.values())
            if not any(packages[name] == package for name in seen & packages.keys())
        ]
    if findings:
        raise InputError(findings)


def _left_out(name: str, method: str, package: str, messages: Sequence[str], where: Location | str) -> Finding:
    said = [message for message in dict.fromkeys(messages) if name in message]
    arity = any("mismatch the number of args" in message for message in said)
    return Finding(
        where,
        f"{method}() calls {name} outside of the delegate, though the op package {package} computes it",
        "a call passes the default of an argument, and torch.export drops such arguments"
        if arity
        else "the library of the package was not found or not registered, or its validation refused the node",
        "pass every argument, and give the schema no defaults"
        if arity
        else "read the messages of the backend above; name the package's library for x86 in qnn_op_packages of the "
        "executorch_program, or in LD_LIBRARY_PATH; and build the library with the SDK of this export",
        tuple(f"the backend said: {message}" for message in said),
        id="not-delegated",
    )


def _never_called(package: str, names: Collection[str], where: Location | str) -> Finding:
    return Finding(
        where,
        f"the model calls no operator of the op package {package}: {', '.join(names)}",
        "the operator was decomposed or folded away before the backend saw the graph, or another model was given",
        "call the operator in forward(), with a tensor that depends on an input",
        id="not-delegated",
    )


def _calls(graph_module: torch.fx.GraphModule) -> Iterator[str]:
    """Yields the names of the operators that a graph calls."""
    for node in graph_module.graph.nodes:
        if node.op == "call_function":
            yield getattr(node.target, "__name__", str(node.target))


def _delegates(graph_module: torch.fx.GraphModule) -> Iterator[torch.fx.GraphModule]:
    """Yields the graphs that were delegated to the backend."""
    for node in graph_module.graph.nodes:
        if node.op == "get_attr":
            module: Any = getattr(graph_module, node.target, None)
            if getattr(module, "backend_id", None) == BACKEND:
                yield module.original_module.graph_module
